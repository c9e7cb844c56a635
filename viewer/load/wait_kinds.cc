// SPDX-License-Identifier: MIT
// See wait_kinds.h.
// Context: viewer.
#include "viewer/load/wait_kinds.h"

#include <algorithm>
#include <array>

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

/// The wait of the thread that lasts at that time, else a sum that may have it; null: none.
const Wait* wait_at(const std::vector<Wait>& waits, ThreadId thread, uint64_t time_ns) {
  const auto key = [](const Wait& wait) { return std::pair(wait.thread, wait.end_ns); };
  // Those of a handler that interrupted it later may come before it.
  constexpr int kMostLooks = 8;
  const Wait* sum = nullptr;
  auto at = std::ranges::upper_bound(waits, std::pair(thread, time_ns), {}, key);
  for (int looks = 0; looks < kMostLooks && at != waits.end() && at->thread == thread; ++looks, ++at) {
    if (!at->is_sum() && at->begin_ns() <= time_ns) return &*at;
    if (at->is_sum() && !sum && may_be_of(*at, time_ns)) sum = &*at;
  }
  return sum;
}

}  // namespace

void tell_wait_kinds(Profile& profile) {
  const std::vector<Wait>& waits = profile.waits.waits;
  if (waits.empty()) return;
  const ThreadsByTrack threads(profile);
  for (RunEvent& event : profile.run_states.events) {
    if (event.active() == RunEvent::kWhole || event.ended) continue;
    const ThreadId thread = threads.at(event.track, event.time_ns);
    const Wait* wait = thread.valid() ? wait_at(waits, thread, event.time_ns) : nullptr;
    // What the observer saw of it says more than what is likely.
    if (wait != nullptr && (!wait->is_sum() || event.wait == WaitKind::kOther))
      event.wait = kKinds[size_t(wait->kind)];
  }
}

}  // namespace varve::load
