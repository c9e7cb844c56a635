// SPDX-License-Identifier: MIT
// The critical path of a run: the longest flow of execution from its start to its end, walked back from the
// end: from a thread that waited to the one that let it go on, from a thread to its creator. Every moment of
// the run is on it once, with one class. Shortening it shortens the run; nothing else does. Not what the time
// was spent on, nor its sums: path_sums.h. Context: viewer.
#pragma once

#include <cstdint>
#include <vector>

#include "viewer/analyze/stretches.h"
#include "viewer/load/profile.h"

namespace varve::analyze {

enum class PathClass : uint8_t {
  kCruise,       // the thread delays nobody else on the path
  kOverhead,     // from a release or a creation to the moment the other thread runs
  kBlocking,     // waits for something that is no thread of the run: I/O, a sleep, a time-out
  kImpact,       // the next thread of the path waits for this one
  kNotRecorded,  // nobody saw what went on
};
inline constexpr size_t kPathClasses = 5;

inline constexpr uint32_t kNoWait = UINT32_MAX;

struct PathSegment {
  TimeRange range{};  // CLOCK_MONOTONIC
  PathClass what = PathClass::kNotRecorded;
  ThreadId thread{};                     // of Overhead the one that is let go on; none: not known
  ThreadId from{};                       // of Overhead the one that lets it go on
  ThreadId delayed{};                    // of Impact the one that waits for it
  uint32_t wait = kNoWait;               // row of Waits::waits: of `delayed`, else of `thread`
  bool child = false;                    // no such row: for the end of a child process, as far as one can see
  WaitKind observed = WaitKind::kOther;  // of Blocking that no hook saw
  bool paused = false;                   // of kNotRecorded: because somebody said so
  bool unfollowed = false;               // likewise: a wait for another thread that was only added to others
};

/// The path went from one thread to another. Most take time, which is Overhead.
struct PathMove {
  uint64_t time_ns = 0;
  ThreadId from, to;
  uint32_t wait = kNoWait;  // that ended so; none: `to` was created, or its process was
  bool child = false;       // no such row: `from` was the end of a child process of `to`
};

struct CriticalPath {
  TimeRange run;
  std::vector<PathSegment> segments;  // by time; each begins where the one before ended: together the run
  std::vector<PathMove> moves;        // by time

  std::vector<uint64_t> by_class() const;  // ns by PathClass; the sum is run.length()
};

/// O(n log n) in waits, releases, threads and events of run states; it ends whatever the profile says.
CriticalPath critical_path(const load::Profile& profile);

}  // namespace varve::analyze
