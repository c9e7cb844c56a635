// SPDX-License-Identifier: MIT
// FramePredictor: call sites of a chunk of samples, and which frame followed each when it was last met,
// nearer to the leaf. Programs take the same calls again and again, so most frames of a stack that are new in
// their place are foreseen, and cost no byte or two instead of five; and one that is not, but was met
// elsewhere, is told by its place in the table. Writer and reader of samples hold one each and teach it the
// same frames in the same order. Not a cache of anything that could be wrong: a false prediction costs bytes.
// Context: any, signal included; nothing here allocates.
#pragma once

#include <cstdint>
#include <cstring>

namespace varve {

/// All zeros is one that has learned nothing, as fresh memory of the kernel's is; any other is to be
/// value-initialized.
class FramePredictor {
 public:
  /// A chunk of samples has about as many different frames.
  static constexpr uint32_t kPlaces = 1 << 10;

  /// At the begin of a chunk, and where another thread's samples begin.
  void forget() {
    if (learned_) std::memset(entries_, 0, sizeof entries_);
    learned_ = false;
  }

  /// The frame that is expected after `frame`; 0: none.
  uint64_t after(uint64_t frame) const {
    const Entry& entry = entries_[place_of(frame)];
    return entry.frame == frame ? entry.next : 0;
  }
  void learn(uint64_t frame, uint64_t next) {
    entries_[place_of(frame)] = {frame, next};
    learned_ = true;
  }

  /// Where a frame stands if it is known. Fibonacci hashing: the high bits of the product are the mixed ones.
  static uint32_t place_of(uint64_t frame) { return uint32_t(frame * 0x9E3779B97F4A7C15u >> 54); }
  static_assert(kPlaces == 1u << (64 - 54));
  /// 0: none.
  uint64_t at(uint32_t place) const { return entries_[place].frame; }

 private:
  struct Entry {
    uint64_t frame, next;
  };

  Entry entries_[kPlaces];
  bool learned_;
};

}  // namespace varve
