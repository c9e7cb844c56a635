// SPDX-License-Identifier: MIT
// flags: -lm -Wl,-z,lazy
// odd_stacks KIND [MS]: one function, leaf(), works at the end of a stack that is not of the usual kind.
// Prints what it cost. Context: test 49.
#include <math.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "work.h"

static uint64_t x = 11, steps;
static ucontext_t main_context, coroutine_context;

__attribute__((noinline)) static void leaf(void) { SPIN(x, steps); }

static void on_signal(int signal) {
  leaf();
  x += (uint64_t)signal;
}
static void handle_with(int flags) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
}
__attribute__((noinline)) static void signal_frame(void) { handle_with(0); }
__attribute__((noinline)) static void alternate_stack(void) {
  static char stack[65536];
  sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
  handle_with(SA_ONSTACK);
}

static void coroutine_body(void) {
  leaf();
  swapcontext(&coroutine_context, &main_context);
}
__attribute__((noinline)) static void coroutine(void) {
  static char stack[262144];
  getcontext(&coroutine_context);
  coroutine_context.uc_stack.ss_sp = stack;
  coroutine_context.uc_stack.ss_size = sizeof stack;
  makecontext(&coroutine_context, coroutine_body, 0);
  swapcontext(&main_context, &coroutine_context);
}

__attribute__((noinline)) static void vdso(void) {
  for (uint64_t i = steps / 16; i; --i) x += clock_ns(CLOCK_MONOTONIC);
}
__attribute__((noinline)) static void plt(void) {
  double sum = 0;
  for (uint64_t i = steps / 4; i; --i) sum += (double)labs((long)i) + fdim((double)i, 3);
  x += (uint64_t)sum;
}
__attribute__((noinline)) static uint64_t deep(uint64_t depth) {
  if (!depth) leaf();
  return depth ? deep(depth - 1) + (x & 1) : x;
}
__attribute__((noinline)) static void deep_recursion(void) { x += deep(10000); }
__attribute__((noinline)) static void endless_recursion(void) { x += deep(60000); }

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "";
  steps = number_argument(argc, argv, 2, 300) * STEPS_PER_MS;
  struct {
    const char* name;
    void (*run)(void);
  } kinds[] = {{"signal_frame", signal_frame},
               {"alternate_stack", alternate_stack},
               {"coroutine", coroutine},
               {"vdso", vdso},
               {"plt", plt},
               {"deep_recursion", deep_recursion},
               {"endless_recursion", endless_recursion}};
  uint64_t begin = thread_ns();
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (!strcmp(kind, kinds[i].name)) kinds[i].run();
  printf("{\"leaf\": %lu, \"result\": %lu}\n", thread_ns() - begin, x & 1);
}
