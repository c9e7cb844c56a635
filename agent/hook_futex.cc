// SPDX-License-Identifier: MIT
// Futexes of the program's own, by syscall(): those of the C++ library's static objects and of Rust are such.
// Not here: code that has system calls of its own. Context: any thread of the target, its signal handlers
// included; also in vfork children.
#include <asm/unistd.h>
#include <linux/futex.h>

#include <iterator>

#include "agent/system_calls.h"
#include "agent/wait_trace.h"

namespace varve::agent {
namespace {

using format::ObjectKind;
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

/// Those that return how many were woken, and nothing else.
bool woke_nobody(long operation, long result) {
  const long command = operation & FUTEX_CMD_MASK;
  const bool counts = command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET;
  return result < 0 || (counts && result == 0);
}

}  // namespace

long call_futex(long word, long operation, long value, long time, long word2, long value3) {
  const auto call = [=] { return call_system(__NR_futex, word, operation, value, time, word2, value3); };
  const FutexUse use = traces_waits() ? use_of(operation) : FutexUse::kOther;
  if (use == FutexUse::kWait) {
    Waiting waiting(ObjectKind::kFutex, uint64_t(word), Asked::kNo);
    return waiting.returned(call());
  }
  if (use == FutexUse::kRelease) {
    Releasing releasing(ObjectKind::kFutex, uint64_t(word), Sure::kAfter);
    const long result = call();
    if (woke_nobody(operation, result)) releasing.was_none();
    return result;
  }
  return call();
}

}  // namespace varve::agent
