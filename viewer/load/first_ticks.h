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

/// The CPU time of a thread up to which its later samples have more ticks than its first, which came by a CPU
/// timer, says: where threads get events at their first tick, and these are nearer than the scheduler's
/// ticks. There what they have up to that belongs to the place of the first. Zero elsewhere.
Nanos early_ticks_until(const Session& session);

/// Remembers a sample that is the first of its thread, and its row of the table of samples.
void note_first(ThreadFacts& facts, uint64_t time_ns, uint64_t weight_ns, PathId path, size_t row);

/// Of the weight of a sample behind `before` ns of its thread's CPU time: what belongs to the thread's first,
/// as early_ticks_until() says.
uint64_t early_part(ThreadFacts& facts, Nanos until, uint64_t before, uint64_t weight_ns);

/// The rows, of which residual time is at the places of first samples: of the thread's own, then of those of
/// threads that begin likewise (same program, same start routine); the rest, and what the kernel took for
/// ends of threads and processes, stays what it was. Each thread keeps its sum. Only where the error would be
/// larger than that of as many random samples: residual / CPU > 1 / sqrt(samples). `facts` has a row a
/// thread. Fills Profile::residual_placed.
std::vector<LedgerRow> place_at_first_ticks(Profile& profile, const std::vector<ThreadFacts>& facts,
                                            const std::vector<LedgerRow>& rows);

}  // namespace varve::load
