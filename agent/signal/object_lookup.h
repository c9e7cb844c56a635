// SPDX-License-Identifier: MIT
// What the unwinder asks of whoever knows the loaded objects: from a pc to the unwind table of its object. In
// the agent that is frame_source.h, over glibc's _dl_find_object. Context: signal.
#pragma once

#include <cstdint>

namespace varve::agent {

struct ObjectFrameInfo {
  uint64_t eh_frame_hdr = 0;      // address of the object's .eh_frame_hdr; 0 when it has none
  bool tables_were_seen = false;  // what it leads to can be read in place; otherwise by copies
};

/// Fills `info` and returns true when `pc` lies in a loaded object. Must be safe in a signal handler.
using FindObject = bool (*)(uint64_t pc, ObjectFrameInfo* info);

}  // namespace varve::agent
