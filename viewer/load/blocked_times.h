// SPDX-License-Identifier: MIT
// BlockedTimes: when one thread was blocked, as the observer saw it. Switches say it to the nanosecond; a
// sweep in which the thread also ran knows how long, and not when. Context: viewer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "viewer/load/run_states.h"

namespace varve::load {

struct BlockedStretch {
  uint64_t begin = 0, end = 0;

  uint64_t length() const { return end > begin ? end - begin : 0; }
  uint64_t shared_with(BlockedStretch other) const {
    return BlockedStretch{begin > other.begin ? begin : other.begin, end < other.end ? end : other.end}
        .length();
  }
};

class BlockedTimes {
 public:
  /// `events`: rows of RunStates::events, all of one track.
  BlockedTimes(const RunStates& states, std::span<const uint32_t> events)
      : states_(states), events_(events) {}

  /// The stretch around a time in which the thread did nothing but wait; none where it did more, or nobody
  /// knows. By sweeps its ends are estimates.
  std::optional<BlockedStretch> around(uint64_t time_ns);
  /// Of the last event in which the thread was blocked at all; 0 where it never was.
  uint64_t last_end_ns() const;

  struct Part {
    BlockedStretch within;    // from an event to the next
    uint64_t blocked_ns = 0;  // of that
    uint32_t waits = 0;       // that were in it, as far as is known; one at the least
  };
  size_t size() const { return events_.size(); }
  /// The event that lasts at a time; the first where none had begun.
  size_t at(uint64_t time_ns) const;
  /// Of an event; blocked_ns is 0 where the thread was not blocked at all.
  Part part(size_t i) const;

 private:
  const RunEvent& event(size_t i) const { return states_.events[events_[i]]; }
  bool is_blocked(size_t i) const;
  bool is_partly_blocked(size_t i) const;
  uint64_t time_after(size_t i) const;
  uint64_t blocked_in(size_t i) const;
  uint64_t begin_of(size_t first) const;
  uint64_t end_of(size_t last) const;

  const RunStates& states_;
  std::span<const uint32_t> events_;
  size_t first_ = 1,
         last_ = 0;  // of the blocked events that were found last: a damaged profile may have many
};

}  // namespace varve::load
