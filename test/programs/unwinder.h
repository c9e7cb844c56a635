// SPDX-License-Identifier: MIT
// The agent's unwinder as part of a test program: its sources, compiled into the program that includes this.
// Not the agent: no timer, no files.
// Context: test programs.
#pragma once

#include <pthread.h>
#include <sys/mman.h>

#include "agent/signal/frame_lookup.cc"
#include "agent/signal/full_step.cc"
#include "agent/signal/loaded_object.h"
#include "agent/signal/packed_rule.cc"
#include "agent/signal/rule_cache.cc"
#include "agent/signal/stack_memory.cc"
#include "agent/signal/unwind.cc"
#include "common/cfi.cc"

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
