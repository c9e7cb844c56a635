// SPDX-License-Identifier: MIT
// See filter_trial.h.
// Context: viewer.
#include "viewer/record/filter_trial.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "common/agent_calls.h"
#include "viewer/record/child_task.h"
#include "viewer/record/host_facts.h"

namespace varve::record {
namespace {

/// A filter may ask another process, which may not answer; others answer at once.
constexpr int kPatienceMs = 5000;

void make_call(const AgentCall& call) {
  syscall(call.number, call.arguments[0], call.arguments[1], call.arguments[2], 0, 0, 0);
}

/// It says so itself that it came to the end: where SIGCHLD is ignored there is no status. A core of it would
/// be nobody's.
ChildTask make_calls() {
  return ChildTask([](const ChildTask::Send& send) {
    const rlimit none{};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    for (const AgentCall& call : kAgentCalls) make_call(call);
    for (const AgentCall& call : kFurtherAgentCalls) make_call(call);
    send("lives");
  });
}

bool has_filters(std::string_view status) {
  constexpr std::string_view kFiltered = "2";  // SECCOMP_MODE_FILTER
  return value_in(status, "Seccomp") == kFiltered;
}

struct Trial {
  uint32_t filters = 0;
  bool passed = true, killed = false;

  Trial() {
    const std::string status = small_file("/proc/self/status");
    if (!has_filters(status)) return;
    const std::string_view number = value_in(status, "Seccomp_filters");
    std::from_chars(number.data(), number.data() + number.size(), filters);
    ChildTask child = make_calls();
    const bool ended = child.pid() > 0 && child.ended_within(kPatienceMs);
    passed = ended && !child.received().empty();
    killed = ended && WIFSIGNALED(child.status());
  }
};

const Trial& trial() {
  static const Trial made;
  return made;
}

bool let_pass() {
  if (!trial().passed) errno = EPERM;
  return trial().passed;
}

}  // namespace

uint32_t tried_filters() { return trial().passed ? trial().filters : 0; }

std::string why_filtered() {
  if (trial().passed) return "";
  return trial().killed
             ? "a filter of system calls (seccomp) that varve was started with ends who asks for them"
             : "what a filter of system calls (seccomp) that varve was started with does could not be tried";
}

int open_perf_event(const perf_event_attr& attributes, pid_t process, int processor) {
  if (!let_pass()) return -1;
  return int(syscall(SYS_perf_event_open, &attributes, process, processor, -1, PERF_FLAG_FD_CLOEXEC));
}

bool read_process(pid_t process, uint64_t address, void* to, size_t size) {
  const iovec here{to, size}, there{reinterpret_cast<void*>(address), size};
  return let_pass() && process_vm_readv(process, &here, 1, &there, 1, 0) == ssize_t(size);
}

}  // namespace varve::record
