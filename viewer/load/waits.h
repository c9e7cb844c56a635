// SPDX-License-Identifier: MIT
// Waits: what threads waited for, as their own agents saw it, and who let them go on. Short waits come added
// up, several in one row without a stack. What no hook saw is here as far as the observer looked at it; the
// rest is known to the run states only. Context: viewer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "common/ids.h"
#include "common/units.h"
#include "common/wait_format.h"

namespace varve::load {

struct Wait {
  uint64_t end_ns = 0;       // CLOCK_MONOTONIC; of the last one of a row of several
  uint64_t duration_ns = 0;  // of all of them
  uint64_t object = 0;       // see format::ObjectKind; of the process of the thread
  ThreadId thread;
  PathId path;
  uint32_t count = 1;
  format::ObjectKind kind = format::ObjectKind::kNone;
  uint32_t name = 0;            // of a descriptor: in Waits::names; before, 1 + row of WaitLooks::files
  uint32_t flow = 0;            // likewise: what comes by it, in whatever process; 0: not known
  uint32_t creation = 0;        // of an object in memory: 1 + the row of Waits::creations; 0: not seen
  bool timed_out = false;       // its own time was over; nobody let the thread go on
  bool observed = false;        // from outside, by the observer: no hook saw it
  bool observed_stack = false;  // only its stack is the observer's: the hook took none
  bool in_pieces = false;       // the observer's, not one stretch before end_ns, whatever `count` came out as

  /// Of several waits, and when they were nobody knows: only the time of all, and the end of the last.
  bool is_sum() const { return count != 1 || in_pieces; }
  uint64_t begin_ns() const { return end_ns - std::min(duration_ns, end_ns); }
};

/// From the first to the last wait of a sum: of an agent's (agent/signal/short_waits.h), and of one that
/// looks stand for.
inline constexpr uint64_t kMostSumAgeNs = 10 * kNanosPerMilli.count, kMostLookAgeNs = kNanosPerSecond.count;
/// Whether a sum that has not ended before may have a time in which the thread was blocked for so long, until
/// `end_ns`. What looks stand for is shared out, so that its time may be less.
inline bool may_be_of(const Wait& sum, uint64_t blocked_ns, uint64_t end_ns) {
  if (sum.observed) return sum.end_ns <= end_ns + kMostLookAgeNs;
  return sum.duration_ns >= blocked_ns && sum.end_ns <= end_ns + kMostSumAgeNs;
}

struct Release {
  uint64_t time_ns = 0;    // CLOCK_MONOTONIC
  uint64_t waited_ns = 0;  // since the longest wait began; of a barrier how long the call took
  uint64_t object = 0;
  ThreadId thread;  // that let others go on
  PathId path;
  uint32_t waiters = 0;  // as far as its agent knew; at least one
  format::ObjectKind kind = format::ObjectKind::kNone;
  uint32_t flow = 0;  // of a descriptor: who waits for it goes on
};

/// An object was initialized, or destroyed.
struct Creation {
  uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  uint64_t object = 0;
  ThreadId thread;
  PathId path;
  format::ObjectKind kind = format::ObjectKind::kNone;
  bool made = true;
  uint32_t life = 0;  // of those at its address that threads waited for, from 1; 0: nobody waited for it
};

/// An object in the data of a module: a variable, or a part of one.
struct ObjectPlace {
  ProcessId process;
  uint64_t address = 0;
  SiteId site;  // of the data, named as sites of code are
};

/// A process that had a pipe as standard input, output or error.
struct PipeEnd {
  uint32_t flow = 0;
  bool reads = false;
  ProcessId process;
  constexpr auto operator<=>(const PipeEnd&) const = default;
};

/// How the name begins of what sums of waits for files are for where looks saw each of them once: there are
/// others. "[several files of sha256sum]", in all processes of a program.
inline constexpr std::string_view kSeveralFiles = "[several files of ";

/// What a descriptor is by its name: a file on a disk, which a terminal is not; a pipe without a path.
inline bool is_file_name(std::string_view name) {
  return name.starts_with(kSeveralFiles) || (name.starts_with('/') && !name.starts_with("/dev/"));
}
inline constexpr std::string_view kPipeName = "pipe:";  // how it begins
inline bool is_pipe_name(std::string_view name) { return name.starts_with(kPipeName); }

struct Waits {
  std::vector<Wait> waits;          // by thread, then by end
  std::vector<Release> releases;    // likewise, by time
  std::vector<Creation> creations;  // likewise
  /// What descriptors were: "socket 127.0.0.1:80", else as in /proc/PID/fd. The first is not known.
  std::vector<std::string> names = {""};
  std::vector<ObjectPlace> places;  // by process, then by address
  std::vector<PipeEnd> pipe_ends;   // by flow, each once

  bool empty() const { return waits.empty() && releases.empty(); }
  /// None where the object is in no module.
  SiteId place_of(ProcessId process, uint64_t address) const;
  void sort();
};

}  // namespace varve::load
