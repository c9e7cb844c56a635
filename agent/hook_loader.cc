// SPDX-License-Identifier: MIT
// dlclose: addresses may now mean other code, so the unwinder's rules are forgotten and unloaded modules get
// their time; ticks read no library in place meanwhile. dlopen has no hook: which directories it searches
// depends on the object that calls it. Context: any thread of the target.
#include <dlfcn.h>

#include "agent/hooks.h"
#include "agent/image.h"
#include "agent/real.h"
#include "agent/signal/agent_state.h"
#include "agent/signal/clock.h"
#include "agent/signal/unload_gate.h"
#include "agent/signal_block.h"

namespace varve::agent {
namespace {

Real<int(void*)> real_dlclose{"dlclose"};

}  // namespace

void resolve_loader_hooks() { real_dlclose.get(); }

int close_library(void* handle) { return real_dlclose(handle); }

VARVE_HOOK int dlclose(void* handle) {
  if (!in_recorded_process()) return real_dlclose(handle);
  agent_state.rules.invalidate();  // no rule of what is being unmapped
  const Unloading unloading;
  int result = real_dlclose(handle);
  // Rules go even if no module seems gone: another thread may have loaded one at the same place already.
  if (result == 0 && in_recorded_process()) {
    SignalBlock guard;
    agent_state.rules.invalidate();
    agent_state.modules.note_unloads(monotonic_ns());
  }
  return result;
}

}  // namespace varve::agent
