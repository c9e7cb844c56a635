// SPDX-License-Identifier: MIT
// Children that the program reaps: what the kernel charged each, which nobody else can learn. A child's own
// clocks end before the kernel takes down its memory, which is most of the CPU time of a short process that
// used much. Context: any thread of the target, its signal handlers included; also in vfork children.
#include <sys/wait.h>

#include <cerrno>
#include <cstring>

#include "agent/children.h"
#include "agent/event_log.h"
#include "agent/hooks.h"
#include "agent/image.h"
#include "agent/real.h"
#include "agent/signal/agent_state.h"
#include "agent/signal/clock.h"
#include "agent/wait_trace.h"
#include "common/process_usage.h"

namespace varve::agent {
namespace {

Real<pid_t(pid_t, int*, int, rusage*)> real_wait4{"wait4"};
Real<int(idtype_t, id_t, siginfo_t*, int)> real_waitid{"waitid"};
constinit EventLog reaped;

/// A child that a process reaps after its own last look at its clocks, in a late destructor, is no part of
/// what its end takes.
void note_late_child(format::ProcessRecord& process) {
  if (process.end_kind != uint32_t(format::ImageEnd::kUnknown)) process.children_cpu_ns = children_cpu_ns();
}

void note_child(pid_t pid, int status, const rusage& usage) {
  if (!in_recorded_process() || !agent_state.follow) return;
  if (agent_state.state() == format::ControlState::kStopped) return;
  const uint64_t now = monotonic_ns();
  const format::ProcessExitRecord record = format::exit_record(pid, status, usage, now);
  EventGuard guard(reaped);
  note_late_child(*agent_state.process);
  uint8_t* out = reaped.begin_record(sizeof record, now);
  if (!out) return count(format::Counter::kChildrenLost);
  std::memcpy(out, &record, sizeof record);
  reaped.commit(sizeof record, now);
}

pid_t wait_for_child(pid_t pid, int* status, int options, rusage* usage) {
  Waiting waiting(format::ObjectKind::kChild, pid > 0 ? uint64_t(pid) : 0, Asked::kNo);
  return real_wait4(pid, status, options, usage);
}

/// All of them by the one that tells what a child used. A cancellation point as the others are.
pid_t reap(pid_t pid, int* status, int options, rusage* usage) {
  int own_status = 0;
  rusage own_usage{};
  int& ended_as = status ? *status : own_status;
  rusage& used = usage ? *usage : own_usage;
  const pid_t child = wait_for_child(pid, &ended_as, options, &used);
  if (child <= 0 || (!WIFEXITED(ended_as) && !WIFSIGNALED(ended_as))) return child;
  const int saved_errno = errno;
  note_child(child, ended_as, used);
  errno = saved_errno;
  return child;
}

}  // namespace

void resolve_wait_hooks() { real_wait4.get(), real_waitid.get(); }

void forget_reaped_children() { reaped.begin_anew(); }

VARVE_HOOK pid_t wait(int* status) { return reap(-1, status, 0, nullptr); }
VARVE_HOOK pid_t waitpid(pid_t pid, int* status, int options) { return reap(pid, status, options, nullptr); }
VARVE_HOOK pid_t wait3(int* status, int options, rusage* usage) noexcept {
  return reap(-1, status, options, usage);
}
VARVE_HOOK pid_t wait4(pid_t pid, int* status, int options, rusage* usage) noexcept {
  return reap(pid, status, options, usage);
}
/// It may leave the child to be reaped later, and says nothing of what that used.
VARVE_HOOK int waitid(idtype_t type, id_t id, siginfo_t* info, int options) {
  Waiting waiting(format::ObjectKind::kChild, type == P_PID ? id : 0, Asked::kNo);
  return real_waitid(type, id, info, options);
}

}  // namespace varve::agent
