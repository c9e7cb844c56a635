// SPDX-License-Identifier: MIT
// Releases of what threads wait for. See wait_trace.h.
// Context: any thread of the target, its signal handlers included.
#include <algorithm>

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
  if (!release_allowance.has_any(recent_ns())) return;
  const uint64_t now = monotonic_ns(), since = wait_trace.waiters.since_ns(place_);
  if (!current_block || !current_block->live || !has_room(*current_block, this)) return;
  if (now < since + least_ns()) {
    if (sure_ == Sure::kBefore) return note(now);  // so that those find it that go on
    time_ns_ = now;
    return;
  }
  if (!release_allowance.take(now)) return;
  waiters_ = std::max(wait_trace.waiters.count(place_), 1);
  if (place_ != object_) wait_trace.waiters.unlock_at(object_, now);
  waited_ns_ = now - since;
  time_ns_ = now;
}

void Releasing::note(uint64_t time_ns) const {
  wait_trace.release_notes.add(kind_, object_, current_block->record->index, time_ns);
}

void Releasing::tell() const {
  if (waiters_ == 0) return note(time_ns_);
  write_now({format::RecordKind::kRelease, kind_, object_, time_ns_, waited_ns_, uint64_t(waiters_)});
}

/// Who is woken late may lose its processor before the caller has it back: the release is told by then, and
/// by who waited long after all where it was not. A note has the time of the end of the call, for who came
/// before the caller need not have been counted before it.
void note_last_to_come(const LastToCome& last) {
  const uint64_t now = monotonic_ns();
  if (now < last.came_ns) return;
  wait_trace.waiters.let_go(last.barrier, now);
  if (now < last.since_ns + least_ns())
    return wait_trace.release_notes.add(ObjectKind::kBarrier, last.barrier, current_block->record->index,
                                        now);
  if (!release_allowance.take(now)) return;
  write_now({format::RecordKind::kRelease, ObjectKind::kBarrier, last.barrier, last.came_ns,
             now - last.came_ns, uint64_t(std::max(last.others, 1))});
}

void note_signal(uint64_t condition, int32_t threads) {
  wait_trace.waiters.signal(condition, threads, monotonic_ns());
}

void note_release(ObjectKind kind, uint64_t object, uint64_t time_ns) {
  write_now({format::RecordKind::kRelease, kind, object, time_ns, 0, 1});
}

}  // namespace varve::agent
