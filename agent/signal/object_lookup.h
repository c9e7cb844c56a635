// SPDX-License-Identifier: MIT
// From a pc to the unwind table of the object it lies in. Where glibc has _dl_find_object (2.35 and later)
// that is all there is to do: it is lock-free and takes 8-13 ns. Elsewhere the agent supplies a function over
// its own module list. Context: signal.
#pragma once

#include <cstdint>

namespace varve::agent {

struct ObjectFrameInfo {
  uint64_t eh_frame_hdr = 0;  // address of the object's .eh_frame_hdr; 0 when it has none
};

/// Fills `info` and returns true when `pc` lies in a loaded object. Must be safe in a signal handler.
using FindObject = bool (*)(uint64_t pc, ObjectFrameInfo* info);

/// The FindObject over _dl_find_object, or null where the C library has none.
FindObject loader_find_object();

}  // namespace varve::agent
