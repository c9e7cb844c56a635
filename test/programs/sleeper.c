// SPDX-License-Identifier: MIT
// sleeper [MS]: sleeps in slices of 10 ms and does nothing else. Prints its CPU time. Context: test 43.
#include "work.h"

int main(int argc, char** argv) {
  uint64_t slices = number_argument(argc, argv, 1, 1000) / 10;
  for (uint64_t i = 0; i < slices; ++i) nanosleep(&(struct timespec){0, 10000000}, NULL);
  printf("{\"slices\": %lu, \"process\": %lu}\n", slices, process_ns());
}
