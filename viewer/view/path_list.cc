// SPDX-License-Identifier: MIT
// See path_list.h.
// Context: viewer.
#include "viewer/view/path_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "viewer/analyze/object_names.h"
#include "viewer/analyze/site_keys.h"
#include "viewer/view/rows.h"

namespace varve::view {
namespace {

using analyze::PathClass;
using analyze::PathSegment;

/// Words for segments. Each text is made once, however many rows have it.
class SegmentWords {
 public:
  SegmentWords(View& view, const ShownPath& shown)
      : view_(view),
        shown_(shown),
        profile_(shown.source.profile),
        names_(profile_),
        callers_(shown.source, shown.request.inlines) {}

  /// Of the leaf, where most of the time was; none where there is no stack.
  FunctionId function(const PathSegment& segment) const {
    return function_by(segment, [this](PathId path) { return leaf(path); }).function;
  }
  struct Most {
    FunctionId function;
    double share;  // of the segment
  };
  /// Likewise, but what libraries did for the program counts for the program.
  Most own_function(const PathSegment& segment) {
    return function_by(segment, [this](PathId path) { return callers_.of(path); });
  }
  std::string_view function_name(FunctionId function, bool in_short) const {
    if (!function.valid()) return "";
    const FunctionCells cells = function_cells(shown_.source, function);
    return std::get<std::string_view>(in_short ? cells.short_name : cells.name);
  }

  std::string_view object(const PathSegment& segment) {
    if (segment.what == PathClass::kBlocking && segment.wait == analyze::kNoWait)
      return observed_words(segment.observed);
    const bool none = segment.what == PathClass::kCruise || segment.what == PathClass::kNotRecorded;
    if (none || !segment.thread.valid()) return "";
    const analyze::ObjectKey object = analyze::object_of(profile_, segment);
    const auto [known, fresh] = objects_.try_emplace(object);
    if (fresh) known->second = view_.own(analyze::object_words(shown_.source, object));
    return known->second;
  }

  /// What it did: a function; what it waited for and, if there is room, where.
  std::string doing(const PathSegment& segment, bool in_short) {
    if (segment.what == PathClass::kNotRecorded) return segment.paused ? "[paused]" : "[not recorded]";
    const Most most = own_function(segment);
    const std::string_view name = function_name(most.function, in_short);
    if (segment.what == PathClass::kCruise || segment.what == PathClass::kImpact) {
      // Of a long part the function of most samples may have few.
      const std::string share = most.share < 0.5 ? fmt::format(" ({:.0f}%)", 100 * most.share) : "";
      return std::string(name.empty() ? kEmptyStack : name) + share;
    }
    return name.empty() || in_short ? std::string(object(segment))
                                    : fmt::format("{} ({})", object(segment), name);
  }

  std::string thread(const PathSegment& segment, bool in_short) const {
    const std::string name = names_.of(segment.thread);
    return !in_short && segment.from.valid()
               ? fmt::format("{} to {}", names_.of(segment.from), names_.beside(segment.thread, segment.from))
               : name;
  }

  std::string what(const PathSegment& segment, bool in_short) const {
    const std::string_view name = words_of(segment.what).name;
    if (in_short || segment.what != PathClass::kImpact) return std::string(name);
    return fmt::format("{} on {}", name, names_.beside(segment.delayed, segment.thread));
  }

  std::string name(ThreadId thread) const { return names_.of(thread); }

 private:
  /// The one of most of the time.
  template <typename FunctionOf>
  Most function_by(const PathSegment& segment, const FunctionOf& function_of) const {
    std::map<FunctionId, uint64_t> times;
    shown_.paths.for_each(segment, [&](PathId path, uint64_t ns) { times[function_of(path)] += ns; });
    if (times.empty()) return {FunctionId::none(), 1};
    uint64_t all = 0;
    for (const auto& [function, ns] : times) all += ns;
    const auto most = std::ranges::max_element(times, {}, [](const auto& each) { return each.second; });
    return {most->first, share(most->second, all)};
  }
  FunctionId leaf(PathId path) const {
    const SiteId site = profile_.paths[path.index()].site;
    if (!site.valid()) return {};
    return analyze::counted_frames(shown_.source.symbols, site, shown_.request.inlines).front().function;
  }

  View& view_;
  const ShownPath& shown_;
  const load::Profile& profile_;
  ThreadNames names_;
  analyze::Callers callers_;
  std::map<analyze::ObjectKey, std::string_view> objects_;
};

/// Whether each segment has a row: those that are long enough, and of these the longest.
std::vector<bool> rows_that_stand(const ShownPath& shown) {
  const size_t count = shown.segments.size();
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  const auto length = [&](uint32_t i) { return shown.segments[i].range.length(); };
  const double least = shown.request.min_share * double(shown.elapsed_ns);
  std::erase_if(order, [&](uint32_t i) { return double(length(i)) < least; });
  if (shown.request.limit != 0 && order.size() > shown.request.limit) {
    std::nth_element(
        order.begin(), order.begin() + ptrdiff_t(shown.request.limit), order.end(),
        [&](uint32_t a, uint32_t b) { return std::pair(length(b), a) < std::pair(length(a), b); });
    order.resize(size_t(shown.request.limit));
  }
  std::vector<bool> stands(count);
  for (const uint32_t i : order) stands[i] = true;
  return stands;
}

Cell level_cell(double level) { return level < 0 ? Cell() : Cell(level); }

Cell pid_cell(const load::Profile& profile, ThreadId thread) {
  if (!thread.valid()) return {};
  return uint64_t(uint32_t(profile.processes[profile.threads[thread.index()].process.index()].pid));
}
Cell tid_cell(const load::Profile& profile, ThreadId thread) {
  return thread.valid() ? Cell(uint64_t(uint32_t(profile.threads[thread.index()].tid))) : Cell();
}

}  // namespace

Table segment_table(View& view, const ShownPath& shown) {
  const load::Profile& profile = shown.source.profile;
  Table table;
  table.id = "segments";
  table.only_data = true;
  table.columns = {
      {"begin_ns", "", Unit::kTime},   {"end_ns", "", Unit::kTime},     {"pid", "", Unit::kNumber},
      {"tid", "", Unit::kNumber},      {"class", "", Unit::kText},      {"level", "", Unit::kRatio},
      {"function", "", Unit::kText},   {"object", "", Unit::kText},     {"length_ns", "", Unit::kTime},
      {"from_pid", "", Unit::kNumber}, {"from_tid", "", Unit::kNumber}, {"delays_tid", "", Unit::kNumber}};
  SegmentWords words(view, shown);
  const std::vector<bool> stands = rows_that_stand(shown);
  uint64_t rest = 0, rest_rows = 0;
  for (size_t i = 0; i < stands.size(); ++i) {
    const PathSegment& segment = shown.segments[i];
    if (!stands[i]) {
      rest += segment.range.length(), ++rest_rows;
      continue;
    }
    const std::string_view name = segment.what == PathClass::kNotRecorded && segment.paused
                                      ? "[paused]"
                                      : words.function_name(words.function(segment), false);
    table.add({}, {segment.range.begin - shown.start_ns, segment.range.end - shown.start_ns,
                   pid_cell(profile, segment.thread), tid_cell(profile, segment.thread),
                   words_of(segment.what).name, level_cell(shown.levels.means[i]), name,
                   words.object(segment), segment.range.length(), pid_cell(profile, segment.from),
                   tid_cell(profile, segment.from), tid_cell(profile, segment.delayed)});
  }
  const auto add_sum = [&](RowKind kind, std::string_view name, uint64_t length) {
    table.add({0, kind, false}, {{}, {}, {}, {}, {}, {}, name, {}, length, {}, {}, {}});
  };
  if (rest_rows) {
    const bool by_limit =
        shown.request.limit != 0 && shown.segments.size() - rest_rows == shown.request.limit;
    add_sum(RowKind::kRest, view.own(cut_label(rest_rows, by_limit, shown.request)), rest);
  }
  if (shown.filtered_out_ns) add_sum(RowKind::kFilteredOut, kFilteredOut, shown.filtered_out_ns);
  return table;
}

namespace {

/// Runs where segments of `least_ns` stand alone and those of shorter ones end once they have `enough_ns`.
std::vector<SegmentRun> runs_of(std::span<const PathSegment> segments, uint64_t least_ns, uint64_t enough_ns,
                                size_t most) {
  std::vector<SegmentRun> runs;
  uint64_t length = 0;
  bool open = false;
  for (size_t i = 0; i < segments.size() && runs.size() <= most; ++i) {
    const uint64_t mine = segments[i].range.length();
    const bool alone = mine >= least_ns;
    if (alone || !open || length >= enough_ns) {
      runs.push_back({i, i});
      length = 0;
    }
    runs.back().end = i + 1;
    length += mine;
    open = !alone;
  }
  return runs;
}

/// Cuts runs of several segments near the middle of their time, the longest first, until there are `count`
/// or nothing is left to cut.
std::vector<SegmentRun> cut_runs(std::span<const PathSegment> segments, std::vector<SegmentRun> runs,
                                 size_t count) {
  const auto length = [&](SegmentRun run) {
    return segments[run.end - 1].range.end - segments[run.first].range.begin;
  };
  const auto shorter = [&](SegmentRun a, SegmentRun b) { return length(a) < length(b); };
  std::vector<SegmentRun> single;
  std::vector<SegmentRun> several;  // a heap, the longest first
  for (const SegmentRun run : runs) (run.end - run.first == 1 ? single : several).push_back(run);
  std::ranges::make_heap(several, shorter);
  while (!several.empty() && single.size() + several.size() < count) {
    std::ranges::pop_heap(several, shorter);
    const SegmentRun run = several.back();
    several.pop_back();
    const uint64_t middle = segments[run.first].range.begin + length(run) / 2;
    const auto inner = segments.subspan(run.first + 1, run.end - run.first - 1);
    const auto after = std::ranges::lower_bound(
        inner, middle, {}, [](const PathSegment& segment) { return segment.range.begin; });
    const size_t at = std::min(run.first + 1 + size_t(after - inner.begin()), run.end - 1);
    for (const SegmentRun part : {SegmentRun{run.first, at}, SegmentRun{at, run.end}}) {
      (part.end - part.first == 1 ? single : several).push_back(part);
      if (part.end - part.first != 1) std::ranges::push_heap(several, shorter);
    }
  }
  single.insert(single.end(), several.begin(), several.end());
  std::ranges::sort(single, {}, &SegmentRun::first);
  return single;
}

}  // namespace

std::vector<SegmentRun> readable_runs(std::span<const PathSegment> segments, size_t limit,
                                      uint64_t least_ns) {
  if (segments.empty()) return {};
  const uint64_t whole = segments.back().range.end - segments.front().range.begin;
  if (limit == 0) limit = kMostRuns;
  const uint64_t enough = whole / std::max<size_t>(limit / 2, 1) + 1;
  for (uint64_t least = least_ns;; least = least * 2 + 1000) {
    std::vector<SegmentRun> runs = runs_of(segments, least, enough, limit);
    if (runs.size() > limit && least <= whole) continue;
    // Lengths are asked for only where a share is.
    return least_ns == 0 ? cut_runs(segments, std::move(runs), limit) : runs;
  }
}

namespace {

/// What most of the time of several segments was, and how many different ones there were.
template <typename Key>
struct Mostly {
  std::map<Key, uint64_t> times;
  void add(const Key& key, uint64_t ns) { times[key] += ns; }
  const Key& most() const {
    return std::ranges::max_element(times, [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  }
};

/// The cells of one row of the list that are words.
struct ListCells {
  std::string thread, to, what, class_alone, doing, doing_in_short;
};

ListCells cells_of(const ShownPath& shown, SegmentWords& words, SegmentRun run) {
  const PathSegment& first = shown.segments[run.first];
  if (run.end - run.first == 1)
    return {words.thread(first, false), words.thread(first, true), words.what(first, false),
            words.what(first, true),    words.doing(first, false), words.doing(first, true)};
  Mostly<ThreadId> threads;
  Mostly<PathClass> classes;
  size_t longest = run.first;
  for (size_t i = run.first; i < run.end; ++i) {
    const PathSegment& segment = shown.segments[i];
    threads.add(segment.thread, segment.range.length());
    classes.add(segment.what, segment.range.length());
    if (segment.range.length() > shown.segments[longest].range.length()) longest = i;
  }
  const size_t others = threads.times.size() - 1;
  ListCells cells;
  cells.thread = cells.to = words.name(threads.most());
  if (others) cells.thread += fmt::format(" and {}", plural(others, "other", "others"));
  cells.what = classes.times.size() == 1 ? std::string(words_of(classes.most()).name)
                                         : fmt::format("mostly {}", words_of(classes.most()).name);
  cells.class_alone = cells.what;
  const auto of_many = [&](bool in_short) {
    return fmt::format("{}, and {} more", words.doing(shown.segments[longest], in_short),
                       run.end - run.first - 1);
  };
  cells.doing = of_many(false), cells.doing_in_short = of_many(true);
  return cells;
}

/// Of several segments, weighted by their lengths; negative: not known.
double mean_level(const ShownPath& shown, SegmentRun run) {
  double sum = 0, length = 0;
  for (size_t i = run.first; i < run.end; ++i) {
    if (shown.levels.means[i] < 0) continue;
    sum += shown.levels.means[i] * double(shown.segments[i].range.length());
    length += double(shown.segments[i].range.length());
  }
  return length > 0 ? sum / length : -1;
}

}  // namespace

Table list_table(View& view, const ShownPath& shown) {
  Table table;
  table.empty = "Nothing of the path is in this time.";
  table.columns = {{"", "Start", Unit::kTime, false, -1, 5},
                   {"", "Length", Unit::kMean},
                   {"", "Share%", Unit::kShare, false, -1, 1},
                   {"", "Length, by band", Unit::kBar, false, -1, 3},
                   {"", "Threads", Unit::kRatio, false, -1, 2},
                   {"", "On the path", Unit::kText, false, 8, 6},
                   {"", "Class", Unit::kText, false, 9, 4},
                   {"", "Doing", Unit::kText, false, 10},
                   {"", "", Unit::kText},
                   {"", "", Unit::kText},
                   {"", "", Unit::kText}};
  const analyze::BandRule& rule = shown.source.concurrency->rule;
  const auto least = uint64_t(shown.request.min_share * double(shown.elapsed_ns));
  const std::vector<SegmentRun> runs = readable_runs(shown.segments, size_t(shown.request.limit), least);
  const auto length = [&](SegmentRun run) {
    return shown.segments[run.end - 1].range.end - shown.segments[run.first].range.begin;
  };
  uint64_t most = 1;
  for (const SegmentRun run : runs) most = std::max(most, length(run));
  SegmentWords words(view, shown);
  for (const SegmentRun run : runs) {
    ListCells cells = cells_of(shown, words, run);
    const double level = mean_level(shown, run);
    Bar bar;  // empty where the band is not known
    if (level >= 0) bar.parts[size_t(rule.of(level))] = share(length(run), most);
    const bool recorded = shown.segments[run.first].what != PathClass::kNotRecorded;
    table.add(
        {0, recorded ? RowKind::kOrdinary : RowKind::kSpecial, false},
        {shown.segments[run.first].range.begin - shown.start_ns, length(run),
         share(length(run), shown.elapsed_ns), bar, level_cell(level), view.own(std::move(cells.thread)),
         view.own(std::move(cells.what)), view.own(std::move(cells.doing)), view.own(std::move(cells.to)),
         view.own(std::move(cells.class_alone)), view.own(std::move(cells.doing_in_short))});
  }
  if (shown.filtered_out_ns)
    table.add({0, RowKind::kFilteredOut, false}, {{},
                                                  shown.filtered_out_ns,
                                                  share(shown.filtered_out_ns, shown.elapsed_ns),
                                                  {},
                                                  {},
                                                  std::string_view(),
                                                  std::string_view(),
                                                  kFilteredOut,
                                                  std::string_view(),
                                                  std::string_view(),
                                                  kFilteredOut});
  return table;
}

}  // namespace varve::view
