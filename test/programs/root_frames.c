// SPDX-License-Identifier: MIT
// root_frames: prints where in the file of the C library the calls stand by which it starts main and threads: return
// addresses less the library's bias. A stack whose outermost frames have one of them is whole, whoever took it, and no
// symbol is needed to tell. Context: make bench.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { kFrames = 64 };

static void* show(void* argument) {
  void* frames[kFrames];
  const int count = backtrace(frames, kFrames);
  for (int i = 0; i < count; ++i) {
    Dl_info info;
    struct link_map* map;
    if (!dladdr1(frames[i], &info, (void**)&map, RTLD_DL_LINKMAP) || !strstr(info.dli_fname, "/libc.so")) continue;
    printf("%lx\n", (unsigned long)frames[i] - map->l_addr);
  }
  return argument;
}

int main(void) {
  pthread_t thread;
  show(NULL);
  if (pthread_create(&thread, NULL, show, NULL)) return 1;
  return pthread_join(thread, NULL);
}
