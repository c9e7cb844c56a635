// SPDX-License-Identifier: MIT
// Why processors idled: what threads did in the moments of some bands adds up to the time that they were
// there then, whatever the filter, and waits add up to the same by whatever they are listed. Context: tests.
#include <criterion/criterion.h>

#include <map>
#include <numeric>

#include "test/unit/random_profile.h"
#include "viewer/analyze/band_moments.h"
#include "viewer/analyze/fitted_waits.h"
#include "viewer/analyze/thread_states.h"
#include "viewer/render/render.h"
#include "viewer/view/path_list.h"
#include "viewer/view/request.h"

namespace varve {
namespace {

using analyze::BandMoments;
using analyze::BandSet;
using analyze::kAllBands;
using test::RandomProfile;

constexpr uint64_t kIdleSeeds[] = {1, 3, 5, 7, 11, 13};

BandMoments moments_of(const RandomProfile& made, const BandSet& bands, const analyze::Filter& filter = {}) {
  const auto concurrency = analyze::concurrency(made.profile, filter, {});
  return analyze::band_moments(made.profile, made.symbols, filter, concurrency, bands);
}

uint64_t waited_for_objects(const BandMoments& moments) {
  uint64_t sum = 0;
  for (const analyze::WaitObject& object : moments.objects) sum += object.wait_ns;
  return sum;
}

/// Of the filters that views have, some; in turn.
analyze::Filter filter_of(size_t number) {
  analyze::Filter filter;
  if (number % 4 == 1) filter.thread = *analyze::Pattern::parse("work");
  if (number % 4 == 2) filter.function = *analyze::Pattern::parse("plain");
  if (number % 4 == 3) filter.process = *analyze::Pattern::parse("prog0");
  if (number % 3 == 1) filter.from = {200'000'000}, filter.to = {700'000'000};
  return filter;
}

uint64_t number_in(const view::Table& table, size_t row, std::string_view id) {
  const auto column = std::ranges::find(table.columns, id, &view::Column::id);
  cr_assert(column != table.columns.end());
  const auto* number = std::get_if<uint64_t>(&table.row(row)[size_t(column - table.columns.begin())]);
  return number ? *number : 0;
}

uint64_t sum_in(const view::Table& table, std::string_view id) {
  uint64_t sum = 0;
  for (size_t row = 0; row < table.rows.size(); ++row) sum += number_in(table, row, id);
  return sum;
}

view::View view_of_made(const RandomProfile& made, const char* kind, const view::Request& request) {
  auto view = view::make(*view::find_kind(kind), {made.profile, made.symbols}, request);
  cr_assert(view.has_value());
  return std::move(*view);
}

Test(idle, bands_of_stretches_are_those_of_the_run) {
  for (const uint64_t seed : kIdleSeeds) {
    const RandomProfile made = test::random_profile(seed);
    const auto concurrency = analyze::concurrency(made.profile, {}, {});
    const analyze::BandTimes times(concurrency.levels, concurrency.rule);
    cr_expect(times.of(concurrency.levels.range()) ==
              analyze::time_by_band(concurrency.levels, concurrency.rule));
  }
}

Test(idle, all_bands_are_all_that_was_observed) {
  for (const uint64_t seed : kIdleSeeds) {
    const RandomProfile made = test::random_profile(seed);
    const BandMoments moments = moments_of(made, kAllBands);
    cr_expect_eq(moments.chosen_ns(), moments.elapsed_ns);
    const auto range = analyze::concurrency(made.profile, {}, {}).levels.range();
    uint64_t observed = 0, parts = 0;
    for (const auto& each : analyze::thread_states(made.profile, range))
      observed += each.running_ns + each.ready_ns + each.waiting_ns(), ++parts;
    // Each stretch may lose less than a nanosecond for each band.
    cr_expect_leq(moments.thread_ns(), observed);
    cr_expect_geq(moments.thread_ns() + 5 * (parts + made.profile.run_states.events.size()), observed);
    cr_expect_eq(moments.filtered_ns, 0u);
  }
}

/// Of each band alone, to what all of them have, but for the rounding of each wait and thread.
Test(idle, bands_add_up) {
  for (const uint64_t seed : kIdleSeeds) {
    const RandomProfile made = test::random_profile(seed);
    const BandMoments whole = moments_of(made, kAllBands);
    analyze::ThreadTime sum;
    uint64_t other_waits_ns = 0, chosen_ns = 0;
    std::map<uint32_t, uint64_t> by_object;
    std::map<std::tuple<uint32_t, ThreadId, PathId>, uint64_t> by_holder;
    for (size_t band = 0; band < analyze::kBands; ++band) {
      BandSet one{};
      one[band] = true;
      const BandMoments moments = moments_of(made, one);
      sum.add(moments.kept);
      other_waits_ns += moments.other_waits_ns;
      chosen_ns += moments.chosen_ns();
      for (const analyze::WaitObject& object : moments.objects) {
        by_object[object.number] += object.wait_ns;
        for (const analyze::Holder& holder : object.holders)
          by_holder[{object.number, holder.thread, holder.path}] += holder.caused_ns;
      }
    }
    cr_expect_eq(chosen_ns, whole.chosen_ns());
    cr_expect_eq(sum.running_ns, whole.kept.running_ns);
    cr_expect_eq(sum.ready_ns, whole.kept.ready_ns);
    cr_expect_eq(sum.waiting_ns, whole.kept.waiting_ns);
    cr_expect_eq(other_waits_ns, whole.other_waits_ns);
    for (const analyze::WaitObject& object : whole.objects) {
      cr_expect_eq(by_object[object.number], object.wait_ns, "seed %lu, object %u", seed, object.number);
      for (const analyze::Holder& holder : object.holders)
        cr_expect_eq(by_holder[std::tuple(object.number, holder.thread, holder.path)], holder.caused_ns);
    }
  }
}

/// An object has in `waits` the bands that it has in `idle`, and so have the waits that no hook saw.
Test(idle, bands_of_waits_are_those_of_the_list_of_waits) {
  for (const uint64_t seed : kIdleSeeds) {
    const RandomProfile made = test::random_profile(seed);
    const auto concurrency = analyze::concurrency(made.profile, {}, {});
    const analyze::TimeRange range = analyze::time_range(made.profile, {});
    const analyze::FittedWaits waits = analyze::fitted_waits(made.profile, range, concurrency);
    const auto objects = analyze::wait_objects(made.profile, range, concurrency, waits.counted);
    for (size_t band = 0; band < analyze::kBands; ++band) {
      BandSet one{};
      one[band] = true;
      const BandMoments moments = moments_of(made, one);
      std::map<uint32_t, uint64_t> in_idle;
      for (const analyze::WaitObject& object : moments.objects) in_idle[object.number] = object.wait_ns;
      for (const analyze::WaitObject& object : objects)
        cr_expect_eq(in_idle[object.number], object.bands[band], "seed %lu, band %zu", seed, band);
      uint64_t others_ns = 0;
      for (const analyze::OtherWaits& each : waits.others) others_ns += each.bands[band];
      cr_expect_eq(moments.other_waits_ns, others_ns, "seed %lu, band %zu", seed, band);
    }
  }
}

/// What a hook added up came before the moment that stands for it, so it may lack bands that its thread has.
Test(idle, waits_that_no_hook_saw_have_no_more_in_bands_than_they_lasted) {
  size_t threads = 0;
  for (const uint64_t seed : kIdleSeeds) {
    const RandomProfile made = test::random_profile(seed);
    const auto concurrency = analyze::concurrency(made.profile, {}, {});
    const analyze::TimeRange range = analyze::time_range(made.profile, {});
    const analyze::FittedWaits waits = analyze::fitted_waits(made.profile, range, concurrency);
    for (size_t i = 0; i < waits.others.size(); ++i) {
      const analyze::OtherWaits& others = waits.others[i];
      const uint64_t in_bands = std::accumulate(others.bands.begin(), others.bands.end(), uint64_t(0));
      cr_expect_leq(in_bands, others.time_ns, "seed %lu, thread %zu", seed, i);
      threads += in_bands > 0;
    }
  }
  cr_expect_gt(threads, 0u);
}

Test(idle, parts_add_up) {
  size_t number = 0, with_waits = 0;
  for (const uint64_t seed : kIdleSeeds) {
    const RandomProfile made = test::random_profile(seed);
    uint64_t whole = 0;
    for (size_t i = 0; i < 5; ++i, ++number) {
      const BandMoments moments = moments_of(made, analyze::kIdleAndPoor, filter_of(number));
      cr_expect_eq(waited_for_objects(moments) + moments.other_waits_ns, moments.kept.waiting_ns);
      with_waits += !moments.objects.empty();
      const analyze::Filter filter = filter_of(number);
      if (filter.timed() || filter.process.given()) continue;
      // What a filter of threads takes out is counted still.
      if (whole == 0) whole = moments.thread_ns();
      cr_expect_eq(moments.thread_ns(), whole, "seed %lu, filter %zu", seed, number);
    }
  }
  cr_expect_gt(with_waits, 0u);
}

Test(idle, rows_add_up_to_the_time_of_the_threads) {
  size_t number = 0;
  for (const uint64_t seed : kIdleSeeds)
    for (const uint64_t limit : {0, 2}) {
      const RandomProfile made = test::random_profile(seed);
      view::Request request;
      request.filter = filter_of(number);
      request.limit = limit;
      if (number++ % 2) request.explained = kAllBands;
      const BandMoments moments = moments_of(made, request.explained, request.filter);
      const view::View view = view_of_made(made, "idle", request);
      const view::Table& table = view.tables.front();
      cr_expect_eq(sum_in(table, "thread_ns"), moments.thread_ns(), "seed %lu", seed);
    }
}

/// So does each row of the report, whatever it is about.
Test(idle, rows_add_up_over_bands) {
  const auto add_rows = [](const RandomProfile& made, const BandSet& bands,
                           std::map<std::string, uint64_t>& rows) {
    view::Request request;
    request.explained = bands;
    const view::View view = view_of_made(made, "idle", request);
    const view::Table& table = view.tables.front();
    const auto text = [&](size_t row, std::string_view id) {
      const auto column = std::ranges::find(table.columns, id, &view::Column::id);
      return std::string(std::get<std::string_view>(table.row(row)[size_t(column - table.columns.begin())]));
    };
    for (size_t row = 0; row < table.rows.size(); ++row)
      rows[text(row, "part") + " " + text(row, "what")] += number_in(table, row, "thread_ns");
  };
  for (const uint64_t seed : kIdleSeeds) {
    const RandomProfile made = test::random_profile(seed);
    std::map<std::string, uint64_t> whole, sum;
    add_rows(made, kAllBands, whole);
    for (size_t band = 0; band < analyze::kBands; ++band) {
      BandSet one{};
      one[band] = true;
      add_rows(made, one, sum);
    }
    cr_expect_gt(whole.size(), 4u);
    cr_expect(sum == whole, "seed %lu", seed);
  }
}

/// A sweep's mean is partly in the band below it, where functions ran all the same: of them by all samples.
Test(idle, what_ran_has_functions_where_levels_are_means) {
  for (const uint64_t seed : kIdleSeeds) {
    RandomProfile made = test::random_profile(seed);
    made.profile.run_states.source = load::RunStates::Source::kSweeps;
    view::Request request;
    request.explained = {true};
    const view::View view = view_of_made(made, "idle", request);
    const view::Table& table = view.tables.front();
    const auto words = std::ranges::find(table.columns, "what", &view::Column::id) - table.columns.begin();
    for (size_t row = 0; row < table.rows.size(); ++row)
      cr_expect_neq(std::get<std::string_view>(table.row(row)[size_t(words)]), "[clock difference]");
  }
}

/// No function has the time in which threads were ready, or the waits that no hook saw, or what no sample
/// accounts for.
Test(idle, a_function_that_is_not_there_has_nothing) {
  for (const uint64_t seed : kIdleSeeds) {
    const RandomProfile made = test::random_profile(seed);
    view::Request request;
    request.filter.function = *analyze::Pattern::parse("nosuch");
    request.explained = kAllBands;
    const view::View view = view_of_made(made, "idle", request);
    const view::Table& table = view.tables.front();
    cr_assert_eq(table.rows.size(), 1u, "seed %lu", seed);
    cr_expect(table.rows[0].kind == view::RowKind::kFilteredOut);
    cr_expect_gt(number_in(table, 0, "thread_ns"), 0u);
  }
}

/// The same number on both screens, in nanoseconds.
Test(idle, the_summary_says_the_same) {
  const RandomProfile made = test::random_profile(5);
  const view::View idle = view_of_made(made, "idle", {}), summary = view_of_made(made, "summary", {});
  const auto fact = [](const view::View& view, std::string_view id) {
    return std::get<uint64_t>(std::ranges::find(view.facts, id, &view::Fact::id)->value);
  };
  cr_expect_eq(fact(idle, "band_elapsed_ns"), fact(summary, "idle_ns") + fact(summary, "poor_ns"));
}

Test(waits, lists_by_anything_have_the_same_sums) {
  size_t number = 0;
  for (const uint64_t seed : kIdleSeeds) {
    const RandomProfile made = test::random_profile(seed);
    view::Request request;
    request.filter = filter_of(number++);
    request.limit = number % 2 ? 0 : 2;
    const view::View usual = view_of_made(made, "waits", request);
    for (const view::By by :
         {view::By::kObject, view::By::kFunction, view::By::kThread, view::By::kCallPath}) {
      request.by = by;
      const view::View view = view_of_made(made, "waits", request);
      for (const char* id : {"wait_ns", "wait_count", "idle_ns", "poor_ns", "ok_ns", "ideal_ns", "over_ns"})
        cr_expect_eq(sum_in(view.tables.front(), id), sum_in(usual.tables.front(), id), "%s of %d", id,
                     int(by));
    }
    // And as in the list of functions that waited.
    request.by = view::By::kUsual;
    request.metric = analyze::kWait;
    const view::View functions = view_of_made(made, "hotspots", request);
    cr_expect_eq(sum_in(functions.tables.front(), "self_ns"), sum_in(usual.tables.front(), "wait_ns"));
  }
}

Test(waits, are_sorted_as_asked) {
  const RandomProfile made = test::random_profile(5);
  struct Case {
    view::Sort sort;
    std::vector<const char*> columns;
  };
  for (const auto& [sort, columns] :
       {Case{view::Sort::kUsual, {"idle_ns", "poor_ns"}}, Case{view::Sort::kSelf, {"wait_ns"}},
        Case{view::Sort::kSamples, {"wait_count"}}, Case{view::Sort::kIdeal, {"ideal_ns"}}}) {
    view::Request request;
    request.sort = sort;
    const view::View view = view_of_made(made, "waits", request);
    const view::Table& table = view.tables.front();
    uint64_t before = UINT64_MAX;
    size_t rows = 0;
    for (; rows < table.rows.size() && table.rows[rows].kind == view::RowKind::kOrdinary; ++rows) {
      uint64_t size = 0;
      for (const char* id : columns) size += number_in(table, rows, id);
      cr_expect_leq(size, before);
      before = size;
    }
    cr_expect_gt(rows, 2u);
  }
}

Test(critical_path_list, has_as_many_rows_as_asked_for) {
  std::vector<analyze::PathSegment> segments(1000);
  uint64_t at = 0;
  for (size_t i = 0; i < segments.size(); ++i) {
    const uint64_t length = i % 97 == 0 ? 50'000 : 1 + i * 37 % 900;
    segments[i].range = {at, at + length};
    at += length;
  }
  for (const size_t limit : {1, 2, 3, 10, 50, 333, 999, 1000, 5000}) {
    const auto runs = view::readable_runs(segments, limit, 0);
    cr_expect_eq(runs.size(), std::min<size_t>(limit, segments.size()));
    size_t next = 0;
    for (const view::SegmentRun run : runs) {
      cr_expect_eq(run.first, next);
      cr_expect_lt(run.first, run.end);
      next = run.end;
    }
    cr_expect_eq(next, segments.size());
  }
}

}  // namespace
}  // namespace varve
