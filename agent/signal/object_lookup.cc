// SPDX-License-Identifier: MIT
// _dl_find_object behind a weak reference; see object_lookup.h.
// Context: signal.
#include "agent/signal/object_lookup.h"

#include <dlfcn.h>

#pragma weak _dl_find_object

namespace varve::agent {
namespace {

bool find_by_loader(uint64_t pc, ObjectFrameInfo* info) {
  dl_find_object found;
  if (_dl_find_object(reinterpret_cast<void*>(pc), &found) != 0) return false;
  info->eh_frame_hdr = reinterpret_cast<uint64_t>(found.dlfo_eh_frame);
  return true;
}

}  // namespace

FindObject loader_find_object() { return &_dl_find_object ? find_by_loader : nullptr; }

}  // namespace varve::agent
