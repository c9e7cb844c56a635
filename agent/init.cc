// SPDX-License-Identifier: MIT
// The start of the agent: a constructor of the preloaded library. It finds the functions behind the hooks,
// begins the image and installs the handler, in that order, so that the first tick finds everything in place.
// Context: agent start; one thread, before main().
#include <signal.h>

#include <cerrno>

#include "agent/hooks.h"
#include "agent/image.h"
#include "agent/signal/agent_state.h"
#include "agent/signal_block.h"

namespace varve::agent {
namespace {

__attribute__((constructor(101))) void start_agent(int argc, char** argv, char**) {
  resolve_hooks();
  // The mask outlives exec: a parent that blocked the signals of ticks must not leave us without samples.
  uint64_t inherited = change_mask(SIG_BLOCK, kAllSignals);
  if (!begin_tick_signal(SIGPROF)) {
    refuse_image(-errno);
  } else {
    begin_first_image({argc, argv});
    if (in_recorded_process())
      start_hooks();
    else
      end_tick_signals(nullptr);
  }
  const uint64_t ticks = agent_state.tick_signals;
  if (current_block) current_block->program_blocks = inherited & ticks;
  change_mask(SIG_SETMASK, in_recorded_process() ? inherited & ~ticks : inherited);
}

__attribute__((destructor(101))) void end_agent() {
  if (in_recorded_process()) end_image(format::ImageEnd::kExit);
}

}  // namespace
}  // namespace varve::agent
