// SPDX-License-Identifier: MIT
// thread_results KIND [THREADS]: many threads that end in every way; and the order in which destructors of
// threads, of the process and of exit run, all of which burn CPU. A run with a guest in the process prints
// the same. "many" leaves in here/after how many tasks and sources of ticks there are, and how many KB more
// memory than after the first tenth of its threads. Context: test 32.
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "work.h"

namespace {

std::atomic<uint64_t> ran{0}, cleaned{0}, destroyed{0};
std::atomic<int> left{0};
pthread_key_t key;

void work(uint64_t steps = STEPS_PER_MS / 8) {
  uint64_t x = 5;
  SPIN(x, steps);
  if (x == 0) abort();
}

struct Counted {
  uint64_t x = 1;
  ~Counted() { destroyed += x; }
};
thread_local Counted counted;

void count_cleaned(void*) { ++cleaned; }
void* waits_for_cancel(void*) {
  pthread_cleanup_push(count_cleaned, nullptr);
  for (;;) pause();
  pthread_cleanup_pop(0);
  return nullptr;
}
void* returns(void* argument) {
  work();
  counted.x = 1;
  ++ran;
  return argument;
}
void* exits(void* argument) {
  work();
  ++ran;
  pthread_exit(argument);
}
void* detached(void*) {
  pthread_setspecific(key, &ran);
  ++ran;
  --left;
  return nullptr;
}
void* detaches_itself(void*) {
  pthread_detach(pthread_self());
  ++ran;
  --left;
  return nullptr;
}

pthread_t started(void* (*routine)(void*), void* argument, const pthread_attr_t* attributes = nullptr) {
  pthread_t thread;
  if (pthread_create(&thread, attributes, routine, argument)) abort();
  return thread;
}
void joined(pthread_t thread, const void* expected) {
  void* result = nullptr;
  if (pthread_join(thread, &result) || result != expected) abort();
}

/// The number in the line of a file of /proc that begins with `name`; the number of such lines where it is
/// `count`.
long proc_number(const char* path, const char* name, bool count = false) {
  char line[512];
  long number = 0;
  FILE* file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file))
    if (!strncmp(line, name, strlen(name))) number = count ? number + 1 : atol(line + strlen(name));
  if (file) fclose(file);
  return number;
}
/// Sources of ticks: timers, and pages of events.
long tick_sources() {
  char line[512];
  long count = proc_number("/proc/self/timers", "ID:", true);
  FILE* file = fopen("/proc/self/maps", "r");
  while (file && fgets(line, sizeof line, file)) count += strstr(line, "[perf_event]") != nullptr;
  if (file) fclose(file);
  return count;
}
long memory_kb() { return proc_number("/proc/self/status", "VmRSS:"); }

/// Eight at a time: two joined, one cancelled, one by pthread_exit, four detached in three ways.
void eight_threads(const pthread_attr_t& detaching) {
  while (left > 100) usleep(500);
  int marker = 0;
  left += 4;
  pthread_t cancelled = started(waits_for_cancel, nullptr), first = started(returns, &marker),
            second = started(returns, &cancelled), exiting = started(exits, &first);
  started(detached, nullptr, &detaching);
  started(detaches_itself, nullptr);
  pthread_detach(started(detached, nullptr));
  std::thread([] { --left, ++ran; }).detach();
  pthread_cancel(cancelled);
  joined(first, &marker), joined(second, &cancelled), joined(exiting, &first);
  joined(cancelled, PTHREAD_CANCELED);
}
int many(int argc, char** argv) {
  uint64_t count = number_argument(argc, argv, 2, 3000) / 8;
  pthread_attr_t detaching;
  pthread_attr_init(&detaching);
  pthread_attr_setdetachstate(&detaching, PTHREAD_CREATE_DETACHED);
  pthread_key_create(&key, [](void* value) { destroyed += value == &ran; });
  long before = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (i == count / 10) before = memory_kb();
    eight_threads(detaching);
  }
  for (int i = 0; i < 5000 && proc_number("/proc/self/status", "Threads:") > 1; ++i) usleep(1000);
  FILE* after = fopen("here/after", "w");
  fprintf(after, "%ld %ld %ld\n", proc_number("/proc/self/status", "Threads:"), tick_sources(),
          memory_kb() - before);
  fclose(after);
  printf("ran %lu, cleaned up %lu, destroyed %lu, left %d\n", ran.load(), cleaned.load(), destroyed.load(),
         left.load());
  return 0;
}

// --- ends --------------------------------------------------------------------------------------------------
void tell(const char* what, int number = 0) {
  work(6 * STEPS_PER_MS);
  char line[80];
  if (write(1, line, size_t(snprintf(line, sizeof line, "%s %d\n", what, number))) < 0) _exit(9);
}
struct Static {
  ~Static() { tell("destructor of a static object"); }
};
struct Local {
  int number;
  ~Local() { tell("destructor of a thread_local object", number); }
};
/// Made in the threads that ask for it.
Local& local() {
  thread_local Local object{0};
  return object;
}
pthread_key_t rounds_key, other_key;
thread_local int rounds = 0;
/// Sets its value again: the C library gives up after PTHREAD_DESTRUCTOR_ITERATIONS rounds.
void key_destructor(void* value) {
  tell("key's destructor, round", ++rounds);
  pthread_setspecific(rounds_key, value);
}
void* ends_with_destructors(void*) {
  local().number = 1;
  pthread_setspecific(rounds_key, &rounds);
  pthread_setspecific(other_key, &rounds);
  return nullptr;
}
void prepare_ends() {
  static Static object;
  atexit([] { tell("first atexit handler"); });
  atexit([] { tell("second atexit handler"); });
  at_quick_exit([] { tell("at_quick_exit handler"); });
  pthread_key_create(&rounds_key, key_destructor);
  pthread_key_create(&other_key, [](void*) { tell("other key's destructor"); });
  local().number = 2;
}
int destructors(int, char**) {
  prepare_ends();
  joined(started(ends_with_destructors, nullptr), nullptr);
  return 21;
}
int main_leaves(int, char**) {
  prepare_ends();
  static pthread_t first = pthread_self();
  started(
      [](void*) -> void* {
        joined(first, &rounds_key);
        tell("main has left");
        return nullptr;
      },
      nullptr);
  pthread_exit(&rounds_key);
}
int exit_of_a_thread(int, char**) {
  prepare_ends();
  started([](void*) -> void* { exit(22); }, nullptr);
  for (;;) work();
}
int quick_exit_of_a_thread(int, char**) {
  prepare_ends();
  started([](void*) -> void* { quick_exit(23); }, nullptr);
  for (;;) pause();
}
int exit_of_all(int, char**) {
  for (int i = 0; i < 8; ++i) started([](void*) -> void* { work(20 * STEPS_PER_MS), _exit(24); }, nullptr);
  for (;;) work();
}
int cancelled_main(int, char**) {
  prepare_ends();
  static pthread_t first = pthread_self();
  started(
      [](void*) -> void* {
        pthread_cancel(first);
        joined(first, PTHREAD_CANCELED);
        exit(25);
      },
      nullptr);
  for (;;) pause();
}
int fork_of_a_thread(int, char**) {
  prepare_ends();
  started(
      [](void*) -> void* {
        local().number = 3;
        pid_t pid = fork();
        if (pid == 0) tell("child"), pthread_exit(nullptr);  // the last of its process: exit(0)
        int status = 0;
        waitpid(pid, &status, 0);
        tell("child's end", status);
        exit(26);
      },
      nullptr);
  for (;;) pause();
}

pthread_once_t once_control = PTHREAD_ONCE_INIT;
std::once_flag flag;
std::atomic<int> entered{0};
void first_is_cancelled() {
  if (++entered == 1) waits_for_cancel(nullptr);
  work(4 * STEPS_PER_MS);
}
/// What is to be done once: by the next one where the first is cancelled, or throws.
int once(int, char**) {
  constexpr auto kOnce = [](void*) -> void* {
    return pthread_once(&once_control, first_is_cancelled), &flag;
  };
  pthread_t first = started(kOnce, nullptr);
  while (entered == 0) usleep(100);
  pthread_t others[4];
  for (pthread_t& other : others) other = started(kOnce, nullptr);
  usleep(3000);
  pthread_cancel(first);
  joined(first, PTHREAD_CANCELED);
  for (pthread_t other : others) joined(other, &flag);
  printf("entered %d, cleaned up %lu\n", entered.load(), cleaned.load());
  std::vector<std::thread> threads;
  std::atomic<int> thrown{0}, calls{0};
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&] {
      try {
        std::call_once(flag, [&] {
          work(4 * STEPS_PER_MS);
          if (++calls < 4) throw calls.load();
        });
      } catch (int) {
        ++thrown;
      }
    });
  for (std::thread& thread : threads) thread.join();
  printf("thrown %d, calls %d\n", thrown.load(), calls.load());
  return 0;
}

constexpr struct {
  const char* name;
  int (*run)(int, char**);
} kKinds[] = {{"many", many},
              {"destructors", destructors},
              {"main_leaves", main_leaves},
              {"exit_of_a_thread", exit_of_a_thread},
              {"quick_exit_of_a_thread", quick_exit_of_a_thread},
              {"exit_of_all", exit_of_all},
              {"cancelled_main", cancelled_main},
              {"fork_of_a_thread", fork_of_a_thread},
              {"once", once}};

}  // namespace

int main(int argc, char** argv) {
  for (const auto& kind : kKinds)
    if (argc > 1 && !strcmp(argv[1], kind.name)) return kind.run(argc, argv);
  return 2;
}
