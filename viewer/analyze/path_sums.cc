// SPDX-License-Identifier: MIT
// See path_sums.h.
// Context: viewer.
#include "viewer/analyze/path_sums.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace varve::analyze {
namespace {

bool is_active(PathClass what) { return what == PathClass::kCruise || what == PathClass::kImpact; }

/// Levels of one moment after the other, so that all segments take one pass.
class LevelCursor {
 public:
  LevelCursor(const Levels& levels, uint64_t Level::*count) : levels_(levels), count_(count) {}

  /// Calls use(level, ns) for the observed parts of a range; ranges come by time.
  template <typename Use>
  void for_each(TimeRange range, Use use) {
    if (!levels_.known()) return;
    range = range.within(levels_.range());
    while (row_ + 1 < levels_.rows().size() && levels_.end_of(row_) <= range.begin) ++row_;
    for (size_t row = row_; row < levels_.rows().size() && levels_.rows()[row].time_ns < range.end; ++row) {
      const uint64_t length = range.within({levels_.rows()[row].time_ns, levels_.end_of(row)}).length();
      if (length) use(levels_.rows()[row].*count_, length);
    }
  }

 private:
  const Levels& levels_;
  uint64_t Level::*count_;
  size_t row_ = 0;
};

}  // namespace

PathLevels path_levels(std::span<const PathSegment> segments, const Levels& levels, uint64_t Level::*count) {
  PathLevels result;
  std::array<std::vector<uint64_t>, kPathClasses> times;
  LevelCursor cursor(levels, count);
  for (const PathSegment& segment : segments) {
    uint64_t observed = 0;
    double sum = 0;
    const auto use = [&](uint64_t level, uint64_t length) {
      add_time(times[size_t(segment.what)], level, length);
      observed += length;
      sum += double(level) * double(length);
    };
    if (!segment.paused) cursor.for_each(segment.range, use);
    result.unobserved[size_t(segment.what)] += segment.range.length() - observed;
    result.means.push_back(observed ? sum / double(observed) / load::RunEvent::kWhole : -1);
  }
  for (size_t what = 0; what < kPathClasses; ++what) {
    std::vector<uint64_t>& time = times[what];
    while (!time.empty() && time.back() == 0) time.pop_back();
    if (result.by_level.size() < time.size()) result.by_level.resize(time.size());
    for (size_t level = 0; level < time.size(); ++level) result.by_level[level][what] = time[level];
  }
  return result;
}

SegmentPaths::SegmentPaths(const load::Profile& profile)
    : profile_(profile), first_(profile.threads.size() + 1) {
  const std::vector<ThreadId>& threads = profile.samples.thread;
  size_t row = 0;
  for (uint32_t i = 0; i < first_.size(); ++i) {
    while (row < threads.size() && threads[row] < ThreadId{i}) ++row;
    first_[i] = row;
  }
}

void SegmentPaths::for_each(const PathSegment& segment, const Use& use) const {
  if (segment.what == PathClass::kNotRecorded || !segment.thread.valid()) {
    use({0}, segment.range.length());
  } else if (is_active(segment.what)) {
    of_samples(segment, use);
  } else {
    use(segment.wait == kNoWait ? PathId{0} : profile_.waits.waits[segment.wait].path,
        segment.range.length());
  }
}

void SegmentPaths::of_samples(const PathSegment& segment, const Use& use) const {
  const load::Samples& samples = profile_.samples;
  const auto times = samples.time_ns.begin();
  const auto end = times + ptrdiff_t(first_[segment.thread.index() + 1]);
  auto row = std::lower_bound(times + ptrdiff_t(first_[segment.thread.index()]), end, segment.range.begin);
  uint64_t done = segment.range.begin;
  PathId last;
  for (; row != end && *row < segment.range.end; ++row) {
    const auto index = size_t(row - times);
    if (!stands_for_moment(index)) continue;
    last = samples.path[index];
    if (*row > done) use(last, *row - done);
    done = std::max(done, *row);
  }
  // After its last sample the thread's residual time comes.
  const size_t after = next_moment(size_t(row - times), size_t(end - times));
  if (after != kNoRow && samples.ticks[after] == 0) last = samples.path[after];
  if (!last.valid()) last = end_of(segment);
  if (done < segment.range.end) use(last, segment.range.end - done);
}

/// A sample, or a part of what the thread did after its last sample (load/ledger_times, load/first_ticks).
bool SegmentPaths::stands_for_moment(size_t row) const {
  const PathId path = profile_.samples.path[row];
  if (profile_.samples.ticks[row] != 0 || profile_.has_stack(path)) return true;
  const SiteId site = profile_.paths[path.index()].site;
  if (!site.valid()) return false;
  const load::SpecialSite kind = profile_.sites[site.index()].kind();
  return kind == load::SpecialSite::kResidual || kind == load::SpecialSite::kNotSampled;
}

/// The first from `row` on; kNoRow where it is not near.
size_t SegmentPaths::next_moment(size_t row, size_t end) const {
  for (const size_t last = std::min(end, row + kLooks); row < last; ++row)
    if (stands_for_moment(row)) return row;
  return kNoRow;
}

/// A segment without a tick: the next sample of its thread stands for all CPU time since the one before, so
/// for this one's, too. Where there is none soon, what the thread did when the segment ended; else any.
PathId SegmentPaths::end_of(const PathSegment& segment) const {
  constexpr uint64_t kIntervals = 10;
  const PathId near = nearest_sample(segment, kIntervals * profile_.session.interval.count);
  if (near.valid()) return near;
  const auto by_time = [](const load::Release& row) { return std::pair(row.thread, row.time_ns); };
  const auto& releases = profile_.waits.releases;
  const auto release =
      std::ranges::lower_bound(releases, std::pair(segment.thread, segment.range.end), {}, by_time);
  if (release != releases.end() && by_time(*release) == std::pair(segment.thread, segment.range.end) &&
      profile_.has_stack(release->path))
    return release->path;
  const auto by_end = [](const load::Wait& row) { return std::pair(row.thread, row.end_ns); };
  const auto& waits = profile_.waits.waits;
  const auto wait = std::ranges::upper_bound(waits, std::pair(segment.thread, segment.range.end), {}, by_end);
  const bool waits_then =
      wait != waits.end() && wait->thread == segment.thread && wait->begin_ns() == segment.range.end;
  if (waits_then) return wait->path;
  const PathId any = nearest_sample(segment, UINT64_MAX);
  return any.valid() ? any : PathId{0};
}

/// None where no sample is so near to its end.
PathId SegmentPaths::nearest_sample(const PathSegment& segment, uint64_t within_ns) const {
  const load::Samples& samples = profile_.samples;
  const size_t begin = first_[segment.thread.index()], end = first_[segment.thread.index() + 1];
  const auto times = samples.time_ns.begin();
  const auto next =
      size_t(std::lower_bound(times + ptrdiff_t(begin), times + ptrdiff_t(end), segment.range.end) - times);
  const auto is_near = [&](size_t i) {
    const uint64_t time = samples.time_ns[i], at = segment.range.end;
    return stands_for_moment(i) && (time > at ? time - at : at - time) <= within_ns;
  };
  for (size_t i = next; i < end && i < next + kLooks; ++i)
    if (is_near(i)) return samples.path[i];
  for (size_t i = next; i > begin && i + kLooks > next; --i)
    if (is_near(i - 1)) return samples.path[i - 1];
  return PathId::none();
}

PathTimes times_by_path(const load::Profile& profile, std::span<const PathSegment> segments,
                        const SegmentPaths& paths) {
  PathSet with(profile.paths.size());
  for (const PathSegment& segment : segments)
    paths.for_each(segment, [&](PathId path, uint64_t) { with.insert(path.index()); });
  with.close();
  PathTimes times(std::move(with), kPathMetricCount);
  for (const PathSegment& segment : segments) {
    uint64_t counted = 1;
    paths.for_each(segment, [&](PathId path, uint64_t length) {
      std::array<uint64_t, kPathMetricCount> numbers{length, counted};
      numbers[column_of(segment.what)] = length;
      times.add(path.index(), numbers);
      counted = 0;
    });
  }
  return times;
}

MetricTable times_by_thread(const load::Profile& profile, std::span<const PathSegment> segments) {
  MetricTable times(profile.threads.size() + 1, kPathMetricCount);
  for (const PathSegment& segment : segments) {
    std::array<uint64_t, kPathMetricCount> numbers{segment.range.length(), 1};
    numbers[column_of(segment.what)] = segment.range.length();
    times.add(segment.thread.valid() ? segment.thread.index() : profile.threads.size(), numbers);
  }
  return times;
}

ObjectKey object_of(const load::Profile& profile, const PathMove& move) {
  const ProcessId process = profile.threads[move.to.index()].process;
  if (move.wait != kNoWait) return key_of(profile, profile.waits.waits[move.wait]);
  // All starts are one object: a process each would fill a list with what a build is full of.
  if (!move.child) return {ProcessId::none(), format::ObjectKind::kNone, 0, 0};
  const int32_t pid = profile.processes[profile.threads[move.from.index()].process.index()].pid;
  return {process, format::ObjectKind::kChild, uint64_t(uint32_t(pid)), 0};
}

ObjectKey object_of(const load::Profile& profile, const PathSegment& segment) {
  const bool impact = segment.what == PathClass::kImpact;
  return object_of(profile, {0, impact ? segment.thread : segment.from,
                             impact ? segment.delayed : segment.thread, segment.wait, segment.child});
}

std::vector<PathDelay> path_delays(const load::Profile& profile, std::span<const PathSegment> segments,
                                   std::span<const PathMove> moves) {
  std::map<std::tuple<ObjectKey, ThreadId, ThreadId>, PathDelay> delays;
  const auto delay = [&](const ObjectKey& object, ThreadId from, ThreadId to) -> PathDelay& {
    PathDelay& row = delays[{object, from, to}];
    row.object = object, row.from = from, row.to = to;
    return row;
  };
  for (const PathMove& move : moves) ++delay(object_of(profile, move), move.from, move.to).moves;
  for (const PathSegment& segment : segments) {
    const bool impact = segment.what == PathClass::kImpact;
    const bool blocks = segment.what == PathClass::kBlocking && segment.wait != kNoWait;
    if (!impact && !blocks && segment.what != PathClass::kOverhead) continue;
    delay(object_of(profile, segment), impact ? segment.thread : segment.from,
          impact ? segment.delayed : segment.thread)
        .times[size_t(segment.what)] += segment.range.length();
  }
  std::vector<PathDelay> rows;
  for (auto& [key, row] : delays) rows.push_back(row);
  return rows;
}

}  // namespace varve::analyze
