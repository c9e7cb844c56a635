// SPDX-License-Identifier: MIT
// in_flight [MS]: exceptions thrown through frames whose destructors work: the stack is being unwound while
// it is sampled. Prints how many were caught. Context: test 49.
#include "work.h"

namespace {

uint64_t x = 17, steps;

struct Burns {
  [[gnu::noinline]] ~Burns() { SPIN(x, steps); }
};
[[gnu::noinline]] void throws(int depth) {
  Burns burns;
  if (!depth) throw int(x & 1);
  throws(depth - 1);
}
[[gnu::noinline]] int catches() {
  try {
    throws(5);
  } catch (int value) {
    return 1 + 0 * value;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  steps = STEPS_PER_MS / 100;
  int caught = 0;
  for (uint64_t left = number_argument(argc, argv, 1, 300) * 100 / 6; left; --left) caught += catches();
  printf("{\"caught\": %d}\n", caught);
}
