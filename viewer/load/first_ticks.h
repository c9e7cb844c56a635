// SPDX-License-Identifier: MIT
// What the first ticks of threads stand for. Ticks come to each moment of a thread's CPU time equally often,
// once an interval, so each stands for an interval; but the first is told only what was used since the
// thread began, and what comes after the last is residual. Nobody sees it in a thread of seconds. In threads
// shorter than an interval most time is residual, and of the rest what they do late has too much, for their
// ticks weigh the more the later they come. On average the first ticks lack just what the residual has, so
// that is put at their places. Context: viewer.
#pragma once

#include <vector>

#include "viewer/load/ledger.h"
#include "viewer/load/profile.h"

namespace varve::load {

/// CPU time from one tick to the next while a thread has its first: CPU timers expire on ticks of the
/// scheduler.
Nanos first_interval(const Session& session);

/// Part of a thread's CPU clock: there it may have ticks of two kinds.
struct EarlyTicks {
  Nanos from, until;
  Nanos longest;  // that an event can be from the tick before
};
/// Where threads get events once they have used format::kEventsAfterNs, at a tick of their timer, and these
/// are nearer than that one's ticks: that tick comes anywhere in the range, and what events have after it in
/// there is as much as the thread's first tick lacks. Empty elsewhere.
EarlyTicks early_ticks(const Session& session);

/// Remembers a sample that is the first of its thread, and its row of the table of samples.
void note_first(ThreadFacts& facts, uint64_t time_ns, uint64_t weight_ns, PathId path, size_t row);

/// Of the weight of a sample behind `before` ns of its thread's samples: what belongs to the thread's first
/// one, and is added to its weight in `facts`.
uint64_t early_part(const Thread& thread, ThreadFacts& facts, const EarlyTicks& early, uint64_t before,
                    uint64_t weight_ns);

/// The rows, of which residual time is at the places of first samples: of the thread's own, then of those of
/// threads that begin likewise (same program, same start routine); the rest, and what the kernel took for
/// ends of threads and processes, stays what it was. Each thread keeps its sum. Only where the error would be
/// larger than that of as many random samples: residual / CPU > 1 / sqrt(samples). `facts` has a row a
/// thread. Fills Profile::residual_placed.
std::vector<LedgerRow> place_at_first_ticks(Profile& profile, const std::vector<ThreadFacts>& facts,
                                            const std::vector<LedgerRow>& rows);

}  // namespace varve::load
