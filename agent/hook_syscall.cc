// SPDX-License-Identifier: MIT
// syscall(): calls that others of us want to see are handed on; any other is passed on by a jump, all six
// arguments as they are: a thread or process made so returns from here, too. Context: any thread of the
// target, its signal handlers included; also in vfork children.
#include <sys/syscall.h>

#include "agent/hooks.h"
#include "agent/real.h"
#include "agent/system_calls.h"

namespace varve::agent {
namespace {

using SystemCall = long(long, long, long, long, long, long, long);
Real<SystemCall> real_syscall{"syscall"};

}  // namespace

/// What syscall() jumps to for other numbers; null until it is looked up.
extern "C" SystemCall* varve_next_syscall;
SystemCall* varve_next_syscall = nullptr;

void resolve_syscall_hooks() { varve_next_syscall = real_syscall.get(); }

long call_system(long number, long a, long b, long c, long d, long e, long f) {
  return real_syscall(number, a, b, c, d, e, f);
}

/// What is handed on, and anything before what is behind the hook is known.
extern "C" [[gnu::used]] long varve_seen_call(long number, long a, long b, long c, long d, long e, long f) {
  if (!varve_next_syscall) resolve_syscall_hooks();
  if (number == __NR_futex) return call_futex(a, b, c, d, e, f);
  if (number == __NR_seccomp) before_seccomp(a, b, reinterpret_cast<const void*>(c));
  return call_system(number, a, b, c, d, e, f);
}

/// The hook. In C++ it could have a frame, and a thread that returns from here on another stack has none.
asm(R"(
  .pushsection .text
  .globl syscall
  .type syscall, @function
syscall:
  .cfi_startproc
  endbr64
  cmp $202, %rdi
  je varve_seen_call
  cmp $317, %rdi
  je varve_seen_call
  mov varve_next_syscall(%rip), %rax
  test %rax, %rax
  je varve_seen_call
  jmp *%rax
  .cfi_endproc
  .size syscall, .-syscall
  .popsection
)");
static_assert(__NR_futex == 202 && __NR_seccomp == 317);

}  // namespace varve::agent
