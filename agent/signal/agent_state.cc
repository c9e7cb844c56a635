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

bool write_record(ThreadBlock& block, uint64_t time_ns, const RecordFields& fields, uint32_t depth) {
  if (Segment segment; !block.writer.has_segment() && agent_state.segments.take(segment))
    block.writer.give_segment(segment);
  return block.writer.write(agent_state.file, time_ns, fields, depth);
}

}  // namespace varve::agent
