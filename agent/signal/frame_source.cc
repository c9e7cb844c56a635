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
  const ModuleLog::Noted noted = agent_state.modules.note(found);
  // A rule that stayed in the cache would keep the module from ever being noted.
  if (noted == ModuleLog::Noted::kNot) agent_state.rules.invalidate();
  if (noted != ModuleLog::Noted::kWithoutTables) info->eh_frame_hdr = uint64_t(found.dlfo_eh_frame);
  info->tables_were_seen = noted == ModuleLog::Noted::kWithTables;
  return true;
}

}  // namespace varve::agent
