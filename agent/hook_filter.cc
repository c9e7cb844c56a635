// SPDX-License-Identifier: MIT
// What a program forbids itself: filters of system calls (seccomp), system calls at all (syscall user
// dispatch), reading the time stamp counter. Where that would end the program for what the agent does it ends
// the recording of this process instead, before it holds; a filter that would do so for events alone ends
// ticks from these. Not seen: filters set past the C library's prctl() and syscall(), the rest past prctl().
// Context: any thread of the target.
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <atomic>
#include <cstdarg>

#include "agent/call_filter.h"
#include "agent/hooks.h"
#include "agent/image.h"
#include "agent/real.h"
#include "agent/signal/agent_state.h"
#include "agent/signal/filtered.h"
#include "agent/system_calls.h"

namespace varve::agent {
namespace {

Real<int(int, unsigned long, unsigned long, unsigned long, unsigned long)> real_prctl{"prctl"};

void before_filter(const void* argument) {
  const auto* filter = static_cast<const sock_fprog*>(argument);
  // To ask what the kernel offers, as libseccomp does.
  if (!filter) return;
  filters_tried.store(false, std::memory_order_relaxed);  // of a child by raw clone, too, which has hooks
  if (!in_recorded_process()) return;
  if (would_harm(filter)) return leave_image();
  if (would_harm_events(filter)) agent_state.events_allowed.store(false, std::memory_order_relaxed);
}

void before_mode_without_us() {
  if (in_recorded_process()) leave_image();
}

/// Where a system call becomes SIGSYS, and a clock SIGSEGV, in whoever asks.
bool is_mode_without_us(int option, unsigned long value) {
  return (option == PR_SET_SECCOMP && value == SECCOMP_MODE_STRICT) ||
         (option == PR_SET_SYSCALL_USER_DISPATCH && value != PR_SYS_DISPATCH_OFF) ||
         (option == PR_SET_TSC && value == PR_TSC_SIGSEGV);
}

}  // namespace

void before_seccomp(long operation, long flags, const void* argument) {
  if (unsigned(operation) == SECCOMP_SET_MODE_FILTER) before_filter(argument);
  // With anything beside it is refused, which libseccomp asks for, too.
  if (unsigned(operation) == SECCOMP_SET_MODE_STRICT && !unsigned(flags) && !argument)
    before_mode_without_us();
}

void resolve_filter_hooks() { real_prctl.get(); }

VARVE_HOOK int prctl(int option, ...) noexcept {
  va_list list;
  va_start(list, option);
  unsigned long values[4];
  for (unsigned long& value : values) value = va_arg(list, unsigned long);
  va_end(list);
  if (option == PR_SET_SECCOMP && values[0] == SECCOMP_MODE_FILTER)
    before_filter(reinterpret_cast<void*>(values[1]));
  if (is_mode_without_us(option, values[0])) before_mode_without_us();
  return real_prctl(option, values[0], values[1], values[2], values[3]);
}

}  // namespace varve::agent
