// SPDX-License-Identifier: MIT
// flags: -I. -lgcc_s -lunwind -lunwind-x86_64 -Wl,-z,lazy
// The unwinder at every instruction: the trap flag stops the program after each one, and the SIGTRAP handler
// compares our stack with libunwind's, through prologues, bodies, epilogues, PLT stubs and the dynamic
// linker's resolver. Prints one JSON line; exit 1 when a stack differs. Context: test program.
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "test/programs/oracle.h"

using namespace varve;

// The trap flag takes effect after the instruction that follows popfq: the ret.
asm(R"(
  .text
  .globl start_stepping
  .type start_stepping, @function
start_stepping:
  .cfi_startproc
  pushfq
  .cfi_adjust_cfa_offset 8
  orq $0x100, (%rsp)
  popfq
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc
  .size start_stepping, . - start_stepping
  .globl stop_stepping
  .type stop_stepping, @function
stop_stepping:
  .cfi_startproc
  pushfq
  .cfi_adjust_cfa_offset 8
  andq $~0x100, (%rsp)
  popfq
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc
  .size stop_stepping, . - stop_stepping
)");
extern "C" void start_stepping();
extern "C" void stop_stepping();

namespace {

#define CASE [[gnu::noinline, gnu::noclone]] void

volatile int sink;
agent::RuleCache cache;
agent::StackBounds own_stack;
test::Stack ours, theirs;
const char* current = "";
bool verbose;
constexpr const char* kVerdicts[] = {"equal", "ours better", "both partial", "different"};

struct Count {
  unsigned long steps, verdicts[4], whole, hits, misses;
} count;
// Where CFI itself is wrong: glibc's from the new stack pointer to the jump in swapcontext and setcontext,
// libgcc's after uw_install_context has overwritten the frames. There libunwind guesses, and ours ends
// without inventing a frame.
constexpr unsigned long kWrongCfi = 100;

unsigned reported;  // differences of the current case

bool in_context_switch(const void* pc) {
  Dl_info info = {};
  if (!dladdr(pc, &info) || !info.dli_sname) return false;
  return strcmp(info.dli_sname, "swapcontext") == 0 || strcmp(info.dli_sname, "setcontext") == 0;
}

void report_difference(test::Verdict verdict, agent::UnwindResult result) {
  if (!verbose && verdict != test::Verdict::kDifferent) return;
  if (++reported > 3) return;
  std::fprintf(stderr, "%s: %s, our reason %d\n", current, kVerdicts[int(verdict)], int(result.end));
  test::print_stack(stderr, "ours", ours);
  test::print_stack(stderr, "libunwind", theirs);
}

void on_trap(int, siginfo_t*, void* context) {
  auto* interrupted = static_cast<ucontext_t*>(context);
  agent::UnwindResult result;
  test::our_stack(*interrupted, own_stack, cache, &ours, &result);
  test::libunwind_stack(interrupted, &theirs);
  ++count.steps;
  count.hits += result.cache_hits;
  count.misses += result.cache_misses;
  count.whole += ours.whole;
  test::Verdict verdict = test::compare(ours, theirs);
  if (verdict == test::Verdict::kDifferent && in_context_switch(reinterpret_cast<void*>(ours.frames[0]))) {
    verdict = test::Verdict::kBothPartial;
  }
  ++count.verdicts[int(verdict)];
  if (verdict != test::Verdict::kEqual) report_difference(verdict, result);
}

// --- the functions that are stepped through
// --------------------------------------------------------------------

[[gnu::noinline]] int leaf(int a, int b) { return a * 7 + b; }
[[gnu::noinline]] int red_zone(int n) {
  volatile int words[8];
  for (int i = 0; i < 8; ++i) words[i] = n + i;
  return words[n & 7];
}
[[gnu::noinline]] int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

[[gnu::noinline]] int with_alloca(int n) {
  auto* words = static_cast<volatile int*>(alloca(size_t(n) * sizeof(int)));
  for (int i = 0; i < n; ++i) words[i] = leaf(i, n);
  return words[n / 2];
}
[[gnu::noinline]] int big_frame(int n) {
  volatile char bytes[70000];
  bytes[n] = char(leaf(n, 1));
  return bytes[n];
}
[[gnu::noinline]] int realigned(int n) {
  alignas(64) volatile int words[16];
  words[n & 15] = leaf(n, 2);
  return words[n & 15] + leaf(3, n);
}
[[gnu::noinline]] int realigned_alloca(int n, ...) {
  va_list list;
  va_start(list, n);
  alignas(128) volatile int words[32];
  auto* more = static_cast<volatile int*>(alloca(size_t(n) * 4));
  more[0] = va_arg(list, int);
  words[n & 31] = leaf(more[0], n);
  va_end(list);
  return words[n & 31];
}
[[gnu::noinline]] double varargs(int n, ...) {
  va_list list;
  va_start(list, n);
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += va_arg(list, double);
  va_end(list);
  return sum;
}
[[gnu::noinline]] int tail_target(int n) { return n < 0 ? leaf(n, n) + 1 : n * 3; }
[[gnu::noinline]] int tail_call(int n) {
  sink = leaf(n, 3);
  return tail_target(n + 1);
}
[[gnu::noinline]] int many_registers(int n) {
  int a = leaf(n, 1), b = leaf(n, 2), c = leaf(n, 3), d = leaf(n, 4), e = leaf(n, 5), f = leaf(n, 6);
  int g = leaf(a, b), h = leaf(c, d), i = leaf(e, f);
  return a + b * c + d * e + f * g + h * i;
}
[[gnu::noinline]] int switch_table(int n) {
  switch (n) {
    case 0:
      return leaf(n, 10);
    case 1:
      return fibonacci(2);
    case 2:
      sink = 4;
      return 8;
    case 3:
      return leaf(1, n) * 3;
    case 4:
      return red_zone(2);
    case 5:
      return leaf(n, n);
    case 6:
      sink = 5;
      return leaf(sink, 1);
    default:
      return -1;
  }
}
[[gnu::noinline]] int early_exit(int n) {
  if (n < 2) return 1;
  std::vector<int> values(size_t(n), 3);
  if (n == 3) return values[1];
  sink = leaf(n, values[0]);
  return int(values.size());
}
[[gnu::noinline, noreturn]] void throws(int n) { throw std::runtime_error(std::to_string(n)); }
[[gnu::noinline]] int no_return_last(int n) {
  sink = leaf(n, n);
  throws(n);
}
jmp_buf jump_target;
[[gnu::noinline, noreturn]] void jumps() { longjmp(jump_target, 1); }
int compare_ints(const void* a, const void* b) {
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

struct Shape {
  virtual ~Shape() = default;
  virtual int area(int n) const = 0;
};
struct Square : Shape {
  int area(int n) const override { return leaf(n, n); }
};

CASE case_leaf() { sink = leaf(1, 2) + red_zone(3); }
CASE case_recursion() { sink = fibonacci(6); }
CASE case_alloca() { sink = with_alloca(9) + with_alloca(500); }
CASE case_big_frame() { sink = big_frame(69000); }
CASE case_realigned() { sink = realigned(5) + realigned_alloca(6, 7); }
CASE case_varargs() { sink = int(varargs(3, 1.0, 2.0, 3.0)); }
CASE case_tail_call() { sink = tail_call(4) + tail_call(-9); }
CASE case_registers() { sink = many_registers(11) + early_exit(1) + early_exit(3) + early_exit(5); }
CASE case_switch() {
  for (int i = 0; i < 8; ++i) sink = switch_table(i);
}
CASE case_virtual() {
  Square square;
  const Shape* shape = &square;
  asm volatile("" : "+r"(shape));
  sink = shape->area(3);
}
CASE case_first_call() {
  sink = int(std::cbrt(double(sink)) + std::erf(double(sink)));
}  // through the resolver
CASE case_strings() {
  char from[600] = "some words to be copied", to[600];
  asm volatile("" : : "r"(from) : "memory");
  memcpy(to, from, size_t(500 + sink % 2));
  memset(from, 7, size_t(300 + sink % 2));
  asm volatile("" : : "r"(to), "r"(from) : "memory");
  sink = int(strlen(to)) + (strchr(to, 'w') != nullptr);
}
CASE case_sort() {
  int values[40];
  for (int i = 0; i < 40; ++i) values[i] = (i * 17) % 41;
  qsort(values, 40, sizeof(int), compare_ints);
  std::sort(values, values + 40, [](int a, int b) { return a > b; });
  sink = values[0];
}
CASE case_format() {
  char text[128];
  snprintf(text, sizeof text, "%d %s %5.2f %lx", sink, "words", 3.25, 77L);
  sink = text[3];
}
CASE case_clock() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  sink = int(now.tv_nsec) + int(time(nullptr));
}
CASE case_memory() {
  void* blocks[5];
  for (size_t i = 0; i < 5; ++i) blocks[i] = malloc(40 << (i * 3));
  for (void* block : blocks) free(block);
}
CASE case_exception() {
  try {
    sink = no_return_last(5);
  } catch (const std::exception& error) {
    sink = error.what()[0];
  }
}
CASE case_longjmp() {
  if (setjmp(jump_target) == 0) jumps();
  sink = leaf(1, 1);
}

void on_user_signal(int number) {
  start_stepping();  // the kernel clears the flag when it enters a handler
  sink = fibonacci(3) + number;
  stop_stepping();
}
CASE case_signal() {
  struct sigaction action = {};
  action.sa_handler = on_user_signal;
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1);
  sink = 1;
}
CASE case_alternate_stack() {
  static char memory[65536];
  stack_t stack = {}, none = {};
  stack.ss_sp = memory;
  stack.ss_size = sizeof memory;
  none.ss_flags = SS_DISABLE;
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_handler = on_user_signal;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR2, &action, nullptr);
  raise(SIGUSR2);
  sigaltstack(&none, nullptr);
}
ucontext_t fiber, back;
void fiber_main() {
  sink = many_registers(5);
  swapcontext(&fiber, &back);
  sink = fibonacci(4);
}
CASE case_fiber() {
  static char memory[65536];
  getcontext(&fiber);
  fiber.uc_stack.ss_sp = memory;
  fiber.uc_stack.ss_size = sizeof memory;
  fiber.uc_link = &back;
  makecontext(&fiber, fiber_main, 0);
  swapcontext(&back, &fiber);
  swapcontext(&back, &fiber);
}

struct Case {
  const char* name;
  void (*run)();
};
constexpr Case kCases[] = {
    {"leaf", case_leaf},           {"recursion", case_recursion}, {"alloca", case_alloca},
    {"big_frame", case_big_frame}, {"realigned", case_realigned}, {"varargs", case_varargs},
    {"tail_call", case_tail_call}, {"registers", case_registers}, {"switch", case_switch},
    {"virtual", case_virtual},     {"strings", case_strings},     {"sort", case_sort},
    {"format", case_format},       {"clock", case_clock},         {"memory", case_memory},
    {"longjmp", case_longjmp},     {"signal", case_signal},       {"alternate_stack", case_alternate_stack},
    {"fiber", case_fiber},         {"exception", case_exception}, {"first_call", case_first_call},
};

void step_through(const Case& test) {
  current = test.name;
  reported = 0;
  const Count before = count;
  start_stepping();
  test.run();
  stop_stepping();
  if (!verbose) return;
  std::fprintf(stderr, "%-16s %7lu steps", test.name, count.steps - before.steps);
  for (int i = 0; i < 4; ++i)
    std::fprintf(stderr, ", %lu %s", count.verdicts[i] - before.verdicts[i], kVerdicts[i]);
  std::fprintf(stderr, ", %lu whole\n", count.whole - before.whole);
}

}  // namespace

int main() {
  verbose = getenv("SINGLE_STEP_VERBOSE") != nullptr;
  test::start_cache(cache);
  own_stack = test::this_stack();
  struct sigaction action = {};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, nullptr);
  for (const Case& test : kCases) step_through(test);
  std::printf(
      "{\"steps\": %lu, \"equal\": %lu, \"ours_better\": %lu, \"both_partial\": %lu, \"different\": %lu, "
      "\"whole\": %lu, \"cache_hits\": %lu, \"cache_misses\": %lu}\n",
      count.steps, count.verdicts[0], count.verdicts[1], count.verdicts[2], count.verdicts[3], count.whole,
      count.hits, count.misses);
  return count.verdicts[int(test::Verdict::kDifferent)] != 0 ||
         count.verdicts[int(test::Verdict::kBothPartial)] > kWrongCfi;
}
