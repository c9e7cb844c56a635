// SPDX-License-Identifier: MIT
// Waits: what threads waited for, as their own agents saw it, and who let them go on. Short waits come added
// up, several in one row without a stack. Not the run states: those are the observer's, and know of waits
// that no hook saw. Context: viewer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
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
  uint32_t name = 0;  // of a descriptor: in Waits::names
  uint32_t flow = 0;  // likewise: what it waited for comes by it, in whatever process; 0: not known

  uint64_t begin_ns() const { return end_ns - std::min(duration_ns, end_ns); }
};

struct Release {
  uint64_t time_ns = 0;    // CLOCK_MONOTONIC
  uint64_t waited_ns = 0;  // since the longest wait began
  uint64_t object = 0;
  ThreadId thread;  // that let others go on
  PathId path;
  uint32_t waiters = 0;  // as far as its agent knew; at least one
  format::ObjectKind kind = format::ObjectKind::kNone;
  uint32_t flow = 0;  // of a descriptor: who waits for it goes on
};

struct Waits {
  std::vector<Wait> waits;        // by thread, then by end
  std::vector<Release> releases;  // likewise, by time
  /// What descriptors were: "socket 127.0.0.1:80", else as in /proc/PID/fd. The first is not known.
  std::vector<std::string> names = {""};

  bool empty() const { return waits.empty() && releases.empty(); }
  void sort() {
    std::ranges::stable_sort(waits, {}, [](const Wait& row) { return std::tuple(row.thread, row.end_ns); });
    std::ranges::stable_sort(releases, {},
                             [](const Release& row) { return std::tuple(row.thread, row.time_ns); });
  }
};

}  // namespace varve::load
