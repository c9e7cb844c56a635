// SPDX-License-Identifier: MIT
// RunStates: what every thread did at every moment, as the observer saw it: events in the order of time, each
// of which holds for its thread until that thread's next event. Both sources give the same events. Exact
// switches say "runs" or "is ready"; a sweep says what share of a stretch the thread ran and was ready, in no
// known order. Not the analysis: levels, bands and sums are analyze/concurrency. Context: viewer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/ids.h"
#include "common/observer_format.h"
#include "common/run_state.h"
#include "common/units.h"

namespace varve::load {

/// A thread of the kernel's, over its whole life; load::Thread is one image's part of it.
struct Track {
  int32_t pid = 0;
  int32_t tid = 0;
  int32_t ppid = 0;
  std::string name;
  bool start_seen = false;  // else `start` is the first look at it
  Nanos start;              // CLOCK_MONOTONIC
  Nanos end;                // zero: lived when observation ended
  Nanos last_seen;          // it lived then: by sweeps its end is known to the length of one
  uint32_t voluntary_switches = format::kUnknownCount;
  uint32_t involuntary_switches = format::kUnknownCount;
  int32_t own_tid = 0;  // in a pid namespace of its own, where the observer knows it
};

struct RunEvent {
  /// Of a share that is the whole.
  static constexpr uint16_t kWhole = UINT16_MAX;
  static constexpr uint16_t kNoProcessor = UINT16_MAX;
  /// Linux's own limit on x86; a higher number is a damaged profile's.
  static constexpr uint16_t kMostProcessors = 8192;

  uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  TrackId track{};
  uint16_t running = 0;  // share of the time until the track's next event; running + ready <= kWhole
  uint16_t ready = 0;    // the rest: blocked
  uint16_t processor = kNoProcessor;  // it last ran on
  uint16_t quanta = 0;                // times it was switched in, from this event to the next
  WaitKind wait = WaitKind::kOther;   // what it is blocked on
  bool ended = false;                 // the thread is no more

  uint32_t active() const { return uint32_t(running) + ready; }
};

struct RunStates {
  enum class Source : uint8_t { kNone, kSwitches, kSweeps };

  Source source = Source::kNone;
  std::vector<Track> tracks;
  std::vector<RunEvent> events;  // by time
  Nanos begin, end;              // of what was observed
  uint64_t lost = 0;             // switch records

  bool known() const { return source != Source::kNone && !tracks.empty(); }
};

}  // namespace varve::load
