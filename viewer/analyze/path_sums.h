// SPDX-License-Identifier: MIT
// What the critical path says in sums: the time of each class by concurrency level, by call path, by thread,
// and by the object that moved the path. Not the path itself: critical_path.h. Context: viewer.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "viewer/analyze/critical_path.h"
#include "viewer/analyze/levels.h"
#include "viewer/analyze/metrics.h"
#include "viewer/analyze/object_key.h"
#include "viewer/analyze/path_times.h"

namespace varve::analyze {

/// Columns of the tables below; times in ns. The first two stand where CPU time and samples do elsewhere, so
/// that lists are cut and sorted by the same code.
enum PathMetric : size_t {
  kPathTime = kCpu,
  kPathSegments = kSamples,  // that begin there
  kFirstPathClass = 2,       // then by PathClass
  kPathMetricCount = kFirstPathClass + kPathClasses,
};
constexpr size_t column_of(PathClass what) { return kFirstPathClass + size_t(what); }

using ClassTimes = std::array<uint64_t, kPathClasses>;

struct PathLevels {
  std::vector<ClassTimes> by_level;  // element i: at level i
  ClassTimes unobserved{};           // of moments whose level nobody knows
  std::vector<double> means;         // by segment; negative: not known
};
/// `segments` by time. Together the sums are the time of the segments.
PathLevels path_levels(std::span<const PathSegment> segments, const Levels& levels, uint64_t Level::*count);

/// What threads on the path did, by their samples: the time from one sample to the next is that of the later
/// one; where a segment has none, of the place where it ended (a wait, a release).
class SegmentPaths {
 public:
  explicit SegmentPaths(const load::Profile& profile);

  using Use = std::function<void(PathId, uint64_t)>;
  /// Calls use(path, ns) for parts of the segment, whose sum is its length. Path 0: not known.
  void for_each(const PathSegment& segment, const Use& use) const;

 private:
  void of_samples(const PathSegment& segment, const Use& use) const;
  PathId end_of(const PathSegment& segment) const;
  static constexpr size_t kLooks = 8;  // at rows, as some stand for no moment
  static constexpr size_t kNoRow = SIZE_MAX;
  bool stands_for_moment(size_t row) const;
  size_t next_moment(size_t row, size_t end) const;
  PathId nearest_sample(const PathSegment& segment, uint64_t within_ns) const;

  const load::Profile& profile_;
  std::vector<size_t> first_;  // by thread, and one more: rows of samples
};

/// By call path, for attribute(): of kPathMetricCount columns.
PathTimes times_by_path(const load::Profile& profile, std::span<const PathSegment> segments,
                        const SegmentPaths& paths);

/// A row each of Profile::threads, and one more for time of none. Overhead is of the thread that was let go
/// on.
MetricTable times_by_thread(const load::Profile& profile, std::span<const PathSegment> segments);

/// What moved the path there; of Blocking what was waited for; of kind kNone: the creation of a thread or
/// process.
ObjectKey object_of(const load::Profile& profile, const PathMove& move);
ObjectKey object_of(const load::Profile& profile, const PathSegment& segment);

/// One thread delayed another by an object.
struct PathDelay {
  ObjectKey object;
  ThreadId from, to;  // `from` none: `to` waited for no thread
  uint64_t moves = 0;
  ClassTimes times{};
};
/// By object, then by threads.
std::vector<PathDelay> path_delays(const load::Profile& profile, std::span<const PathSegment> segments,
                                   std::span<const PathMove> moves);

}  // namespace varve::analyze
