// SPDX-License-Identifier: MIT
// See agent_state.h.
// Context: signal, and every other part of the agent.
#include "agent/signal/agent_state.h"

namespace varve::agent {

constinit AgentState agent_state;
constinit thread_local ThreadBlock* current_block = nullptr;

bool SegmentPool::take(Segment& segment) {
  SpinGuard guard(lock_);
  if (!guard.owns() || !count_) return false;
  segment = segments_[--count_];
  return true;
}

bool SegmentPool::give(const Segment& segment) {
  SpinGuard guard(lock_);
  if (!guard.owns() || count_ == kCapacity) return false;
  segments_[count_++] = segment;
  return true;
}

void SegmentPool::reset() {
  lock_.unlock();
  count_ = 0;
}

}  // namespace varve::agent
