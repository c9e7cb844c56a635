// SPDX-License-Identifier: MIT
// Where threads come from: a thread from the one that created it, a process from its parent, an image from
// the one before it. And which thread ended the run. Context: viewer.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "viewer/analyze/thread_activity.h"
#include "viewer/load/profile.h"

namespace varve::analyze {

struct Origin {
  ThreadId thread;         // none: not known, or there is none
  uint64_t time_ns = 0;    // CLOCK_MONOTONIC: of the call that made it
  bool same_flow = false;  // the same thread of the kernel, before an exec
};

class Origins {
 public:
  explicit Origins(const load::Profile& profile);

  Origin of(ThreadId thread) const;
  /// Whether it belongs to the process that the run began with.
  bool is_command(ThreadId thread) const;

 private:
  ThreadId image_before(const load::Process& process) const;
  ThreadId parent_at(const load::Process& process, uint64_t time) const;

  const load::Profile& profile_;
  std::vector<ThreadId> mains_;                                // by process
  std::map<std::pair<int32_t, uint64_t>, uint32_t> by_start_;  // pid and start: row of Profile::processes
  int32_t command_ = 0;                                        // pid
};

/// By row of Profile::processes: its main thread, else any; none where no thread of it is known.
std::vector<ThreadId> main_threads(const load::Profile& profile);

/// When the process ended: as it said itself, else when it was reaped; 0: not known.
uint64_t end_of_process(const load::Process& process);

/// The agent's last look at a thread's clock comes before the kernel lets those go on who wait for its end,
/// and the kernel's word of the end after it; either may be late on a busy machine.
inline constexpr uint64_t kEndTolerance = 10 * kNanosPerMilli.count;

/// The thread that the run ended with: of the process that ended last the one that was active last. None in a
/// profile without threads.
ThreadId last_thread(const load::Profile& profile, const ThreadActivity& activity);

}  // namespace varve::analyze
