// SPDX-License-Identifier: MIT
// FramePredictor: which frame followed a frame when it was last met, nearer to the leaf. Programs take the
// same calls again and again, so most frames of a stack that are new in their place are foreseen, and cost no
// byte or two instead of five. Writer and reader of samples hold one each and teach it the same frames in the
// same order. Not a cache of anything that could be wrong: a false prediction costs bytes. Context: any,
// signal included; nothing here allocates.
#pragma once

#include <cstdint>
#include <cstring>

namespace varve {

class FramePredictor {
 public:
  /// At the begin of a chunk, and where another thread's samples begin.
  void forget() { std::memset(last_, 0, sizeof last_); }

  /// The frame that is expected after `frame`; 0: none.
  uint64_t after(uint64_t frame) const { return last_[slot(frame)]; }
  void learn(uint64_t frame, uint64_t next) { last_[slot(frame)] = next; }

 private:
  /// 8 KB: a chunk of samples has about as many different frames.
  static constexpr unsigned kBits = 10;
  /// Fibonacci hashing: the high bits of the product are the mixed ones.
  static constexpr size_t slot(uint64_t frame) { return size_t(frame * 0x9E3779B97F4A7C15u >> (64 - kBits)); }

  uint64_t last_[size_t{1} << kBits] = {};
};

}  // namespace varve
