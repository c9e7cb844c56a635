// SPDX-License-Identifier: MIT
// flags: -O2 -g -fno-omit-frame-pointer
// truth CASE MS [NUMBER]: work of which each piece is timed by its thread's own CPU clock. Prints what each
// function cost: name, tab, ns, one line each. Frame pointers are kept, so that profilers that need them have
// whole stacks, too. Context: the accuracy suite.
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>

#include "test/programs/work.h"

enum { kFunctions = 8 };
static const char* const kNames[kFunctions] = {"f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7"};
static __thread uint64_t x = 88172645463325252u;
static uint64_t spent[kFunctions];
static pthread_mutex_t spent_lock = PTHREAD_MUTEX_INITIALIZER;

// The number keeps the compiler from making one function of them all.
#define FUNCTION(n) \
  __attribute__((noinline)) static void f##n(uint64_t steps) { SPIN(x, steps + n); }
FUNCTION(0)
FUNCTION(1) FUNCTION(2) FUNCTION(3) FUNCTION(4) FUNCTION(5) FUNCTION(6)
    FUNCTION(7) static void (*const kCalls[kFunctions])(uint64_t) = {f0, f1, f2, f3, f4, f5, f6, f7};

static uint64_t random_number(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

static void add(int function, uint64_t ns) {
  pthread_mutex_lock(&spent_lock);
  spent[function] += ns;
  pthread_mutex_unlock(&spent_lock);
}

/// Function `n` for about so many steps. Returns the thread's clock after it; `begin` is that before.
static uint64_t piece(int n, uint64_t steps, uint64_t begin) {
  kCalls[n](steps);
  const uint64_t end = thread_ns();
  add(n, end - begin);
  return end;
}

/// Eight functions with shares of 1 to 8 in 36, pieces of 0.1 to 2 ms in random order. `slower`: f3 does that
/// many percent more.
static void shares(uint64_t ms, uint64_t slower) {
  uint64_t random = 42, now = thread_ns();
  const uint64_t end = now + ms * 1000000u;
  while (now < end) {
    const uint64_t ticket = random_number(&random) % 36;
    int n = 0;
    for (uint64_t below = 1; ticket >= below; below += (uint64_t)n + 1) ++n;
    uint64_t steps = STEPS_PER_MS / 10 + random_number(&random) % (2 * STEPS_PER_MS);
    if (n == 3) steps += steps * slower / 100;
    now = piece(n, steps, now);
  }
}

static void until(uint64_t ns) {
  const struct timespec time = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL)) continue;
}

/// In each period 15 % of it in f0, then 45 % in f1, the rest asleep: in step with the clock that the
/// kernel's ticks follow, too.
static void in_phase(uint64_t ms, uint64_t period_us) {
  const uint64_t period = period_us * 1000, begin = clock_ns(CLOCK_MONOTONIC) / period * period;
  for (uint64_t i = 1; i * period < ms * 1000000u; ++i) {
    until(begin + i * period);
    const uint64_t start = thread_ns();
    uint64_t now = start;
    while (now < start + period * 15 / 100) now = piece(0, STEPS_PER_MS / 100, now);
    while (now < start + period * 60 / 100) now = piece(1, STEPS_PER_MS / 100, now);
  }
}

struct Burner {
  int function;
  uint64_t ms;
};
static void* burn(void* argument) {
  const struct Burner* burner = argument;
  const uint64_t end = thread_ns() + burner->ms * 1000000u;
  for (uint64_t now = thread_ns(); now < end;) now = piece(burner->function, STEPS_PER_MS / 2, now);
  return NULL;
}

/// As many threads at once as `count`, each with a function of its own and as much work.
static void fair(uint64_t ms, uint64_t count) {
  pthread_t threads[kFunctions];
  struct Burner burners[kFunctions];
  for (int i = 0; i < (int)count && i < kFunctions; ++i) {
    burners[i] = (struct Burner){i, ms / count};
    if (pthread_create(&threads[i], NULL, burn, &burners[i])) abort();
  }
  for (int i = 0; i < (int)count && i < kFunctions; ++i) pthread_join(threads[i], NULL);
}

/// Threads of so many ms, one after the other, in f0 and f1 in turn, f1 for three times as many.
static void short_threads(uint64_t ms, uint64_t each) {
  for (uint64_t done = 0, i = 0; done < ms; ++i, done += each) {
    pthread_t thread;
    struct Burner burner = {i % 4 != 0, each};
    if (pthread_create(&thread, NULL, burn, &burner)) abort();
    pthread_join(thread, NULL);
  }
}

static void* stage(void* argument) {
  const uint64_t begin = thread_ns(), length = *(uint64_t*)argument * 1000000u;
  uint64_t now = begin;
  for (int n = 0; n < 3; ++n)
    while (now < begin + length * ((uint64_t)n + 1) / 3) now = piece(n, STEPS_PER_MS / 50, now);
  return NULL;
}

/// Threads of so many ms, one after the other, in f0, then f1, then f2: what is at a thread's begin and end.
static void stages(uint64_t ms, uint64_t each) {
  for (uint64_t done = 0; done < ms; done += each) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, stage, &each)) abort();
    pthread_join(thread, NULL);
  }
}

/// f0 in the kernel by short calls, f1 in the kernel by long ones, f2 in the program.
__attribute__((noinline)) static void short_calls(uint64_t calls) {
  for (; calls; --calls) syscall(SYS_getppid);
}
__attribute__((noinline)) static void long_calls(int zero, char* buffer, size_t bytes, uint64_t calls) {
  for (; calls; --calls)
    if (read(zero, buffer, bytes) < 0) abort();
}
static void calls(uint64_t ms, uint64_t none) {
  (void)none;
  static char buffer[1 << 18];
  const int zero = open("/dev/zero", O_RDONLY);
  uint64_t random = 7, now = thread_ns();
  const uint64_t end = now + ms * 1000000u;
  while (now < end) {
    const uint64_t begin = now, kind = random_number(&random) % 3;
    if (kind == 0) short_calls(5000);
    if (kind == 1) long_calls(zero, buffer, sizeof buffer, 100);
    if (kind == 2) f2(STEPS_PER_MS);
    now = thread_ns();
    add((int)kind, now - begin);
  }
}

/// f0 below `depth` frames of descend(), f1 below none, of the same length.
__attribute__((noinline)) static void descend(uint64_t depth, uint64_t steps) {
  if (depth)
    descend(depth - 1, steps);
  else
    f0(steps);
  __asm__ volatile("" : "+r"(depth));  // no tail call
}
static void deep(uint64_t ms, uint64_t depth) {
  uint64_t random = 3, now = thread_ns();
  const uint64_t end = now + ms * 1000000u;
  while (now < end) {
    const uint64_t begin = now, below = random_number(&random) % 3 == 0;
    if (below)
      descend(depth, STEPS_PER_MS / 2);
    else
      f1(STEPS_PER_MS / 2);
    now = thread_ns();
    add(below ? 0 : 1, now - begin);
  }
}

static const struct {
  const char* name;
  void (*run)(uint64_t ms, uint64_t number);
  const char* functions[kFunctions];  // other names than f0, f1, ...
} kCases[] = {{"shares", shares, {0}},
              {"in-phase", in_phase, {0}},
              {"fair", fair, {0}},
              {"short", short_threads, {0}},
              {"stages", stages, {0}},
              {"calls", calls, {"short_calls", "long_calls"}},
              {"deep", deep, {0}}};

int main(int argc, char** argv) {
  for (size_t i = 0; argc > 1 && i < sizeof kCases / sizeof *kCases; ++i) {
    if (strcmp(argv[1], kCases[i].name) != 0) continue;
    kCases[i].run(number_argument(argc, argv, 2, 1000), number_argument(argc, argv, 3, 0));
    for (int n = 0; n < kFunctions; ++n)
      if (spent[n])
        printf("%s\t%lu\n", kCases[i].functions[n] ? kCases[i].functions[n] : kNames[n], spent[n]);
    return 0;
  }
  fprintf(stderr, "usage: truth shares|in-phase|fair|short|stages|calls|deep MS [NUMBER]\n");
  return 2;
}
