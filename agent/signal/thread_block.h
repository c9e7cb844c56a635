// SPDX-License-Identifier: MIT
// ThreadBlock: everything the handler knows of its thread, in memory that outlives the thread. One TLS
// pointer, of the initial-exec model, leads to it: 32 KB of static TLS once made a program's pthread_create
// fail, eight bytes do not. Not the table of threads: that is agent/thread_registry.h. Context: signal, and
// the thread's own start and end.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/signal/process_file.h"
#include "agent/signal/sample_writer.h"
#include "agent/signal/self_limit.h"
#include "agent/signal/short_waits.h"
#include "agent/signal/thread_clock.h"
#include "agent/signal/unwind.h"

namespace varve::agent {

/// What a thread waits for now; no kind: nothing. Read by the thread that ends the process, too.
struct OpenWait {
  format::ObjectKind kind = format::ObjectKind::kNone;
  uint64_t object = 0;
  uint64_t begin_ns = 0;  // CLOCK_MONOTONIC
};

/// The last wait of a thread that timed out and may go on at once.
struct WaitSlice {
  format::ObjectKind kind = format::ObjectKind::kNone;  // kNone: there is none
  uint64_t object = 0;
  uint64_t first_ns = 0;  // begin of the first slice
  uint64_t end_ns = 0;
};

/// When a thread got its timer, or another interval of it.
struct TimerStretch {
  uint64_t cpu_ns = 0;
  uint64_t ticks = 0;  // merged ones, too
};

/// What a thread had done when its source of ticks was judged last.
struct Judged {
  uint64_t cpu_ns = 0;
  uint64_t switches = 0, voluntary = 0;  // context switches
};

/// A call that waits with a mask of signals of its own, while it lasts.
struct MaskedWait {
  long number = 0;      // of the system call; 0: none
  uint64_t set_at = 0;  // the address that the kernel has of the mask
  uint64_t mask = 0;
};

/// Signals of ticks that are blocked while a handler of the program's stands on a small alternate stack. Who
/// stands elsewhere, and still finds them here, has left it by a jump.
struct HeldTicks {
  uint64_t signals = 0;
  StackBounds where{};  // below the handler's frame

  [[gnu::always_inline]] uint64_t here() const {
    return where.contains(reinterpret_cast<uint64_t>(__builtin_frame_address(0))) ? signals : 0;
  }
};

struct ThreadBlock {
  format::ThreadRecord* record = nullptr;  // in the file, or `unrecorded` when there was no room
  Chunk record_chunk;                      // keeps it mapped
  StackBounds stack{};
  SampleWriter writer;
  uint64_t last_cpu_ns = 0;  // the thread's CPU clock at its last tick
  // The kernel's timer, -1 for none, and the page of the event that ticks come from instead, 0 for none: who
  // takes one out of here ends it. A thread that leaves the recording takes all threads'.
  std::atomic<int32_t> timer{-1};
  std::atomic<long> event_page{0};
  uint32_t ticks_of_distance = 0;  // before the event gets another one; 0: the thread keeps its timer
  Judged judged;
  TimerStretch timer_since;
  bool in_step = false;       // its timer had far more or far fewer ticks than were due
  uint64_t event_cpu_ns = 0;  // its CPU clock when it got an event in the place of its timer
  SelfLimit self_limit;
  bool live = false;
  std::atomic<bool> in_tick{false};
  uint64_t program_blocks = 0;  // of the signals of ticks, as it believes: ticks are let in all the same
  HeldTicks held;
  MaskedWait masked_wait;

  // Not the handler's: the hooks'. First what each wait touches, however short.
  ThreadClock<> clock;
  OpenWait open_wait;
  void* open_scope = nullptr;  // the Waiting that it belongs to
  WaitSlice slice;
  uint64_t event_look_ns = 0;  // when a wait's end last asked whether the thread is to have an event
  /// The InTrace that the thread is in: a signal handler of the program that waits meanwhile is not recorded.
  const void* in_wait_trace = nullptr;
  ShortWaits short_waits;
  std::atomic<uint64_t> cancelled_ns{0};  // when somebody first asked for its end
  void* once_call = nullptr;              // see hook_once.cc

  // Not the handler's: the registry's.
  ThreadBlock* next = nullptr;
  ThreadBlock* previous = nullptr;
  uint8_t* alternate_stack = nullptr;
  bool alternate_stack_installed = false;
  bool has_small_stack = false;  // one of the program's without room for a tick's frame: there are none
  /// A handler's gift stays with a process's first thread, whose alternate stack the kernel mostly has as
  /// none of size 0 and not as disabled: a signal's return puts that back in vain. With us it puts ours back.
  bool program_gave_stack = false;
  int destructor_rounds = 0;
  uint64_t blocked_before_fork = 0;  // of the signals of ticks, by the thread's own mask
  uint32_t forks = 0;                // that it is in: one by a handler that interrupted another
  void* start_routine = nullptr;     // of pthread_create or thrd_create
  void* start_argument = nullptr;
  uint32_t creator = format::kNoThread;
  uint64_t created_ns = 0;   // when that called pthread_create
  uint64_t stack_bytes = 0;  // as the creator asked for
  uint64_t stack_low = 0;    // of a stack the program supplied
  format::ThreadRecord unrecorded{};
};

extern constinit thread_local ThreadBlock* current_block
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

}  // namespace varve::agent
