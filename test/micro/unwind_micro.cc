// SPDX-License-Identifier: MIT
// What a frame costs: walks from deep recursions of this program, all frames in the rule cache (hit), none
// (miss), and on a stack whose bounds are not known, so that it has to be probed. Context: micro benchmarks.
#include <cstdlib>
#include <string>

#include "test/micro/micro.h"
#include "test/programs/walk_setup.h"

using namespace varve;

namespace {

constexpr unsigned kMostFrames = 1024;
constexpr size_t kRounds = 2000;

agent::RuleCache cache;
agent::StackBounds own;
uint64_t frames[kMostFrames];

uint32_t walk(const agent::Registers& start, agent::StackBounds bounds) {
  agent::FrameList list(frames, kMostFrames);
  return agent::unwind(start, bounds, cache, list, kMostFrames).depth;
}

template <typename Before>
void measure(const char* what, const agent::Registers& start, agent::StackBounds bounds, Before before) {
  const uint32_t depth = walk(start, bounds);
  const micro::Cost cost = micro::cost_of(kRounds, depth, before, [&] { walk(start, bounds); });
  micro::print_row(std::to_string(depth) + " frames, " + what, cost);
}

void measure_here() {
  ucontext_t context;
  getcontext(&context);
  const agent::Registers start = agent::registers_of(context);
  measure("rules known", start, own, [] {});
  measure("no rule known", start, own, [] { cache.invalidate(); });
  measure("rules known, stack probed", start, {}, [] {});
}

volatile unsigned sink;

// Functions of different shapes, so that a miss does not find the same FDE again and again.
template <unsigned N>
[[gnu::noinline]] void recurse() {
  volatile char frame[16 + N % 7 * 24];
  frame[0] = char(N);
  if constexpr (N == 0) {
    measure_here();
  } else {
    recurse<N - 1>();
  }
  sink = sink + unsigned(frame[0]);
}

}  // namespace

int main() {
  test::start_cache(cache);
  own = test::this_stack();
  micro::print_head("Unwinder, a frame");
  recurse<5>();
  recurse<60>();
  recurse<400>();
}
