// SPDX-License-Identifier: MIT
// What a program needs to walk its own stacks with the agent's unwinder: a cache, a lookup, the bounds of a
// stack. Not the agent: no timer, no files. Context: test programs and benches.
#pragma once

#include <pthread.h>
#include <sys/mman.h>

#include "agent/signal/loaded_object.h"
#include "agent/signal/unwind.h"

namespace varve::test {

inline bool find_loaded(uint64_t pc, agent::ObjectFrameInfo* info) {
  dl_find_object found;
  if (!agent::find_object(pc, found)) return false;
  info->eh_frame_hdr = uint64_t(found.dlfo_eh_frame);
  return true;
}

inline void start_cache(agent::RuleCache& cache) {
  cache.init(
      mmap(nullptr, agent::RuleCache::kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      find_loaded);
}

inline agent::StackBounds this_stack() {
  pthread_attr_t attributes;
  void* low = nullptr;
  size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  return {uint64_t(low), uint64_t(low) + size};
}

}  // namespace varve::test
