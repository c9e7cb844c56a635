// SPDX-License-Identifier: MIT
// What programs of signal handlers start from: one of several kinds, by its name. Context: test programs in
// C.
#pragma once

#include <signal.h>
#include <string.h>

#include "work.h"

static __thread uint64_t x = 47;

static void work_ms(unsigned ms) { SPIN(x, ms * STEPS_PER_MS); }

static void handle(int number, void (*handler)(int), int flags) {
  sigaction(number, &(struct sigaction){.sa_handler = handler, .sa_flags = flags}, NULL);
}

struct Kind {
  const char* name;
  void (*run)(void);
};

/// Works for a while, so that there are samples, and runs what the one argument names. Returns the exit code.
static int run_kind(int argc, char** argv, const struct Kind* kinds, size_t count) {
  for (size_t i = 0; argc == 2 && i < count; ++i)
    if (!strcmp(kinds[i].name, argv[1])) {
      work_ms(120);
      kinds[i].run();
      return 0;
    }
  fprintf(stderr, "usage: %s KIND\n", argv[0]);
  return 2;
}
