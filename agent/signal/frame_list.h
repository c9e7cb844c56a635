// SPDX-License-Identifier: MIT
// FrameList: the frames of one stack as the unwinder finds them, the leaf first. Of a stack that is deeper
// than the list is long both ends are kept: the innermost half in place, the outermost half in a ring behind
// it, one frame between them that stands for the rest. Frames of the agent's own code are no part of the
// program and are not taken. Not the walk: unwind.h. Context: signal.
#pragma once

#include <algorithm>
#include <cstdint>

#include "agent/signal/code_range.h"
#include "common/sample_format.h"

namespace varve::agent {

class FrameList {
 public:
  /// `frames` is memory for `capacity` addresses, at least kMinStackDepth of them.
  FrameList(uint64_t* frames, uint32_t capacity, CodeRange own_code = {})
      : frames_(frames), capacity_(capacity), own_code_(own_code) {}

  void clear() { next_ = count_ = 0; }

  void put(uint64_t frame) {
    if (own_code_.contains(frame)) return;
    if (next_ == capacity_) next_ = ring();
    frames_[next_++] = frame;
    ++count_;
  }

  /// The stack has been followed to its end, whole or not: puts the ring in order. Returns the depth.
  uint32_t finish() {
    if (count_ <= capacity_) return count_;
    frames_[inner()] = format::kFramesLeftOut;
    std::rotate(frames_ + ring(), frames_ + next_, frames_ + capacity_);
    return capacity_;
  }

  /// The stack goes on beyond what was followed, so what the ring holds is no end. Returns the depth.
  uint32_t finish_cut() { return count_ = std::min(count_, inner()); }

 private:
  uint32_t inner() const { return capacity_ / 2; }
  uint32_t ring() const { return inner() + 1; }

  uint64_t* const frames_;
  const uint32_t capacity_;
  const CodeRange own_code_;
  uint32_t next_ = 0;   // place of the next frame
  uint32_t count_ = 0;  // of all frames
};

}  // namespace varve::agent
