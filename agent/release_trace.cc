// SPDX-License-Identifier: MIT
// Releases of what threads wait for. See wait_trace.h.
// Context: any thread of the target, its signal handlers included.
#include "agent/signal/agent_state.h"
#include "agent/signal/clock.h"
#include "agent/wait_records.h"

namespace varve::agent {

using format::ObjectKind;

namespace {

/// Who has waited for less will most often have waited for less than what is a record.
uint64_t least_ns() { return agent_state.wait_min_ns / 2; }

}  // namespace

void Releasing::look() {
  // The calling thread has the lock still: no more than a look where there are too many anyway.
  if (!wait_allowance.has_any(recent_ns())) return;
  const uint64_t now = monotonic_ns(), since = wait_trace.waiters.since_ns(place_);
  if (!current_block || !current_block->live || !has_room(*current_block, this)) return;
  if (now < since + least_ns()) {
    noted_ns_ = now;
    return wait_trace.release_notes.add(object_, current_block->record->index, now);
  }
  if (!wait_allowance.take(now)) return;
  waiters_ = wait_trace.waiters.count(place_);
  if (place_ != object_) wait_trace.waiters.unlock_at(object_, now);
  waited_ns_ = now - since;
  time_ns_ = now;
}

void Releasing::note() const {
  write_now({format::RecordKind::kRelease, kind_, object_, time_ns_, waited_ns_, uint64_t(waiters_)});
}

/// Those that are still there by now will have waited for long, for a processor in the end.
void note_last_to_come(uint64_t barrier, uint64_t came_ns, int32_t others) {
  const Waiters& waiters = wait_trace.waiters;
  const uint64_t now = monotonic_ns();
  const bool long_waits = waiters.count(barrier) > 0 || now >= waiters.since_ns(barrier) + least_ns();
  if (!long_waits || now < came_ns || !wait_allowance.take(now)) return;
  write_now({format::RecordKind::kRelease, ObjectKind::kBarrier, barrier, came_ns, now - came_ns,
             uint64_t(others > 0 ? others : 1)});
}

void note_signal(uint64_t condition, int32_t threads) {
  if (anybody_waits(condition)) wait_trace.waiters.signal(condition, threads, monotonic_ns());
}

void note_release(ObjectKind kind, uint64_t object, uint64_t time_ns) {
  write_now({format::RecordKind::kRelease, kind, object, time_ns, 0, 1});
}

}  // namespace varve::agent
