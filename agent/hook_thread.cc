// SPDX-License-Identifier: MIT
// Threads from their start to their end: pthread_create and thrd_create are wrapped, so that a new thread
// arms its own timer before the program's code runs in it; the end is seen by a thread-specific-data
// destructor, which covers return, pthread_exit, thrd_exit and cancellation alike. Not here: threads made by
// raw clone or inside the C library; nothing of ours runs in them. Context: any thread of the target.
#include <pthread.h>
#include <signal.h>
#include <threads.h>

#include <cerrno>
#include <optional>

#include "agent/hooks.h"
#include "agent/image.h"
#include "agent/java_layout.h"
#include "agent/real.h"
#include "agent/signal/agent_state.h"
#include "agent/signal/clock.h"
#include "agent/signal/frame_source.h"
#include "agent/signal_block.h"
#include "agent/thread_registry.h"

namespace varve::agent {
namespace {

Real<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)> real_pthread_create{"pthread_create"};
Real<int(thrd_t*, thrd_start_t, void*)> real_thrd_create{"thrd_create"};

pthread_key_t end_key;
bool end_key_made = false;

/// glibc runs destructors in rounds as long as values are set again; ours goes last, so that the CPU time of
/// the program's own destructors is sampled too. The number of rounds is PTHREAD_DESTRUCTOR_ITERATIONS.
constexpr int kRounds = 4;

void end_of_thread(void* value) {
  auto& block = *static_cast<ThreadBlock*>(value);
  if (&block != current_block || !agent_state.recorded()) return;
  if (++block.destructor_rounds < kRounds && pthread_setspecific(end_key, value) == 0) return;
  SignalBlock guard;
  if (in_recorded_process()) end_thread(block);
}

/// A block ready to be handed to a new thread, with what its record will say of where it came from. The mask
/// that the program sees there is its creator's: what that asked for, or what blocks for it.
ThreadBlock* prepare_block(void* start_routine, void* argument, uint64_t mask) {
  SignalBlock guard;
  ThreadBlock* block = acquire_block();
  if (!block) {
    count(format::Counter::kThreadsUnsampled);
    agent_state.counters->values[uint32_t(format::Counter::kLastErrno)] = ENOMEM;
    return nullptr;
  }
  block->start_routine = start_routine;
  block->start_argument = argument;
  if (current_block) block->creator = current_block->record->index;
  block->created_ns = monotonic_ns();
  block->program_blocks = mask & agent_state.tick_signals;
  if (current_block) block->program_blocks |= current_block->program_blocks;
  return block;
}

void give_back(ThreadBlock* block) {
  SignalBlock guard;
  release_block(block);
}

void note_attributes(ThreadBlock& block, const pthread_attr_t* attributes) {
  void* low = nullptr;
  size_t bytes = 0;
  sigset_t mask;
  if (!attributes) return;
  if (pthread_attr_getsigmask_np(attributes, &mask) == 0)
    block.program_blocks = mask.__val[0] & agent_state.tick_signals;
  if (pthread_attr_getstacksize(attributes, &bytes)) return;
  block.stack_bytes = bytes;
  // An address is in the attributes only if the program put it there; getstack gives (0 - size) for none.
  if (pthread_attr_getstack(attributes, &low, &bytes) == 0 && uint64_t(low) < uint64_t(1) << 47)
    block.stack_low = uint64_t(low);
}

/// First words of a new thread, which begins with the signals of ticks blocked: block, record, ticks. Then
/// these are let in, but for those that the program handles and blocks here.
void enter_thread(ThreadBlock& block) {
  uint64_t inherited = change_mask(SIG_BLOCK, kAllSignals);
  ObjectFrameInfo ignored;
  find_and_note_object(uint64_t(block.start_routine), &ignored);
  begin_thread(block, {.start_cpu_ns = 0, .is_main = false});
  pthread_setspecific(end_key, &block);
  const uint64_t blocked = agent_state.handled_signals() & block.program_blocks;
  change_mask(SIG_SETMASK, (inherited & ~agent_state.tick_signals) | blocked);
}

/// Compiled to a jump into the program's routine: no frame of ours stays on the stack.
void* run_thread(void* argument) {
  auto& block = *static_cast<ThreadBlock*>(argument);
  auto routine = reinterpret_cast<void* (*)(void*)>(block.start_routine);
  void* routine_argument = block.start_argument;
  enter_thread(block);
  return routine(routine_argument);
}

int run_c11_thread(void* argument) {
  auto& block = *static_cast<ThreadBlock*>(argument);
  auto routine = reinterpret_cast<thrd_start_t>(block.start_routine);
  void* routine_argument = block.start_argument;
  enter_thread(block);
  return routine(routine_argument);
}

/// The mask that the program believes in, in the kernel: a thread in which nothing of ours will run begins
/// with it.
class AsBelieved {
 public:
  AsBelieved() {
    const uint64_t blocks = in_recorded_process() && current_block ? current_block->program_blocks : 0;
    if (blocks) mask_.emplace(blocks);
  }

 private:
  std::optional<SignalBlock> mask_;
};

bool can_follow_threads() {
  return end_key_made && in_recorded_process() && agent_state.state() != format::ControlState::kStopped;
}

}  // namespace

void resolve_thread_hooks() {
  real_pthread_create.get();
  real_thrd_create.get();
}

void start_thread_hooks() {
  end_key_made = pthread_key_create(&end_key, end_of_thread) == 0;
  if (end_key_made && current_block) pthread_setspecific(end_key, current_block);
}

VARVE_HOOK int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                              void* argument) {
  start_before_our_turn();
  if (!can_follow_threads()) {
    AsBelieved mask;
    return real_pthread_create(thread, attributes, routine, argument);
  }
  learn_java_layout(uint64_t(__builtin_return_address(0)));
  {
    SignalBlock until_made(agent_state.tick_signals);
    if (ThreadBlock* block = prepare_block(reinterpret_cast<void*>(routine), argument, until_made.before())) {
      note_attributes(*block, attributes);
      int result = real_pthread_create(thread, attributes, &run_thread, static_cast<void*>(block));
      if (result) give_back(block);
      return result;
    }
  }
  AsBelieved mask;
  return real_pthread_create(thread, attributes, routine, argument);
}

VARVE_HOOK int thrd_create(thrd_t* thread, thrd_start_t routine, void* argument) {
  start_before_our_turn();
  if (!can_follow_threads()) {
    AsBelieved mask;
    return real_thrd_create(thread, routine, argument);
  }
  {
    SignalBlock until_made(agent_state.tick_signals);
    if (ThreadBlock* block = prepare_block(reinterpret_cast<void*>(routine), argument, until_made.before())) {
      int result = real_thrd_create(thread, &run_c11_thread, static_cast<void*>(block));
      if (result != thrd_success) give_back(block);
      return result;
    }
  }
  AsBelieved mask;
  return real_thrd_create(thread, routine, argument);
}

}  // namespace varve::agent
