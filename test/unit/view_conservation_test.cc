// SPDX-License-Identifier: MIT
// D-45: the rows of every view add up to the kernel's CPU time, to the nanosecond, whatever the filter and
// the limits. Read back from CSV, so that the renderer is under test too. Context: tests.
#include <criterion/criterion.h>
#include <fmt/format.h>

#include <map>
#include <numeric>
#include <random>

#include "test/unit/random_profile.h"
#include "test/unit/view_rows.h"
#include "viewer/analyze/concurrency.h"
#include "viewer/render/render.h"
#include "viewer/view/metrics.h"
#include "viewer/view/request.h"

using namespace varve;
using namespace varve::test::rows;
using varve::test::RandomProfile;

namespace {

view::Request random_request(std::mt19937_64& random) {
  view::Request request;
  const auto maybe = [&](analyze::Pattern& target, std::initializer_list<const char*> expressions) {
    if (random() % 3 != 0) return;
    target = *analyze::Pattern::parse(expressions.begin()[random() % expressions.size()]);
  };
  maybe(request.filter.thread, {"main", "work", "1000", "none"});
  maybe(request.filter.process, {"prog0", "101"});
  maybe(request.filter.module, {"lib[0-3]", "so"});
  maybe(request.filter.function, {"plain", "method|hi", "größe", "no such function"});
  if (random() % 3 == 0) request.filter.from = {random() % 900'000'000};
  if (random() % 3 == 0) request.filter.to = {request.filter.from.count + random() % 900'000'000};
  if (random() % 2 == 0) request.limit = 1 + random() % 20;
  if (random() % 2 == 0) request.min_share = double(random() % 50) / 1000;
  request.inlines = random() % 2 == 0;
  request.errors = random() % 2 == 0;
  request.fold_recursion = random() % 2 == 0;
  return request;
}

template <typename Check>
void hundred_filters(const Check& check) {
  std::mt19937_64 random(42);
  for (int i = 0; i < 100; ++i) {
    const RandomProfile made = test::random_profile(uint64_t(i) % 10);
    check(made, random_request(random));
  }
}

/// What the samples have in each band, and in none: from the samples themselves.
struct BandSums {
  uint64_t by_band[4] = {};
  uint64_t none = 0;
};
BandSums band_sums(const RandomProfile& made, const view::Request& request) {
  BandSums sums;
  const auto concurrency = analyze::concurrency(made.profile, request.filter, request.bands);
  for (size_t i = 0; i < made.profile.samples.size(); ++i) {
    const auto band = concurrency.banded ? concurrency.of_sample[i] : analyze::Band::kUnknown;
    const bool banded = band != analyze::Band::kUnknown;
    (banded ? sums.by_band[size_t(band) - 1] : sums.none) += made.profile.samples.weight_ns[i];
  }
  return sums;
}

/// No row has more in its bands than it has; all rows together have what the samples have, in every view the
/// same.
void check_bands(const Rows& rows, const char* kind, const char* time, const RandomProfile& made,
                 const view::Request& request) {
  const BandSums wanted = band_sums(made, request);
  uint64_t banded = 0;
  for (size_t band = 0; band < 4; ++band) {
    const uint64_t got = sum(rows, kBandColumns[band]);
    cr_expect_eq(got, wanted.by_band[band], "%s of %s", kBandColumns[band], kind);
    banded += got;
  }
  cr_expect_eq(banded + wanted.none, made.profile.kernel_cpu.count);
  const size_t self = column(rows, time), first = column(rows, "poor_ns");
  for (size_t i = 1; i < rows.size(); ++i) {
    uint64_t in_bands = 0;
    for (size_t j = first; j < first + 4; ++j) in_bands += rows[i][j].empty() ? 0 : std::stoull(rows[i][j]);
    if (rows[i][self].empty()) continue;
    cr_expect_leq(in_bands, std::stoull(rows[i][self]), "row %zu of %s", i, kind);
    if (wanted.none == 0) cr_expect_eq(in_bands, std::stoull(rows[i][self]), "row %zu of %s", i, kind);
  }
}

/// The unfiltered sums: whatever the filter, no time loses its band or gets one. With --process other levels
/// count, so time may be in another band.
void check_bands_of_run(const Rows& rows, const char* kind, const RandomProfile& made,
                        const view::Request& request) {
  view::Request plain;
  plain.bands = request.bands;
  const BandSums whole = band_sums(made, plain);
  uint64_t all = 0, of_run = 0;
  for (size_t band = 0; band < 4; ++band) {
    const uint64_t got = sum(rows, kBandColumns[band]);
    all += got;
    of_run += whole.by_band[band];
    if (!request.filter.process.given())
      cr_expect_eq(got, whole.by_band[band], "%s of %s, of the run", kBandColumns[band], kind);
  }
  cr_expect_eq(all, of_run, "time in bands of %s, of the run", kind);
}

void check_sums(const char* kind, const char* time) {
  hundred_filters([&](const RandomProfile& made, const view::Request& request) {
    const Rows rows = csv_of(kind, made, request);
    cr_expect_eq(sum(rows, time), made.profile.kernel_cpu.count, "%s", kind);
    cr_expect_eq(sum(rows, "samples"), made.profile.sample_count, "%s", kind);
    check_bands(rows, kind, time, made, request);
    check_bands_of_run(rows, kind, made, request);
  });
}

/// Time of a thread and none that was paused, all of it in a band: what each row has is in its bands.
RandomProfile all_banded(uint64_t seed) {
  RandomProfile made = test::random_profile(seed);
  for (ThreadId& thread : made.profile.samples.thread)
    if (!thread.valid()) thread = {0};
  for (PathId& path : made.profile.samples.path)
    if (analyze::has_no_moment(made.profile, path)) path = {0};
  return made;
}

}  // namespace

Test(view_conservation, hotspots) { check_sums("hotspots", "self_ns"); }
Test(view_conservation, top_down) { check_sums("top-down", "self_ns"); }
Test(view_conservation, bottom_up) { check_sums("bottom-up", "self_ns"); }
Test(view_conservation, threads) { check_sums("threads", "cpu_ns"); }
Test(view_conservation, processes) { check_sums("processes", "cpu_ns"); }
Test(view_conservation, programs) { check_sums("programs", "cpu_ns"); }
Test(view_conservation, modules) { check_sums("modules", "self_ns"); }
Test(view_conservation, lines) { check_sums("lines", "self_ns"); }

Test(view_conservation, rows_are_their_bands_where_all_is_known) {
  for (const uint64_t seed : {1, 3, 5, 7}) {
    const RandomProfile made = all_banded(seed);
    cr_expect_eq(band_sums(made, {}).none, 0);
    const std::pair<const char*, const char*> views[] = {
        {"hotspots", "self_ns"}, {"threads", "cpu_ns"}, {"processes", "cpu_ns"},
        {"modules", "self_ns"},  {"lines", "self_ns"},  {"programs", "cpu_ns"},
    };
    for (const auto& [kind, time] : views) check_bands(csv_of(kind, made, {}), kind, time, made, {});
  }
}

/// Sorting is by the time in the band, the largest first; the rows are the same.
Test(view_conservation, sorted_by_a_band) {
  for (const auto& [sort, name] :
       {std::pair(view::Sort::kPoor, "poor_ns"), std::pair(view::Sort::kOk, "ok_ns"),
        std::pair(view::Sort::kIdeal, "ideal_ns"), std::pair(view::Sort::kOver, "over_ns")}) {
    const RandomProfile made = test::random_profile(5);
    view::Request request;
    request.bands.target = 2;
    request.sort = sort;
    const Rows rows = csv_of("hotspots", made, request);
    const size_t j = column(rows, name);
    for (size_t i = 2; i < rows.size(); ++i)
      if (rows[i][0].front() != '[' && rows[i - 1][0].front() != '[')
        cr_expect_geq(std::stoull(rows[i - 1][j]), std::stoull(rows[i][j]), "%s, row %zu", name, i);
  }
}

/// In trees that is so of the rows below one, and the rows are the same.
Test(view_conservation, trees_are_sorted_below_each_row) {
  const RandomProfile made = test::random_profile(5);
  view::Request request;
  request.bands.target = 2;
  const std::pair<const char*, double> views[] = {
      {"top-down", 0}, {"top-down", 0.02}, {"top-down", 0.1}, {"bottom-up", 0}, {"bottom-up", 0.02}};
  for (const auto& [kind, least] : views) {
    request.min_share = least;
    request.fold_recursion = least != 0;
    request.sort = view::Sort::kUsual;
    const Rows usual = csv_of(kind, made, request);
    const size_t all = usual.size();
    const uint64_t whole_ns = sum(usual, "self_ns");
    for (const auto& [sort, name] :
         {std::pair(view::Sort::kUsual, "total_ns"), std::pair(view::Sort::kSelf, "self_ns"),
          std::pair(view::Sort::kPoor, "total_poor_ns"), std::pair(view::Sort::kOver, "total_over_ns")}) {
      request.sort = sort;
      const Rows rows = csv_of(kind, made, request);
      cr_expect_eq(rows.size(), all);
      cr_expect_eq(sum(rows, "self_ns"), whole_ns);
      if (request.fold_recursion && sort == view::Sort::kSelf) continue;  // a folded row has more of its own
      const size_t j = column(rows, name), depth = column(rows, "depth");
      std::map<uint64_t, uint64_t> last;  // by depth: what the row before it below the same one has
      for (size_t i = 1; i < rows.size() && rows[i][j] != ""; ++i) {
        const uint64_t here = std::stoull(rows[i][depth]), ns = std::stoull(rows[i][j]);
        last.erase(last.upper_bound(here), last.end());
        const auto before = last.find(here);
        cr_expect(before == last.end() || before->second >= ns, "%s by %s, row %zu", kind, name, i);
        last[here] = ns;
      }
    }
  }
}

/// By function: the time in a column.
std::map<std::string, uint64_t> by_function(const Rows& rows, const char* name) {
  std::map<std::string, uint64_t> times;
  const size_t function = column(rows, "function"), module = column(rows, "module"), j = column(rows, name);
  for (size_t i = 1; i < rows.size(); ++i)
    if (const uint64_t ns = std::stoull(rows[i][j]); ns != 0 && rows[i][function] != "[filtered out]")
      times[rows[i][function] + " " + rows[i][module]] += ns;
  return times;
}

const std::span<const view::MetricKind> kBandMetrics = view::metric_kinds().subspan(1, 4);

/// Each metric shows what is in the column of its band, and all of them what has a band.
Test(view_conservation, metrics_are_the_bands) {
  for (const uint64_t seed : {1, 3, 5, 7}) {
    const RandomProfile made = test::random_profile(seed);
    view::Request request;
    request.bands.target = 2;
    const BandSums wanted = band_sums(made, request);
    const Rows plain = csv_of("hotspots", made, request);
    for (const view::MetricKind& kind : kBandMetrics) {
      request.metric = kind.metric;
      const size_t band = size_t(kind.metric) - size_t(analyze::kPoor);
      for (const view::Kind& view_kind : view::kinds()) {
        request.function = "plain_5";
        const auto view = view::make(view_kind, {made.profile, made.symbols}, request);
        if (!view) continue;                                // it has no time in the band
        if (view_kind.name == std::string_view("waits")) {  // none of CPU time
          cr_expect_eq(view->ledger.filtered_out.count, 0u);
          cr_expect(view->filter.empty());
          continue;
        }
        cr_expect_eq(view->ledger.shown.count, wanted.by_band[band], "%s of %s", kind.name, view_kind.name);
        cr_expect_eq(view->ledger.filtered_out.count, made.profile.kernel_cpu.count - wanted.by_band[band]);
        cr_expect(view->filter == std::string("--metric ") + kind.name);
      }
      const auto got = by_function(csv_of("hotspots", made, request), "self_ns");
      cr_expect(got == by_function(plain, kBandColumns[band]), "%s by function", kind.name);
    }
    cr_expect_eq(std::accumulate(wanted.by_band, wanted.by_band + 4, wanted.none),
                 made.profile.kernel_cpu.count);
  }
}

Test(view_conservation, metrics_and_filters_add_up) {
  hundred_filters([&](const RandomProfile& made, view::Request request) {
    uint64_t sum = 0;
    const auto shown = [&](analyze::Metric metric) {
      request.metric = metric;
      const auto view = view::make(*view::find_kind("threads"), {made.profile, made.symbols}, request);
      return view ? view->ledger.shown.count : 0;
    };
    const uint64_t all = shown(analyze::kCpu);
    for (const view::MetricKind& kind : kBandMetrics) sum += shown(kind.metric);
    cr_expect_leq(sum, all);
    cr_expect_leq(all - sum, band_sums(made, request).none);
  });
}

Test(view_conservation, no_metric_of_bands_without_run_states) {
  RandomProfile made = test::random_profile(1);
  made.profile.run_states = {};
  view::Request request;
  request.metric = analyze::kPoor;
  const auto view = view::make(*view::find_kind("hotspots"), {made.profile, made.symbols}, request);
  cr_assert(!view.has_value());
  cr_expect(view.error() == "No metric poor: run states were not recorded; record with --run-states auto.",
            "%s", view.error().c_str());
}

Test(view_conservation, callers) {
  size_t found = 0;
  hundred_filters([&](const RandomProfile& made, view::Request request) {
    request.function = "plain_5";
    const auto view = view::make(*view::find_kind("callers"), {made.profile, made.symbols}, request);
    if (!view) return;  // filtered away
    ++found;
    const Rows rows = test::read_csv(render::csv(*view));
    const uint64_t all = made.profile.kernel_cpu.count;
    cr_expect_eq(sum_where(rows, "total_ns", {"caller", "outside"}), all);
    cr_expect_eq(sum_where(rows, "total_ns", {"function", "outside"}), all);
    cr_expect_eq(sum_where(rows, "total_ns", {"self", "callee", "outside"}), all);
    cr_expect_eq(sum_where(rows, "samples", {"self", "callee", "outside"}), made.profile.sample_count);
  });
  cr_expect_gt(found, 30);
}

/// Bands of a total are those of all self times in it: in top-down of the row and all below.
Test(view_conservation, bands_of_tree_totals) {
  const RandomProfile made = test::random_profile(5);
  const Rows rows = csv_of("top-down", made, {});
  const size_t depth = column(rows, "depth");
  for (const char* band : kBandColumns) {
    const size_t self = column(rows, band), total = column(rows, std::string("total_") + band);
    for (size_t i = 1; i < rows.size(); ++i) {
      uint64_t below = std::stoull(rows[i][self]);
      for (size_t j = i + 1; j < rows.size() && std::stoull(rows[j][depth]) > std::stoull(rows[i][depth]);
           ++j)
        below += std::stoull(rows[j][self]);
      cr_expect_eq(std::stoull(rows[i][total]), below, "%s of row %zu", band, i);
    }
  }
}

/// Without a cut every total in a tree is its self and its children's totals, and the first level is
/// everything.
Test(view_conservation, tree_totals) {
  for (const char* kind : {"top-down", "bottom-up"}) {
    const RandomProfile made = test::random_profile(4);
    const Rows rows = csv_of(kind, made, {});
    const size_t depth = column(rows, "depth"), total = column(rows, "total_ns"),
                 self = column(rows, "self_ns");
    uint64_t roots = 0;
    for (size_t i = 1; i < rows.size(); ++i) {
      const uint64_t level = std::stoull(rows[i][depth]);
      uint64_t children = 0;
      for (size_t j = i + 1; j < rows.size() && std::stoull(rows[j][depth]) > level; ++j) {
        if (std::stoull(rows[j][depth]) == level + 1) children += std::stoull(rows[j][total]);
      }
      if (level == 0) roots += std::stoull(rows[i][total]);
      if (std::string(kind) == "top-down") {
        cr_expect_eq(std::stoull(rows[i][total]), std::stoull(rows[i][self]) + children);
      } else {
        cr_expect_geq(std::stoull(rows[i][total]), children);
      }
    }
    cr_expect_eq(roots, made.profile.kernel_cpu.count);
  }
}

/// Of a part of the run a timeline has the threads that lived then.
Test(view_conservation, timelines_have_no_empty_rows) {
  size_t left_out = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const RandomProfile made = test::random_profile(seed);
    const Rows whole = csv_of("timeline", made, {});
    view::Request request;
    request.filter.to = {50'000'000};  // threads begin within 250 ms
    const auto view = view::make(*view::find_kind("timeline"), {made.profile, made.symbols}, request);
    if (view->csv_is_facts) continue;  // nothing was observed then
    const Rows rows = test::read_csv(render::csv(*view));
    const size_t states = column(rows, "states"), tid = column(rows, "tid");
    for (size_t i = 1; i < rows.size(); ++i)
      if (!rows[i][tid].empty())
        cr_expect(rows[i][states].find_first_not_of(' ') != std::string::npos, "row %zu, seed %zu", i, seed);
    left_out += whole.size() - rows.size();
  }
  cr_expect_gt(left_out, 0);
}

/// The printed parts of the ledger add up to the printed sum.
Test(view_conservation, ledger_line_adds_up_as_printed) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 1000; ++i) {
    analyze::Ledger ledger;
    const uint64_t scale = uint64_t(1) << (10 + random() % 40);
    ledger.sampled = {random() % scale};
    ledger.residual = {random() % (scale / 8)};
    ledger.not_sampled = {random() % (scale / 16)};
    ledger.cpu = ledger.sampled + ledger.residual + ledger.not_sampled;
    double cpu = 0, sampled = 0, residual = 0, rest = 0;
    char unit[4][4];
    const std::string line = render::ledger_line(ledger);
    const int read = std::sscanf(
        line.c_str(), "CPU time %lf %3s = %lf %3s sampled + %lf %3s residual + %lf %3s not sampled", &cpu,
        unit[0], &sampled, unit[1], &residual, unit[2], &rest, unit[3]);
    cr_assert_eq(read, 8, "%s", line.c_str());
    cr_expect_float_eq(cpu, sampled + residual + rest, 1e-6, "%s", line.c_str());
  }
}
