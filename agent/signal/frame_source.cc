// SPDX-License-Identifier: MIT
// See frame_source.h.
// Context: signal.
#include "agent/signal/frame_source.h"

#include "agent/signal/agent_state.h"
#include "agent/signal/loaded_object.h"

namespace varve::agent {

bool find_and_note_object(uint64_t pc, ObjectFrameInfo* info) {
  dl_find_object found{};
  if (!find_object(pc, found)) {
    agent_state.copied_code.look(pc, agent_state.modules);
    return false;
  }
  // A rule that stayed in the cache would keep the module from ever being noted.
  if (!agent_state.modules.note(found)) agent_state.rules.invalidate();
  info->eh_frame_hdr = uint64_t(found.dlfo_eh_frame);
  return true;
}

}  // namespace varve::agent
