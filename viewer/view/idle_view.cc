// SPDX-License-Identifier: MIT
// Why processors idled: of the moments in some bands what ran, what was ready, and for what the others
// waited, with who ended that; in one table whose rows add up to the time that threads were there in these
// moments. Context: viewer.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "viewer/analyze/attribute.h"
#include "viewer/analyze/band_moments.h"
#include "viewer/analyze/object_names.h"
#include "viewer/symbol/special_sites.h"
#include "viewer/view/band_words.h"
#include "viewer/view/concurrency_words.h"
#include "viewer/view/cut_kinds.h"
#include "viewer/view/holder_list.h"
#include "viewer/view/make.h"
#include "viewer/view/path_words.h"
#include "viewer/view/rows.h"
#include "viewer/view/summary_words.h"
#include "viewer/view/waits_words.h"

namespace varve::view {
namespace {

using analyze::Band;
using analyze::BandMoments;
using analyze::WaitObject;

/// Columns of CPU time that a set of bands is: what runs is never Idle.
std::vector<size_t> metrics_of(const analyze::BandSet& bands) {
  std::vector<size_t> metrics;
  for (size_t band = size_t(Band::kPoor); band < analyze::kBands; ++band)
    if (bands[band]) metrics.push_back(analyze::kPoor + band - size_t(Band::kPoor));
  return metrics;
}

uint64_t sum_of_metrics(std::span<const uint64_t> numbers, const std::vector<size_t>& metrics) {
  uint64_t sum = 0;
  for (const size_t metric : metrics)
    if (metric < numbers.size()) sum += numbers[metric];
  return sum;
}

analyze::BandSet one_band(size_t band) {
  analyze::BandSet bands{};
  bands[band] = true;
  return bands;
}

/// The words for a row of each part; scripts have the first.
struct Part {
  const char* id;
  const char* title;
};
constexpr Part kRan = {"running", "ran (CPU)"}, kReady = {"ready", "was ready"},
               kWaited = {"waiting", "waited"}, kOut = {"filtered out", ""};

class IdleTable {
 public:
  IdleTable(View& view, const Source& source, const Request& request, const BandMoments& moments)
      : view_(view), source_(source), request_(request), moments_(moments), places_(source) {
    table_.id = "idle";
    table_.empty = "There was no such moment.";
    table_.columns = {{"", "Time", Unit::kTime},
                      {"", "Share%", Unit::kShare, false, -1, 5},
                      {"", "Did", Unit::kText, false, -1, 7},
                      {"", "Waits", Unit::kCount, false, -1, 3},
                      {"", "Threads", Unit::kCount, false, -1, 2},
                      {"", "Ended by", Unit::kText, false, 6, 6},
                      {"", "", Unit::kText},
                      {"at", "Module, place", Unit::kText, false, 8, 4},
                      {"", "", Unit::kText},
                      {"what", "Function or object", Unit::kText, false, 10},
                      {"", "", Unit::kText},
                      {"part", "", Unit::kText},
                      {"thread_ns", "", Unit::kTime},
                      {"share", "", Unit::kShare},
                      {"wait_count", "", Unit::kCount},
                      {"threads", "", Unit::kCount},
                      {"ended_by", "", Unit::kText},
                      {"ended_tid", "", Unit::kNumber},
                      {"ended_at", "", Unit::kText},
                      {"caused_ns", "", Unit::kTime},
                      {"function", "", Unit::kText}};
    Places::add_column(table_);
    table_.columns.push_back({"object_id", "", Unit::kNumber});
  }

  /// What ran, by function: in each band as its samples say, or where it has none all, of the time that the
  /// observer saw, which with hundreds of samples is another than theirs. `sampled` are the columns of all
  /// samples in the lists. What no sample accounts for passes where any function does. Returns what of it
  /// passes the filter.
  uint64_t add_running(const analyze::Selection& selection, std::span<const uint64_t> sampled,
                       bool any_function) {
    const analyze::Flat& flat = selection.functions(source_.profile, source_.symbols, request_.inlines);
    std::vector<uint64_t> by_function(flat.self.rows());
    // Sweeps tell means, of which a part is in the band below.
    const bool exact = source_.profile.run_states.source == load::RunStates::Source::kSwitches;
    uint64_t unsampled = 0, unseen = 0;
    for (size_t band = 0; band < analyze::kBands; ++band) {
      unsampled += moments_.ran[band].unsampled_ns;
      const uint64_t running = moments_.ran[band].running_ns - moments_.ran[band].unsampled_ns;
      if (exact && Band(band) == Band::kIdle)
        unseen += running;
      else if (!share_running(running, metrics_of(one_band(band)), flat, sampled, by_function) &&
               !share_running(running, {analyze::kCpu}, flat, sampled, by_function))
        unsampled += running;
    }
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < by_function.size(); ++i)
      if (by_function[i]) order.push_back(i);
    std::ranges::stable_sort(order, std::greater(), [&](uint32_t i) { return by_function[i]; });
    std::vector<uint64_t> sizes;
    for (const uint32_t i : order) sizes.push_back(by_function[i]);
    const uint64_t rest = add_list(sizes, "function", "functions", kRan, [&](size_t i) {
      const bool known = order[i] < source_.symbols.functions.size();
      add_function(known ? FunctionId{order[i]} : FunctionId::none(), sizes[i]);
    });
    if (!any_function) return rest;
    if (unseen) add_sum(RowKind::kSpecial, kRan, unseen, "[clock difference]");
    if (unsampled)
      add_sum(RowKind::kSpecial, kRan, unsampled, symbol::special_name(load::SpecialSite::kNotSampled));
    return rest + unseen + unsampled;
  }

  void add_ready() {
    if (moments_.kept.ready_ns) add_sum(RowKind::kSpecial, kReady, moments_.kept.ready_ns, "[no processor]");
  }

  void add_waits() {
    std::vector<uint64_t> sizes;
    for (const WaitObject& object : moments_.objects) sizes.push_back(object.wait_ns);
    add_list(
        sizes, "object", "objects", kWaited, [&](size_t i) { add_object(moments_.objects[i]); },
        [&](size_t i) { return analyze::kind_of_many(source_.profile, moments_.objects[i].key); });
    if (moments_.other_waits_ns) add_sum(RowKind::kSpecial, kWaited, moments_.other_waits_ns, kOtherWaits);
  }

  void add_filtered(uint64_t ns) {
    if (ns) add_sum(RowKind::kFilteredOut, kOut, ns, kFilteredOut);
  }

  Table table() && { return std::move(table_); }

 private:
  /// Rows that the request asks for and the sums of the others, see cut_kinds(). Returns the sum of all.
  template <typename AddRow>
  uint64_t add_list(
      const std::vector<uint64_t>& sizes, std::string_view one, std::string_view many, const Part& part,
      const AddRow& add_row,
      const std::function<std::string_view(size_t)>& kind_of = [](size_t) { return std::string_view(); }) {
    const Cut cut = cut_list(sizes, moments_.thread_ns(), request_);
    for (size_t i = 0; i < cut.kept; ++i) add_row(i);
    for (const CutKind& kind : cut_kinds(cut, sizes, moments_.thread_ns(), request_, one, many, kind_of)) {
      uint64_t rest = 0;
      for (const size_t i : kind.rows) rest += sizes[i];
      add_sum(RowKind::kRest, part, rest, view_.own(kind.label));
    }
    return std::accumulate(sizes.begin(), sizes.end(), uint64_t(0));
  }

  /// Adds to the functions what they ran in a band, by a column of samples. False: there is none in it.
  static bool share_running(uint64_t running_ns, const std::vector<size_t>& metric, const analyze::Flat& flat,
                            std::span<const uint64_t> sampled, std::vector<uint64_t>& by_function) {
    const uint64_t whole = sum_of_metrics(sampled, metric);
    if (whole == 0) return false;
    uint64_t sum = 0, before = 0;
    for (uint32_t i = 0; i < by_function.size(); ++i) {
      sum += sum_of_metrics(flat.self.row(i), metric);
      const auto until = uint64_t(double(running_ns) * (double(sum) / double(whole)));
      by_function[i] += until - before;
      before = until;
    }
    return true;
  }

  struct Ended {
    std::string_view words, short_words, by, at;
    Cell tid, caused_ns;
  };

  void put(Row row, const Part& part, uint64_t ns, Cell count, Cell threads, const Ended& ended,
           std::string_view at, std::string_view short_at, std::string_view what, std::string_view short_what,
           Cell function, Cell place, Cell object = {}) {
    const double of_all = share(ns, moments_.thread_ns());
    table_.begin(row);
    table_.put({ns,
                of_all,
                std::string_view(part.title),
                count,
                threads,
                ended.words,
                ended.short_words,
                at,
                short_at,
                what,
                short_what,
                std::string_view(part.id),
                ns,
                of_all,
                count,
                threads,
                ended.by,
                ended.tid,
                ended.at,
                ended.caused_ns,
                function,
                place,
                object});
  }

  void add_sum(RowKind kind, const Part& part, uint64_t ns, std::string_view label) {
    put({0, kind, false}, part, ns, {}, {}, {}, "", "", label, label, std::string_view(), std::string_view());
  }

  void add_function(FunctionId id, uint64_t ns) {
    const FunctionCells cells = function_cells(source_, id);
    const std::string_view module = function_module(source_, id);
    put({0, cells.special ? RowKind::kSpecial : RowKind::kOrdinary, false}, kRan, ns, {}, {}, {}, module,
        module, std::get<std::string_view>(cells.name), std::get<std::string_view>(cells.short_name),
        cells.name, places_.of(id, view_));
  }

  Ended ended(const WaitObject& object) {
    const std::vector<HolderRow> holders = holder_rows(source_, {&object, 1});
    if (holders.empty()) return {};
    const analyze::Holder& top = holders.front().holder;
    const std::string_view thread = view_.own(names_.of(top.thread));
    const double percent = 100 * share(top.caused_ns, object.wait_ns);
    const bool worth_naming = percent >= 5;  // who ended hardly any of it is no answer for people
    return {worth_naming ? view_.own(fmt::format("{} ({:.0f}%)", thread, percent)) : "",
            worth_naming ? view_.own(fmt::format("{} {:.0f}%", thread, percent)) : "",
            thread,
            view_.own(std::string(holders.front().place)),
            uint64_t(uint32_t(source_.profile.threads[top.thread.index()].tid)),
            top.caused_ns};
  }

  void add_object(const WaitObject& object) {
    const analyze::Caller caller = analyze::caller_of(source_, object.first);
    const std::string_view what = view_.own(analyze::object_words(source_, object.key));
    const FunctionCells cells = function_cells(source_, caller.function);
    put({}, kWaited, object.wait_ns, object.count, uint64_t(object.threads), ended(object),
        view_.own(analyze::caller_words(source_, caller)),
        view_.own(analyze::short_caller_words(source_, caller)), what, what,
        caller.function.valid() ? cells.name : Cell(std::string_view()), places_.of(caller.function, view_),
        uint64_t(object.number));
  }

  View& view_;
  const Source& source_;
  const Request& request_;
  const BandMoments& moments_;
  Places places_;
  const ThreadNames names_{source_.profile};
  Table table_;
};

std::string band_words(const analyze::BandSet& bands) {
  std::string words;
  size_t left = size_t(std::ranges::count(bands, true));
  for (size_t band = 0; band < analyze::kBands; ++band) {
    if (!bands[band]) continue;
    words += std::string(band_name(Band(band)));
    if (--left) words += left == 1 ? " and " : ", ";
  }
  return words;
}

/// "at most one thread was active", "3 to 5 threads were active".
std::string active_words(analyze::LevelSpan span, bool running) {
  const char* active = running ? "running" : "active";
  const auto threads = [](uint64_t count) {
    return count == 1 ? std::string("one thread was") : fmt::format("{} threads were", count);
  };
  if (!span.any() || span.most == 0) return fmt::format("no thread was {}", active);
  if (span.least == span.most) return fmt::format("{} {}", threads(span.most), active);
  if (span.least == 0) return fmt::format("at most {} {}", threads(span.most), active);
  return fmt::format("{} to {} {}", span.least, threads(span.most), active);
}

/// "; 81% of that CPU time in load_scene", of the band with most of the CPU time; or how much of it, of `all`
/// that ran, nobody sampled.
std::string busiest_words(const Source& source, const Request& request, const BandMoments& moments,
                          const analyze::Selection& selection, bool all) {
  constexpr double kMostUnsampled = 0.1;
  const std::vector<size_t> metrics = metrics_of(moments.bands);
  const uint64_t unsampled = moments.kept.unsampled_ns;
  if (all && share(unsampled, moments.kept.running_ns) > kMostUnsampled)
    return fmt::format("; {} of that where no agent was: see varve report quality",
                       seconds_words({unsampled}));
  if (metrics.empty() || selection.kept.size() <= metrics.back()) return "";
  const size_t most = *std::ranges::max_element(metrics, {}, [&](size_t m) { return selection.kept[m]; });
  return where_words(source, request, selection, most);
}

std::string ran_words(const Source& source, const Request& request, const BandMoments& moments,
                      const analyze::Selection& selection, uint64_t ran_ns) {
  const bool all = ran_ns == moments.kept.running_ns;
  constexpr uint64_t kMeasurable = 1'000'000;
  if (metrics_of(moments.bands).empty() &&
      source.profile.run_states.source == load::RunStates::Source::kSwitches)
    return ran_ns < kMeasurable ? "No thread ran"
                                : fmt::format("No thread was seen to run, but their clocks went on by {}",
                                              seconds_words({ran_ns}));
  return fmt::format("{} ran for {}{}", all ? "Threads" : "What passes", seconds_words({ran_ns}),
                     busiest_words(source, request, moments, selection, all));
}

void add_sentences(View& view, const Source& source, const Request& request, const BandMoments& moments,
                   const analyze::Selection& selection, uint64_t ran_ns) {
  const auto text = [&](const char* label, std::string words) {
    view.facts.push_back({"", label, Unit::kText, view.own(std::move(words))});
  };
  const bool running = request.bands.scale == analyze::Scale::kUtilization;
  const uint64_t chosen = moments.chosen_ns();
  text("Bands", band_words(moments.bands));
  if (std::ranges::count(source.concurrency->tracks, true) == 0)
    return text("Elapsed", selection.kept[analyze::kCpu] == 0
                               ? "No process that was observed passes the filter."
                               : "The observer did not see the processes that pass the filter.");
  if (chosen == 0) return text("Elapsed", "There was no such moment.");
  text("Elapsed", fmt::format("For {} of {} ({:.0f}%) {} while {}", seconds_words({chosen}),
                              seconds_words({moments.elapsed_ns}), 100 * share(chosen, moments.elapsed_ns),
                              active_words(moments.chosen_active(), running),
                              target_of(*source.concurrency, request).were));
  text("Meanwhile", ran_words(source, request, moments, selection, ran_ns));
  if (!moments.objects.empty()) {
    // That one waits for another's end says less than for what that one waits.
    const std::string reason = waits_words(source, moments);
    const WaitObject& longest = moments.objects.front();
    text("Waited", reason.empty() ? waited_words(source, longest) + ended_words(source, longest) : reason);
  }
}

void add_sums(View& view, const BandMoments& moments, uint64_t ran_ns) {
  const analyze::ThreadTime& kept = moments.kept;
  const uint64_t out = moments.filtered_ns + kept.running_ns - ran_ns;
  std::string words = parts_words(moments.thread_ns(), {{"ran", ran_ns},
                                                        {"were ready", kept.ready_ns},
                                                        {"waited", kept.waiting_ns},
                                                        {std::string(kFilteredOut), out}});
  if (moments.thread_ns()) view.facts.push_back({"", "Threads", Unit::kText, view.own(std::move(words))});
  const std::pair<const char*, uint64_t> values[] = {{"elapsed_ns", moments.elapsed_ns},
                                                     {"band_elapsed_ns", moments.chosen_ns()},
                                                     {"thread_ns", moments.thread_ns()},
                                                     {"running_ns", ran_ns},
                                                     {"ready_ns", kept.ready_ns},
                                                     {"waiting_ns", kept.waiting_ns},
                                                     {"filtered_out_ns", out}};
  for (const auto& [id, ns] : values) view.facts.push_back({id, "", Unit::kTime, ns});
}

}  // namespace

Made make_idle(const Source& source, const Request& request, const analyze::Selection& selection) {
  const analyze::Concurrency& concurrency = *source.concurrency;
  View view;
  view.notes.push_back(source_words(source.profile));
  if (waits_are_off(source.profile)) view.notes.push_back(kWaitsOff);
  const BandMoments moments =
      analyze::band_moments(source.profile, source.symbols, request.filter, concurrency, request.explained);
  // Of the threads that pass; the metric of lists has no say here, for bands are chosen otherwise.
  analyze::Filter threads = request.filter;
  threads.module = threads.function = {};
  const bool paths = request.filter.module.given() || request.filter.function.given();
  std::optional<analyze::Selection> own;
  if (request.metric != analyze::kCpu)
    own = analyze::select(source.profile, source.symbols, request.filter, concurrency);
  const analyze::Selection& shown = own ? *own : selection;
  const std::vector<uint64_t> sampled =
      paths ? analyze::select(source.profile, source.symbols, threads, concurrency).kept : shown.kept;
  IdleTable table(view, source, request, moments);
  uint64_t ran = 0;
  if (concurrency.known()) {
    ran = moments.kept.running_ns == 0 ? 0 : table.add_running(shown, sampled, !paths);
    add_sentences(view, source, request, moments, shown, ran);
    table.add_ready();
    table.add_waits();
    table.add_filtered(moments.filtered_ns + moments.kept.running_ns - ran);
    add_sums(view, moments, ran);
    if (request.filter.object.given() && moments.objects.empty())
      view.notes.push_back("No wait in these moments passes the filter.");
    view.notes.push_back(
        "Elapsed time counts each moment once; all other times are of threads, each for itself: what they "
        "ran is CPU time.");
    view.notes.push_back(
        "What ran is cut where the level changes; other views charge all time of a sample to the band of its "
        "tick, so their times by band are a little different.");
    add_scope_note(view, request);
  }
  view.tables.push_back(std::move(table).table());
  view.tables.back().only_data = !concurrency.known();
  return view;
}

}  // namespace varve::view
