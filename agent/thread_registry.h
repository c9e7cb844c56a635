// SPDX-License-Identifier: MIT
// The threads of this process image: a block and a record each, from the first instruction of ours in the
// thread to the last. Blocks are mapped memory (guard page, alternate signal stack, block, two stacks of
// frames) and are used again. Not the source of ticks (signal/tick_source.h) and not the hooks that call this
// (hook_thread.cc). Context: any thread of the target, with SIGPROF blocked.
#pragma once

#include "agent/signal/thread_block.h"

namespace varve::agent {

/// A block for a thread to come, or null where memory is refused. Given back by release_block() if no thread
/// comes.
ThreadBlock* acquire_block();
void release_block(ThreadBlock* block);

struct ThreadStart {
  uint64_t start_cpu_ns;  // the thread's CPU clock from which on its time is ours to account for
  bool is_main;
};

/// Makes the calling thread a recorded one: record, alternate stack, timer.
void begin_thread(ThreadBlock& block, const ThreadStart& start);

/// Begins the thread's ticks; its record says if that was refused.
void begin_ticks(ThreadBlock& block);
/// The calling thread, which blocks the signals of ticks, has another alternate stack: it goes without ticks
/// where those have no room there.
void change_ticks_with_stack(ThreadBlock& block, bool is_small);

/// Ends the ticks of all threads and notes the calling one's last clock; their records stay without an
/// end.
void stop_all_ticks();

/// Ends it: timer deleted, last clock written, segment handed on, block released. The thread has no block
/// afterwards.
void end_thread(ThreadBlock& block);

/// Somebody asks at `time_ns` for the end of the thread of that number, if it is a recorded one.
void note_cancellation(int32_t tid, uint64_t time_ns);

/// Writes the end of all live threads as seen from the calling one, before an exit or exec that ends them
/// without a hook.
void write_ends();
/// Their names, which take long to read beside the clocks, and those should be of one moment.
void write_names();
/// Writes what all of them wait for, or have counted of waits: the process ends.
void write_waits();
/// Takes write_ends() back: the exec failed and the threads go on.
void revoke_ends();

/// In the child of a fork: only the calling thread lives on; the others' blocks are free. Returns its block,
/// or null.
ThreadBlock* keep_only_this_thread();

}  // namespace varve::agent
