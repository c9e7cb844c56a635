// SPDX-License-Identifier: MIT
// What a frame costs: walks from a deep recursion of this program, all frames in the rule cache (hit) and
// none (miss), and on a stack that has to be probed. Prints one JSON line. Context: bench. Build: g++
// -std=c++20 -O2 -g -I. test/bench/unwind_bench.cc -o unwind_bench
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "test/programs/walk_setup.h"

using namespace varve;

namespace {

constexpr unsigned kDepth = 60, kRounds = 4000;

agent::RuleCache cache;
agent::StackBounds own;
uint64_t frames[1024];

struct Cost {
  double hit_ns, miss_ns, probed_ns;
  unsigned depth;
} cost;

uint64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1'000'000'000 + uint64_t(now.tv_nsec);
}

/// Nanoseconds a frame: the fastest tenth of the rounds, since others share the machine.
template <typename Before>
double measure(const ucontext_t& context, agent::StackBounds bounds, Before before) {
  static uint64_t times[kRounds];
  uint32_t depth = 1;
  const agent::Registers start = agent::registers_of(context);
  for (uint64_t& time : times) {
    before();
    const uint64_t begin = now_ns();
    agent::FrameList list(frames, 1024);
    depth = agent::unwind(start, bounds, cache, list, 1024).depth;
    time = now_ns() - begin;
  }
  std::sort(times, times + kRounds);
  cost.depth = depth;
  return double(times[kRounds / 10]) / depth;
}

void measure_here() {
  ucontext_t context;
  getcontext(&context);
  cost.hit_ns = measure(context, own, [] {});
  cost.miss_ns = measure(context, own, [] { cache.invalidate(); });
  cost.probed_ns = measure(context, {}, [] {});
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
  recurse<kDepth>();
  std::printf("{\"frames\": %u, \"hit_ns\": %.1f, \"miss_ns\": %.1f, \"probed_hit_ns\": %.1f}\n", cost.depth,
              cost.hit_ns, cost.miss_ns, cost.probed_ns);
}
