// SPDX-License-Identifier: MIT
// The ledger: CPU time that the kernel charged and no sample stands for, as rows of its own, so that the rows
// of a profile add up. Start-up, residual, paused and lost time of each thread from its clocks; the rest from
// the kernel's own count. Context: viewer.
#pragma once

#include <vector>

#include "viewer/load/path_tree.h"
#include "viewer/load/profile.h"

namespace varve::load {

/// More than any run can use (292 years); what a damaged file claims beyond it is cut, so that sums never
/// wrap.
inline constexpr uint64_t kMostCpuNs = INT64_MAX;

/// The most that the kernel can take to end a thread after the last look at its clock: 25 us on a quiet
/// machine, 60 where its switches are recorded and other programs empty its caches.
inline constexpr Nanos kMostThreadEnd{100'000};

/// A row of Samples without a tick.
struct LedgerRow {
  ThreadId thread;  // none: of no thread
  Nanos time;
  Nanos weight;
  PathId path;
  SpecialSite kind;
};

/// What the ledger needs of a thread beside its row.
struct ThreadFacts {
  SiteId start_routine{};  // none where not known
  PathId above_start{0};   // what called that, as stacks have it; the empty path where none does
  Nanos first_sample{};    // CLOCK_MONOTONIC, as is last_sample; both zero without samples
  Nanos first_weight{};    // of that sample
  PathId first_path{};     // likewise
  size_t first_row = 0;    // likewise, in the table of samples
  Nanos last_sample{};
  Nanos last_look{};   // CLOCK_MONOTONIC: when its clock was read for Thread::end_cpu; zero where it was not
  Nanos kernel_end{};  // CPU time of its end in the kernel, as far as that is in Thread::end_cpu
  bool ended_process = false;  // charged with what the kernel took to end its process
};

/// Fills Thread::residual, Profile::kernel_cpu, residual and unsampled from the clocks of processes and
/// threads and the `sampled` sums, which must be there, and the tracks of threads where there are any. Ends
/// of threads are moved by what the kernel took for them. `facts` has a row a thread, and learns who ended
/// the processes.
std::vector<LedgerRow> make_ledger(Profile& profile, PathTree& tree, std::vector<ThreadFacts>& facts);

}  // namespace varve::load
