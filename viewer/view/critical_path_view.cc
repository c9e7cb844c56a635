// SPDX-License-Identifier: MIT
// The critical path of the run: which threads it went over, what they did and who waited for them; or its
// sums by function, thread or object. Filters do not cut it, for a path has no holes; --time says which part
// of it is shown. Context: viewer.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/session_keys.h"
#include "viewer/analyze/object_names.h"
#include "viewer/view/band_words.h"
#include "viewer/view/make.h"
#include "viewer/view/path_tables.h"
#include "viewer/view/path_words.h"
#include "viewer/view/rows.h"

namespace varve::view {
namespace {

using analyze::PathClass;
using analyze::PathSegment;
using analyze::TimeRange;

/// The part of the path that is in `range`.
analyze::CriticalPath part_of(analyze::CriticalPath path, TimeRange range) {
  for (PathSegment& segment : path.segments) segment.range = segment.range.within(range);
  std::erase_if(path.segments, [](const PathSegment& segment) { return segment.range.length() == 0; });
  std::erase_if(path.moves, [&](const analyze::PathMove& move) {
    return move.time_ns < range.begin || move.time_ns >= range.end;
  });
  return path;
}

/// Of all threads, whatever is filtered: the path is the run's.
analyze::Levels levels_of_run(const load::Profile& profile) {
  return {profile.run_states, analyze::time_range(profile, {}), [](TrackId) { return true; },
          analyze::CountedTime(profile.pauses)};
}

/// Whether a thread of the program must have ended it.
bool should_have_releaser(const load::Wait& wait) {
  return !wait.timed_out && (format::is_released(wait.kind) || wait.kind == format::ObjectKind::kThread);
}

uint64_t unknown_releasers(const load::Profile& profile, const analyze::CriticalPath& path) {
  uint64_t sum = 0;
  for (const PathSegment& segment : path.segments)
    if (segment.what == PathClass::kBlocking && segment.wait != analyze::kNoWait &&
        should_have_releaser(profile.waits.waits[segment.wait]))
      sum += segment.range.length();
  return sum;
}

/// Blocking in waits that only run states tell of: a pipe that the C library reads by itself, say.
uint64_t unseen_time(const analyze::CriticalPath& path) {
  uint64_t sum = 0;
  for (const PathSegment& segment : path.segments)
    if (segment.what == PathClass::kBlocking && segment.wait == analyze::kNoWait)
      sum += segment.range.length();
  return sum;
}

uint64_t unfollowed_time(const analyze::CriticalPath& path) {
  uint64_t sum = 0;
  for (const PathSegment& segment : path.segments)
    if (segment.unfollowed) sum += segment.range.length();
  return sum;
}

void add_path_notes(View& view, const Source& source, const Request& request,
                    const analyze::CriticalPath& path) {
  const load::Profile& profile = source.profile;
  view.notes.push_back(source_words(profile));
  view.notes.push_back(
      "Cruise: runs and delays nobody on the path. Impact: the next thread of the path waits for it. "
      "Overhead: from a release until the other thread runs. Blocking: waits that no thread of the run was "
      "seen to end.");
  if (!profile.run_states.known() || !states_end_words(profile).empty())
    view.notes.push_back(
        "Where there are no run states a thread on the path counts as active where no hook saw it wait, so "
        "Cruise and Impact may have waits in them.");
  if (profile.session.number(session_key::kWaitMinNs) == 0 && profile.waits.waits.empty())
    view.notes.push_back(
        "Waits were not recorded (--waits), so the path cannot go to the threads that others waited for, but "
        "by their creation.");
  if (const uint64_t unknown = unknown_releasers(profile, path); unknown != 0)
    view.notes.push_back(fmt::format(
        "{:.3f} ms of Blocking are waits for locks, conditions and threads that nobody was seen to end.",
        double(unknown) / 1e6));
  constexpr double kLeastUnseen = 0.01;  // of the path
  if (const uint64_t unseen = unseen_time(path); double(unseen) > kLeastUnseen * double(path.run.length()))
    view.notes.push_back(fmt::format(
        "{:.3f} ms of Blocking are waits that no hook saw, so the path may miss the thread that ended them.",
        double(unseen) / 1e6));
  if (const uint64_t unfollowed = unfollowed_time(path); unfollowed != 0)
    view.notes.push_back(fmt::format(
        "{:.3f} ms [not recorded] are waits for other threads, so short or so many that they were only added "
        "up: the path stays with the thread that waited.",
        double(unfollowed) / 1e6));
  if (request.by == By::kFunction)
    view.notes.push_back(
        "The run could be shorter by no more than Bound if the function, with all that it calls, used no CPU "
        "time, and by no more than Total if it did not wait either; by less where another path is then the "
        "longest.");
  const analyze::Filter& filter = request.filter;
  view.whole_run = filter.thread.given() || filter.process.given() || filter.module.given() ||
                   filter.function.given() || filter.object.given() || request.metric != analyze::kCpu;
  if (view.whole_run)
    view.notes.push_back(
        "The critical path is that of the whole run: of the filters only --time changes what is shown.");
}

/// What the path waited for, of each kind together.
std::string blocking_words(const load::Profile& profile, const analyze::CriticalPath& path) {
  std::map<std::string_view, uint64_t> by_kind;
  uint64_t whole = 0;
  for (const PathSegment& segment : path.segments) {
    if (segment.what != PathClass::kBlocking) continue;
    whole += segment.range.length();
    const bool known = segment.wait != analyze::kNoWait;
    by_kind[known
                ? analyze::kind_of_many(profile, analyze::key_of(profile, profile.waits.waits[segment.wait]))
                : kOtherWaits] += segment.range.length();
  }
  std::vector<TimePart> parts;
  for (const auto& [kind, ns] : by_kind) parts.push_back({std::string(kind), ns});
  std::ranges::stable_sort(parts, std::greater(), &TimePart::ns);
  constexpr uint64_t kWorthSaying = 100;
  return whole * kWorthSaying >= path.run.length() && whole ? parts_words(whole, parts) : "";
}

void add_path_facts(View& view, const load::Profile& profile, const analyze::CriticalPath& path,
                    uint64_t filtered_out) {
  const std::vector<uint64_t> by_class = path.by_class();
  view.facts.push_back({"", "Elapsed", Unit::kText, view.own(sum_words(by_class, filtered_out))});
  view.facts.push_back({"", "Path", Unit::kText,
                        view.own(fmt::format("{}, {}", plural(path.segments.size(), "segment", "segments"),
                                             plural(path.moves.size(), "move from thread to thread",
                                                    "moves from thread to thread")))});
  if (std::string words = blocking_words(profile, path); !words.empty())
    view.facts.push_back({"", "Blocking", Unit::kText, view.own(std::move(words))});
  view.facts.push_back({"elapsed_ns", "", Unit::kTime, path.run.length()});
  for (const PathClass what : kShownClasses)
    view.facts.push_back({words_of(what).column, "", Unit::kTime, by_class[size_t(what)]});
  view.facts.push_back({"filtered_out_ns", "", Unit::kTime, filtered_out});
  view.facts.push_back({"segment_count", "", Unit::kCount, uint64_t(path.segments.size())});
  view.facts.push_back({"move_count", "", Unit::kCount, uint64_t(path.moves.size())});
  view.facts.push_back({"source", "", Unit::kText, source_name(profile.run_states.source)});
}

}  // namespace

Made make_critical_path(const Source& source, const Request& request, const analyze::Selection&) {
  View view;
  const load::Profile& profile = source.profile;
  const TimeRange range = analyze::time_range(profile, request.filter);
  const analyze::CriticalPath path = part_of(*source.critical_path(), range);
  const TimeRange seen = range.within(path.run);
  const uint64_t filtered_out = path.run.length() - seen.length();
  const analyze::PathLevels levels =
      analyze::path_levels(path.segments, levels_of_run(profile), source.concurrency->rule.count());
  const analyze::SegmentPaths paths(profile);
  const ShownPath shown{source,       request, path.run.begin, path.run.length(), path.segments, path.moves,
                        filtered_out, levels,  paths};
  add_path_facts(view, profile, path, filtered_out);
  add_path_notes(view, source, request, path);
  switch (request.by) {
    case By::kFunction:
      view.tables.push_back(path_function_table(view, shown));
      break;
    case By::kThread:
      view.tables.push_back(path_thread_table(view, shown));
      break;
    case By::kObject:
      add_object_tables(view, shown);
      break;
    case By::kCallPath:  // of waits; a screen is never without its list for what was set for another one
      view.notes.push_back("The path is listed by segment, function, thread or object, not by callpath.");
      [[fallthrough]];
    case By::kUsual:
      view.tables.push_back(segment_table(view, shown));
      view.tables.push_back(list_table(view, shown));
      // Without run states a thread that only waits may count as running.
      if (profile.run_states.known()) view.tables.push_back(path_gain_table(view, shown));
      view.tables.push_back(path_level_table(view, shown));
  }
  return view;
}

}  // namespace varve::view
