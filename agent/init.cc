// SPDX-License-Identifier: MIT
// The start of the agent: a constructor of the preloaded library. It finds the functions behind the hooks,
// begins the image and installs the handler, in that order, so that the first tick finds everything in place.
// Context: agent start; one thread, before main().
#include <signal.h>

#include "agent/hooks.h"
#include "agent/image.h"
#include "agent/signal/agent_state.h"
#include "agent/signal/tick_handler.h"
#include "agent/signal_block.h"

namespace varve::agent {
namespace {

/// What the program inherited for SIGPROF (SIG_IGN, perhaps) is what it will see. False: the kernel refused.
bool install_handler(struct sigaction& before) {
  struct sigaction ours = {};
  ours.sa_sigaction = handle_sigprof;
  ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  if (real_sigaction(SIGPROF, &ours, &before)) return false;
  agent_state.program_sigprof.set(before);
  return true;
}

__attribute__((constructor(101))) void start_agent(int argc, char** argv, char**) {
  resolve_hooks();
  // The mask outlives exec: a parent that blocked SIGPROF must not leave us without samples.
  uint64_t inherited = change_mask(SIG_BLOCK, kAllSignals);
  struct sigaction before = {};
  if (install_handler(before)) {
    begin_first_image({argc, argv});
    if (in_recorded_process())
      start_hooks();
    else
      real_sigaction(SIGPROF, &before, nullptr);
  }
  change_mask(SIG_SETMASK, in_recorded_process() ? inherited & ~kSigprofBit : inherited);
}

__attribute__((destructor(101))) void end_agent() {
  if (in_recorded_process()) end_image(format::ImageEnd::kExit);
}

}  // namespace
}  // namespace varve::agent
