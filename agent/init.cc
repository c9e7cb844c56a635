// SPDX-License-Identifier: MIT
// The start of the agent: a constructor of the preloaded library, which comes last, or a hook that cannot do
// without: libraries make threads in their constructors. It finds the functions behind the hooks, begins the
// image and installs the handler, in that order, so that the first tick finds everything in place. Context:
// agent start; one thread, before main().
#include <signal.h>

#include <cerrno>
#include <cstring>

#include "agent/hooks.h"
#include "agent/image.h"
#include "agent/signal/agent_state.h"
#include "agent/signal/clock.h"
#include "agent/signal_block.h"
#include "agent/text.h"

namespace varve::agent {
namespace {

bool started = false;

void start(const ProgramArguments& arguments) {
  started = true;
  learn_clock();
  resolve_hooks();
  // The mask outlives exec: a parent that blocked the signals of ticks must not leave us without samples.
  uint64_t inherited = change_mask(SIG_BLOCK, kAllSignals);
  if (!begin_tick_signal(SIGPROF)) {
    refuse_image(-errno);
  } else {
    begin_first_image(arguments);
    if (in_recorded_process())
      start_hooks();
    else
      end_tick_signals(nullptr);
  }
  const uint64_t ticks = agent_state.tick_signals;
  if (current_block) current_block->program_blocks = inherited & ticks;
  change_mask(SIG_SETMASK, in_recorded_process() ? inherited & ~ticks : inherited);
}

/// As the kernel has them, for who is not told by the loader.
ProgramArguments arguments_of_kernel() {
  constexpr int kMost = 1000;
  static char text[24 * 1024];
  static char* values[kMost];
  const long size = read_file("/proc/self/cmdline", text, sizeof text - 1);
  ProgramArguments arguments{0, values};
  for (char* at = text; at < text + size && arguments.count < kMost; at += std::strlen(at) + 1)
    values[arguments.count++] = at;
  return arguments;
}

__attribute__((constructor(101))) void start_agent(int argc, char** argv, char**) {
  if (!started) start({argc, argv});
}

__attribute__((destructor(101))) void end_agent() {
  if (in_recorded_process()) end_image(format::ImageEnd::kExit);
}

}  // namespace

void start_before_our_turn() {
  if (!started) start(arguments_of_kernel());
}

}  // namespace varve::agent
