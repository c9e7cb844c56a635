// SPDX-License-Identifier: MIT
// See wait_kinds.h.
// Context: viewer.
#include "viewer/load/wait_kinds.h"

#include <algorithm>
#include <array>
#include <utility>

#include "viewer/load/threads_by_track.h"

namespace varve::load {
namespace {

using format::ObjectKind;

constexpr std::array<WaitKind, size_t(ObjectKind::kCount)> kKinds = {
    WaitKind::kOther,  // kNone
    WaitKind::kLock,      WaitKind::kLock,  WaitKind::kCondition, WaitKind::kCondition, WaitKind::kCondition,
    WaitKind::kJoin,      WaitKind::kJoin,  WaitKind::kSleep,     WaitKind::kIo,        WaitKind::kIo,
    WaitKind::kCondition,  // kFutex
    WaitKind::kCondition, WaitKind::kSleep, WaitKind::kIo,        WaitKind::kCondition, WaitKind::kIo,
};

/// What the thread was blocked for: the wait that lasts when that begins, else a sum that may have it. Null:
/// not known, or agents' sums of several kinds may. (What looks stand for goes to the nearest.)
const Wait* wait_in(const std::vector<Wait>& waits, ThreadId thread, uint64_t begin_ns, uint64_t end_ns,
                    uint64_t blocked_ns) {
  const auto key = [](const Wait& wait) { return std::pair(wait.thread, wait.end_ns); };
  // Those of a handler that interrupted it later may come before it.
  constexpr int kMostLooks = 8;
  const Wait* sum = nullptr;
  bool several = false;
  auto at = std::ranges::upper_bound(waits, std::pair(thread, begin_ns), {}, key);
  for (int looks = 0; looks < kMostLooks && at != waits.end() && at->thread == thread; ++looks, ++at) {
    if (!at->is_sum() && at->begin_ns() <= begin_ns) return &*at;
    if (!at->is_sum() || !may_be_of(*at, blocked_ns, end_ns)) continue;
    const bool told = sum && !sum->observed && !at->observed;
    several |= told && kKinds[size_t(sum->kind)] != kKinds[size_t(at->kind)];
    if (!sum) sum = &*at;
  }
  return several ? nullptr : sum;
}

}  // namespace

void tell_wait_kinds(Profile& profile) {
  const std::vector<Wait>& waits = profile.waits.waits;
  if (waits.empty()) return;
  const ThreadsByTrack threads(profile);
  RunStates& states = profile.run_states;
  std::vector<uint64_t> next(states.tracks.size(), states.end.count);  // by track: its event after this one
  for (size_t row = states.events.size(); row-- > 0;) {
    RunEvent& event = states.events[row];
    const uint64_t end = std::max(std::exchange(next[event.track.index()], event.time_ns), event.time_ns);
    if (event.active() == RunEvent::kWhole || event.ended) continue;
    const ThreadId thread = threads.at(event.track, event.time_ns);
    if (!thread.valid()) continue;
    const double blocked = 1 - double(event.active()) / RunEvent::kWhole;
    const auto blocked_ns = uint64_t(double(end - event.time_ns) * blocked);
    const Wait* wait = wait_in(waits, thread, event.time_ns, end, blocked_ns);
    // What the observer saw of it says more than what is likely, or than the system call alone.
    if (wait && (event.wait == WaitKind::kOther || (!wait->is_sum() && !wait->observed)))
      event.wait = kKinds[size_t(wait->kind)];
  }
}

}  // namespace varve::load
