// SPDX-License-Identifier: MIT
// ThreadActivity: what is known of a thread between its waits: that it was active (running or ready), that
// the observer saw it blocked where no hook knows of a wait, or nothing. Not the waits that hooks saw: those
// are load::Waits. Context: viewer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "viewer/analyze/stretches.h"
#include "viewer/load/profile.h"

namespace varve::analyze {

enum class Activity : uint8_t { kActive, kBlocked, kUnknown };

class ThreadActivity {
 public:
  struct Piece {
    TimeRange range;
    Activity what = Activity::kUnknown;
    WaitKind wait = WaitKind::kOther;  // where blocked
    bool short_wait = false;           // active but for a wait that is too short to be told apart
  };

  explicit ThreadActivity(const load::Profile& profile);

  /// The last piece of what `thread` did from `begin` until before `end`, which is after `begin`: the caller
  /// goes on before it. No piece is empty. O(log events).
  Piece last_piece(ThreadId thread, uint64_t begin, uint64_t end) const;

  /// When the thread first ran code of the program: later than it began, where others were on the
  /// processors. Its start where nobody knows.
  uint64_t first_ran(ThreadId thread) const;
  /// When it was last seen running or ready; 0 where it was not observed.
  uint64_t last_active(ThreadId thread) const;
  /// Whether the observer saw it blocked at that time, whatever for.
  bool observed_blocked(ThreadId thread, uint64_t time) const;
  /// The last piece of [begin, end) as the observer alone saw it: blocked, or not for a moment, which is
  /// active; nothing is taken for a wait that hooks know.
  Piece last_observed(ThreadId thread, uint64_t begin, uint64_t end) const;
  /// Its end; where that is not known the last that was heard of it.
  uint64_t last_known(ThreadId thread) const;

 private:
  void index_events(const load::RunStates& states);
  void find_last_active(const load::RunStates& states);
  void index_waits(const load::Waits& waits, size_t threads);
  void find_last_signs();
  std::span<const uint32_t> events_of(TrackId track) const;
  uint64_t waited_in(ThreadId thread, TimeRange range) const;
  /// Of an event of `rows`, those of one thread.
  TimeRange stretch_of(std::span<const uint32_t> rows, size_t index) const;
  int64_t blocked_beyond_waits(ThreadId thread, std::span<const uint32_t> rows, size_t index) const;
  bool blocked_elsewhere(ThreadId thread, std::span<const uint32_t> rows, size_t index) const;

  const load::Profile& profile_;
  std::vector<uint32_t> first_event_;  // by track, and one more: where its events begin
  std::vector<uint32_t> events_;       // by track, then by time: rows of RunStates::events
  std::vector<uint64_t> last_active_;  // by track
  std::vector<uint32_t> first_wait_;   // by thread, and one more: rows of Waits::waits
  std::vector<uint64_t> waited_;       // by row of Waits::waits, and one more: ns of all before
  std::vector<uint64_t> last_sign_;    // by thread
};

}  // namespace varve::analyze
