// SPDX-License-Identifier: MIT
// What is to be done once: a thread that finds another at it waits, and that one lets it go on. Our routine
// stands before the program's, because a thread that waited may have to do it after all, where the other was
// cancelled, threw or forked: then its wait is over, and nothing of ours is open below the program's code.
// Context: any thread of the target.
#include <pthread.h>
#include <threads.h>

#include "agent/hooks.h"
#include "agent/real.h"
#include "agent/wait_trace.h"

namespace varve::agent {
namespace {

using format::ObjectKind;
using Routine = void();

Real<int(pthread_once_t*, Routine*)> real_once{"pthread_once"};
Real<void(once_flag*, Routine*)> real_call_once{"call_once"};

/// A call in which the routine may have to run, on the caller's stack. Its routine takes no argument; the
/// thread has the innermost call.
struct OnceCall {
  const void* control;
  Routine* routine;
  OnceCall* outer;
  Waiting* waiting;  // null: no other thread was at it
};

void run_once() {
  ThreadBlock& block = *current_block;
  const OnceCall call = *static_cast<OnceCall*>(block.once_call);
  block.once_call = call.outer;
  if (call.waiting) call.waiting->end();
  call.routine();
  Releasing releasing(ObjectKind::kOnce, call.control);
}

/// Bits of nptl's control (nptl/pthread_once.c).
constexpr int kInProgress = 1, kDone = 2;
int state_of(const void* control) {
  return __atomic_load_n(static_cast<const int*>(control), __ATOMIC_RELAXED);
}

template <typename Call>
auto called(const void* control, Routine* routine, Waiting* waiting, Call call) {
  ThreadBlock& block = *current_block;
  OnceCall mine{control, routine, static_cast<OnceCall*>(block.once_call), waiting};
  struct Undo {
    ThreadBlock& block;
    OnceCall* outer;
    ~Undo() { block.once_call = outer; }
  };
  const Undo undo{block, mine.outer};
  block.once_call = &mine;
  return call();
}

template <typename Control, typename Call>
auto waited(Control* control, Routine* routine, Call call) {
  Waiting waiting(ObjectKind::kOnce, object_of(control), Asked::kNo);
  return called(control, routine, &waiting, call);
}

template <typename Control, typename RealOnce>
auto once(Control* control, Routine* routine, RealOnce& real) {
  const int state = state_of(control);
  if ((state & kDone) || !traces_waits() || !current_block) return real(control, routine);
  const auto call = [&] { return real(control, &run_once); };
  return state & kInProgress ? waited(control, routine, call) : called(control, routine, nullptr, call);
}

}  // namespace

void resolve_once_hooks() { real_once.get(), real_call_once.get(); }

VARVE_HOOK int pthread_once(pthread_once_t* control, Routine* routine) {
  return once(control, routine, real_once);
}
VARVE_HOOK void call_once(once_flag* control, Routine* routine) { once(control, routine, real_call_once); }

}  // namespace varve::agent
