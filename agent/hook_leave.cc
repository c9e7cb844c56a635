// SPDX-License-Identifier: MIT
// Ways out of a wait other than its return: a longjmp out of a signal handler that interrupted it, and
// cancellation. A longjmp says in its buffer where the stack will end, so the waits below that are over.
// Cancellation unwinds the stack without a word to us; but the thread that asks for it says when. Not here:
// exceptions out of handlers, and pthread_exit. Context: any thread of the target, its signal handlers
// included.
#include <pthread.h>
#include <setjmp.h>

#include "agent/hooks.h"
#include "agent/image.h"
#include "agent/real.h"
#include "agent/signal/clock.h"
#include "agent/signal_block.h"
#include "agent/thread_registry.h"
#include "agent/wait_trace.h"

namespace varve::agent {
namespace {

using Jump = void(__jmp_buf_tag*, int);
Real<Jump> real_longjmp{"longjmp"};
Real<Jump> real_short_longjmp{"_longjmp"};
Real<Jump> real_siglongjmp{"siglongjmp"};
Real<Jump> real_checked_longjmp{"__longjmp_chk"};
Real<int(pthread_t)> real_cancel{"pthread_cancel"};

/// glibc keeps it turned and mixed with a secret of the process (x86_64/jmpbuf-offsets.h, pointer_guard.h).
uint64_t stack_pointer_in(const __jmp_buf_tag* buffer) {
  constexpr int kStackPointer = 6;
  auto value = uint64_t(buffer->__jmpbuf[kStackPointer]);
  asm("ror $17, %0\n\txor %%fs:0x30, %0" : "+r"(value) : : "cc");
  return value;
}

void leave_waits(const __jmp_buf_tag* buffer) {
  ThreadBlock* block = traces_waits() ? current_block : nullptr;
  if (block && block->live && (block->open_scope || block->in_wait_trace))
    end_waits_below(*block, stack_pointer_in(buffer));
}

[[noreturn]] void jump(Real<Jump>& real, __jmp_buf_tag* buffer, int value) {
  leave_waits(buffer);
  real(buffer, value);
  __builtin_unreachable();
}

}  // namespace

void resolve_leave_hooks() {
  real_longjmp.get(), real_short_longjmp.get(), real_siglongjmp.get(), real_checked_longjmp.get();
  real_cancel.get();
}

VARVE_HOOK void longjmp(__jmp_buf_tag* buffer, int value) noexcept { jump(real_longjmp, buffer, value); }
VARVE_HOOK void _longjmp(__jmp_buf_tag* buffer, int value) noexcept {
  jump(real_short_longjmp, buffer, value);
}
VARVE_HOOK void siglongjmp(__jmp_buf_tag* buffer, int value) noexcept {
  jump(real_siglongjmp, buffer, value);
}
VARVE_HOOK __attribute__((noreturn)) void __longjmp_chk(__jmp_buf_tag* buffer, int value) noexcept {
  jump(real_checked_longjmp, buffer, value);
}

VARVE_HOOK int pthread_cancel(pthread_t thread) {
  clockid_t clock;
  if (traces_waits() && in_recorded_process() && pthread_getcpuclockid(thread, &clock) == 0) {
    SignalBlock guard;
    note_cancellation(tid_of(clock), monotonic_ns());
  }
  return real_cancel(thread);
}

}  // namespace varve::agent
