// SPDX-License-Identifier: MIT
// will_wait() and until_it_waits(): one thread says that its next call waits, another goes on when it does,
// by /proc, however long the machine lets it wait for a processor first. Context: programs of tests.
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int thread_that_will_wait = 0;

static void will_wait(void) {
  __atomic_store_n(&thread_that_will_wait, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
}

static int is_asleep(int thread) {
  char path[64], text[256];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
  const int file = open(path, O_RDONLY);
  const ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) abort();
  text[length] = 0;
  return strstr(strrchr(text, ')'), ") S") != NULL;  // a name may have brackets, too
}

/// Of one thread after another. One that does not wait within ten seconds never will.
static void until_it_waits(void) {
  for (int i = 0; i < 10000; ++i, usleep(1000)) {
    const int thread = __atomic_load_n(&thread_that_will_wait, __ATOMIC_ACQUIRE);
    if (thread == 0 || !is_asleep(thread)) continue;
    __atomic_store_n(&thread_that_will_wait, 0, __ATOMIC_RELEASE);
    return;
  }
  abort();
}
