// SPDX-License-Identifier: MIT
// progress FILE HOW: two threads that work and keep noting their CPU clocks in FILE, until the process is
// killed or, after half a second of work, ends itself in the way HOW says. Context: test 53, which compares
// the notes with the profile.
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "work.h"

enum { kThreads = 2 };
struct note {
  uint64_t tid, cpu_ns;
};
static struct note* notes;
static uint64_t limit_ns;

static void* work(void* argument) {
  struct note* mine = &notes[(long)argument];
  uint64_t x = 37;
  mine->tid = (uint64_t)syscall(SYS_gettid);
  do {
    SPIN(x, STEPS_PER_MS / 10);
    __atomic_store_n(&mine->cpu_ns, thread_ns(), __ATOMIC_RELEASE);
  } while (mine->cpu_ns < limit_ns);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
  const char* how = argv[2];
  if (fd < 0 || ftruncate(fd, 4096)) return 2;
  notes = (struct note*)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  limit_ns = strcmp(how, "kill") ? 250000000u : 60000000000u;
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, work, (void*)i);
  if (!strcmp(how, "kill") || !strcmp(how, "exit"))
    pthread_join(threads[0], NULL), pthread_join(threads[1], NULL);
  while (notes[0].cpu_ns < limit_ns / 2) usleep(1000);
  if (!strcmp(how, "segv")) *(volatile int*)(argc - 3L) = 1;
  if (!strcmp(how, "abort")) abort();
  if (!strcmp(how, "_exit")) _exit(7);
  return 0;
}
