// SPDX-License-Identifier: MIT
// What a thread does at a moment, and what it waits for. The words are those of the reports; the numbers of
// WaitKind are on disk (format::WaitRecord). Not the history of a thread: that is load::RunStates.
// Context: any.
#pragma once

#include <cstdint>

namespace varve {

enum class RunState : uint8_t {
  kRunning,  // on a processor
  kReady,    // runnable, waiting for a processor
  kBlocked,
  kExited,
};

/// By the system call a blocked thread is in. A wait shorter than the time between two looks is kOther.
enum class WaitKind : uint8_t {
  kOther = 0,      // not looked at, not in a system call (a page fault), or none of those below
  kLock = 1,       // futex as a mutex uses it
  kCondition = 2,  // any other futex: condition variable, semaphore, barrier
  kIo = 3,         // read, write, poll, select, epoll_wait, accept, connect, fsync ...
  kSleep = 4,      // nanosleep, pause, poll of nothing
  kJoin = 5,       // the end of a thread or of a child process
  kCount
};

}  // namespace varve
