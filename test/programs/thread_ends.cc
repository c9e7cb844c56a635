// SPDX-License-Identifier: MIT
// thread_ends: threads that end in every way there is, each after 90 ms of work, two with destructors that
// work for 90 ms more. Prints the process's CPU time. With "main" main() leaves by pthread_exit. Context:
// test 47.
#include <pthread.h>
#include <threads.h>

#include <atomic>
#include <cstring>

#include "work.h"

namespace {

std::atomic<int> detached_left{0};
pthread_key_t key;

[[gnu::noinline]] uint64_t body() {
  uint64_t x = 5;
  SPIN(x, 90 * STEPS_PER_MS);
  return x;
}
[[gnu::noinline]] void key_destructor(void* value) {
  uint64_t x = reinterpret_cast<uint64_t>(value);
  SPIN(x, 90 * STEPS_PER_MS);
}
struct Local {
  uint64_t x = 9;
  [[gnu::noinline]] ~Local() { SPIN(x, 90 * STEPS_PER_MS); }
};
thread_local Local local;

void* returns(void*) { return reinterpret_cast<void*>(body() & 1); }
void* exits(void*) { pthread_exit(reinterpret_cast<void*>(body() & 1)); }
void* cancelled(void*) {
  body();
  for (;;) pause();
}
void* with_key(void*) {
  pthread_setspecific(key, reinterpret_cast<void*>(8));
  return returns(nullptr);
}
void* with_local(void*) {
  local.x += body();
  return nullptr;
}
void* detached(void*) {
  body();
  --detached_left;
  return nullptr;
}
int c11_returns(void*) { return int(body() & 1); }
int c11_exits(void*) { thrd_exit(int(body() & 1)); }

void run(void* (*routine)(void*), bool cancel = false) {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, routine, nullptr)) exit(3);
  if (cancel) usleep(100'000), pthread_cancel(thread);
  pthread_join(thread, nullptr);
}
void run_c11(thrd_start_t routine) {
  thrd_t thread;
  int result = 0;
  if (thrd_create(&thread, routine, nullptr) != thrd_success || thrd_join(thread, &result) != thrd_success)
    exit(4);
}

}  // namespace

int main(int argc, char** argv) {
  pthread_key_create(&key, key_destructor);
  run(returns), run(exits), run(cancelled, true), run(with_key), run(with_local), run_c11(c11_returns),
      run_c11(c11_exits);
  for (int i = 0; i < 2; ++i) {
    pthread_t thread;
    ++detached_left;
    if (pthread_create(&thread, nullptr, detached, nullptr) || pthread_detach(thread)) return 5;
  }
  while (detached_left) usleep(1000);
  usleep(20'000);
  printf("{\"threads\": 9, \"process\": %lu}\n", process_ns());
  fflush(stdout);
  if (argc > 1 && !strcmp(argv[1], "main")) pthread_exit(nullptr);
}
