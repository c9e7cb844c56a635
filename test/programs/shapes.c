// SPDX-License-Identifier: MIT
// shapes [MS]: the shapes of calls that attribution gets wrong most easily: recursion, inlined calls, a tail
// call, a call that is the last instruction of its function. Prints what each cost. Context: test 45.
#include <setjmp.h>

#include "work.h"

static uint64_t x = 7, steps;
static jmp_buf back;

__attribute__((noinline)) static uint64_t recursion(unsigned depth) {
  SPIN(x, steps / 10);
  return depth ? recursion(depth - 1) + (x & 1) : x;
}

__attribute__((always_inline)) static inline void inner_inlined(void) { SPIN(x, steps); }
__attribute__((always_inline)) static inline void outer_inlined(void) { inner_inlined(); }
__attribute__((noinline)) static void has_inlined(void) { outer_inlined(); }

__attribute__((noinline)) static uint64_t tail_target(uint64_t count) {
  SPIN(x, count);
  return x;
}
/// Compiled to a jump: this function is on no stack while its target runs.
__attribute__((noinline)) static uint64_t tail_caller(uint64_t count) { return tail_target(count + 1); }
__attribute__((noinline)) static uint64_t calls_tail(void) { return tail_caller(steps) + 1; }

__attribute__((noinline, noreturn)) static void never_returns(void) {
  SPIN(x, steps);
  longjmp(back, 1);
}
/// The return address of its last call lies behind its own end.
__attribute__((noinline, noreturn)) static void noreturn_last(void) { never_returns(); }
__attribute__((noinline)) static int calls_noreturn(void) {
  if (setjmp(back) == 0) noreturn_last();
  return (int)(x & 1);
}

int main(int argc, char** argv) {
  steps = number_argument(argc, argv, 1, 300) * STEPS_PER_MS;
  uint64_t t0 = thread_ns();
  uint64_t sum = recursion(9);
  uint64_t t1 = thread_ns();
  has_inlined();
  uint64_t t2 = thread_ns();
  sum += calls_tail();
  uint64_t t3 = thread_ns();
  sum += (uint64_t)calls_noreturn();
  uint64_t t4 = thread_ns();
  printf("{\"recursion\": %lu, \"inlined\": %lu, \"tail\": %lu, \"noreturn\": %lu, \"sum\": %lu}\n", t1 - t0,
         t2 - t1, t3 - t2, t4 - t3, sum & 1);
}
