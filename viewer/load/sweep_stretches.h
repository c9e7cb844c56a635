// SPDX-License-Identifier: MIT
// SweepStretches: from the sums that sweeps read to stretches of each thread. The kernel adds up late: time
// on a processor up to a tick later, time as ready not before the wait for a processor has ended. So a sweep
// may tell of more than the time since the one before; what is too much belongs to the time before, and is
// put there. Context: viewer, one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "viewer/load/run_states.h"

namespace varve::load {

class SweepStretches {
 public:
  /// What a sweep says of one thread: in the `length_ns` from `begin_ns` on it was charged so much.
  struct Told {
    uint64_t begin_ns = 0, length_ns = 0;
    uint64_t ran_ns = 0, ready_ns = 0;
    uint16_t quanta = 0;
    uint16_t processor = RunEvent::kNoProcessor;
  };

  /// In the order of time. What overlaps the stretch before is dropped.
  void add(TrackId track, const Told& told);

  /// Appends the events of all threads to `events`, a thread's in the order of time. Nothing is put before
  /// the start of a track.
  void append_events(const std::vector<Track>& tracks, std::vector<RunEvent>& events);

 private:
  /// A wait for a processor longer than an hour is made up.
  static constexpr uint64_t kLongestWaitNs = 3'600'000'000'000;

  static void append_track(const Track& track, TrackId id, std::vector<Told>& told,
                           std::vector<RunEvent>& events);

  std::vector<std::vector<Told>> by_track_;
};

}  // namespace varve::load
