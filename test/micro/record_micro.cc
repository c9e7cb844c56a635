// SPDX-License-Identifier: MIT
// What the agent does beside unwinding: writing a record, by how much of the stack is new, the clocks, and
// arming and disarming a thread's timer, and its event. Context: micro benchmarks.
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <random>

#include "agent/signal/agent_state.h"
#include "agent/signal/clock.h"
#include "agent/signal/sample_writer.h"
#include "agent/signal/tick_source.h"
#include "test/micro/micro.h"

using namespace varve;

namespace {

constexpr uint32_t kDepth = 30;
constexpr size_t kRounds = 300, kCalls = 200;

/// A file of the agent's in a directory of its own, which goes with it.
class Scratch {
 public:
  Scratch() {
    if (!mkdtemp(directory_)) std::perror("varve-micro"), std::exit(1);
    format::FileHeader header{};
    const long result = file->open((std::string(directory_) + "/micro.agent").c_str(), header);
    if (result) std::fprintf(stderr, "varve-micro: no file: %s\n", std::strerror(int(-result))), std::exit(1);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::filesystem::remove_all(directory_); }

  std::unique_ptr<agent::ProcessFile> file = std::make_unique<agent::ProcessFile>();

 private:
  char directory_[64] = "/tmp/varve-micro-XXXXXX";
};

/// Addresses as those of code: near each other, in a few places.
uint64_t some_address(std::mt19937_64& random) {
  return 0x7f0000000000 + (random() % 8 << 24) + random() % 0x10000;
}

/// Samples of which `fresh` frames from the leaf on differ from the one before, in turn among a few stacks so
/// that a predictor can learn them.
void measure_writes(uint32_t fresh) {
  Scratch scratch;
  auto frames = std::make_unique<uint64_t[]>(2 * kDepth);
  FramePredictor predictor{};
  agent::SampleWriter writer;
  writer.bind(frames.get(), kDepth, predictor, 0);
  std::mt19937_64 random(7);
  uint64_t stack[2][kDepth];
  for (uint64_t& frame : stack[0]) frame = some_address(random);
  std::memcpy(stack[1], stack[0], sizeof stack[0]);
  for (uint32_t i = 0; i < fresh; ++i) stack[1][i] = some_address(random);
  uint64_t time = 1;
  const auto write_all = [&] {
    for (size_t i = 0; i < kCalls; ++i) {
      std::memcpy(writer.scratch(), stack[i % 2], sizeof stack[0]);
      const auto record = agent::record_of({.weight_ns = 10'000'000 + i});
      if (!writer.write(*scratch.file, time += 10'000'000, record, kDepth)) std::abort();
    }
  };
  micro::print_row("a sample of 30 frames, " + std::to_string(fresh) + " of them new",
                   micro::cost_of(kRounds, kCalls, write_all));
}

void measure_clocks() {
  const auto many = [](auto read) {
    return [=] {
      for (size_t i = 0; i < kCalls; ++i) micro::use(read());
    };
  };
  agent::read_clock = clock_gettime;  // as at agent start
  micro::print_row("monotonic clock", micro::cost_of(kRounds, kCalls, many(agent::monotonic_ns)));
  micro::print_row("thread's CPU clock", micro::cost_of(kRounds, kCalls, many(agent::thread_cpu_ns)));
}

/// Of the timer, or where the kernel allows one, of the event of a thread.
void measure_ticks(bool event) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  format::CountersRecord counters{};
  agent::agent_state.counters = &counters;
  agent::agent_state.tick_signals = 1u << (SIGPROF - 1) | 1u << (SIGTRAP - 1);
  agent::agent_state.events_wanted = event;
  agent::agent_state.events_allowed.store(event);
  agent::ThreadBlock block;
  const auto cycle = [&] {
    for (size_t i = 0; i < kCalls; ++i) {
      if (agent::start_ticks(block, 10'000'000)) std::abort();
      agent::end_ticks(block);
    }
  };
  const micro::Cost cost = micro::cost_of(kRounds, kCalls, cycle);
  if (counters.values[uint32_t(format::Counter::kEventsRefused)]) return;
  micro::print_row(event ? "event opened and closed" : "timer armed and disarmed", cost);
}

}  // namespace

int main() {
  micro::print_head("Agent, an operation");
  for (const uint32_t fresh : {0u, 5u, 15u, 30u}) measure_writes(fresh);
  measure_clocks();
  measure_ticks(false);
  measure_ticks(true);
}
