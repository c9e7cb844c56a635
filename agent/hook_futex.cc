// SPDX-License-Identifier: MIT
// Futexes of the program's own, by syscall(): those of the C++ library's static objects and of Rust are such.
// Any other system call is passed on by a jump, all six arguments as they are: a thread or process made so
// returns from here, too. Not here: code that has system calls of its own. Context: any thread of the target,
// its signal handlers included; also in vfork children.
#include <asm/unistd.h>
#include <linux/futex.h>

#include <iterator>

#include "agent/hooks.h"
#include "agent/real.h"
#include "agent/wait_trace.h"

namespace varve::agent {
namespace {

using format::ObjectKind;
using SystemCall = long(long, long, long, long, long, long, long);

Real<SystemCall> real_syscall{"syscall"};

enum class FutexUse : uint8_t { kOther, kWait, kRelease };

FutexUse use_of(long operation) {
  constexpr FutexUse kUses[] = {
      FutexUse::kWait,     // FUTEX_WAIT
      FutexUse::kRelease,  // FUTEX_WAKE
      FutexUse::kOther,    // FUTEX_FD
      FutexUse::kRelease,  // FUTEX_REQUEUE
      FutexUse::kRelease,  // FUTEX_CMP_REQUEUE
      FutexUse::kRelease,  // FUTEX_WAKE_OP
      FutexUse::kWait,     // FUTEX_LOCK_PI
      FutexUse::kRelease,  // FUTEX_UNLOCK_PI
      FutexUse::kOther,    // FUTEX_TRYLOCK_PI
      FutexUse::kWait,     // FUTEX_WAIT_BITSET
      FutexUse::kRelease,  // FUTEX_WAKE_BITSET
      FutexUse::kWait,     // FUTEX_WAIT_REQUEUE_PI
      FutexUse::kRelease,  // FUTEX_CMP_REQUEUE_PI
      FutexUse::kWait,     // FUTEX_LOCK_PI2
  };
  const auto command = unsigned(operation) & unsigned(FUTEX_CMD_MASK);
  return command < std::size(kUses) ? kUses[command] : FutexUse::kOther;
}

}  // namespace

/// What syscall() jumps to for other numbers; null until it is looked up.
extern "C" SystemCall* varve_next_syscall;
SystemCall* varve_next_syscall = nullptr;

/// syscall() of a futex, and of anything before what is behind it is known.
extern "C" [[gnu::used]] long varve_futex_call(long number, long word, long operation, long value, long time,
                                               long word2, long value3) {
  const auto call = [=] { return real_syscall(number, word, operation, value, time, word2, value3); };
  if (!varve_next_syscall) resolve_futex_hooks();
  const FutexUse use = number == __NR_futex && traces_waits() ? use_of(operation) : FutexUse::kOther;
  if (use == FutexUse::kWait) {
    Waiting waiting(ObjectKind::kFutex, uint64_t(word), Asked::kNo);
    return call();
  }
  if (use == FutexUse::kRelease) {
    Releasing releasing(ObjectKind::kFutex, uint64_t(word));
    return call();
  }
  return call();
}

void resolve_futex_hooks() { varve_next_syscall = real_syscall.get(); }

/// The hook. In C++ it could have a frame, and a thread that returns from here on another stack has none.
asm(R"(
  .pushsection .text
  .globl syscall
  .type syscall, @function
syscall:
  .cfi_startproc
  endbr64
  cmp $202, %rdi
  je varve_futex_call
  mov varve_next_syscall(%rip), %rax
  test %rax, %rax
  je varve_futex_call
  jmp *%rax
  .cfi_endproc
  .size syscall, .-syscall
  .popsection
)");
static_assert(__NR_futex == 202);

}  // namespace varve::agent
