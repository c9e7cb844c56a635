// SPDX-License-Identifier: MIT
// World: a stack and code for the unwinder that are arrays of a test. Context: tests.
#pragma once

#include <criterion/criterion.h>
#include <sys/mman.h>

#include <memory>
#include <span>
#include <vector>

#include "agent/signal/frame_lookup.h"
#include "agent/signal/signal_frame.h"
#include "agent/signal/unwind.h"
#include "test/unit/frame_image.h"

namespace varve::test {

using namespace varve::agent;
using format::StackEnd;

// The sanitizer's shadow is terabytes of readable memory that may not be read; words put together from the
// halves of others point there.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

inline constexpr uint32_t kLimit = walk_limit(10'000'000);
inline constexpr unsigned kRax = 0, kRdx = 1, kRdi = 5, kR10 = 10, kR11 = 11, kR12 = 12;

/// A program's stack and code. Word 0 is the lowest; the stack pointer begins there.
struct World {
  std::unique_ptr<FrameImage> image = std::make_unique<FrameImage>();
  std::span<uint64_t> stack = page().first(64);
  std::unique_ptr<RuleCache::Entry[]> entries{new RuleCache::Entry[RuleCache::kEntries]()};
  RuleCache cache;
  Registers registers;
  uint64_t frames[32] = {};
  uint64_t root;  // a function whose return address is undefined

  /// Readable beyond the stack too, and unknown to sanitizers: a probe of the rest of the page is no error.
  static std::span<uint64_t> page() {
    void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return {static_cast<uint64_t*>(memory), 512};
  }

  World() {
    std::fill(stack.begin(), stack.end(), 0xdead);
    cache.init(entries.get(), FrameImage::find);
    root = image->add(op::undefined(16));
    registers.known = Registers::kAll;
    registers.value[cfi::kRsp] = at(0);
  }

  uint64_t at(size_t word) const { return reinterpret_cast<uint64_t>(stack.data() + word); }
  StackBounds bounds() const { return {at(0), at(stack.size())}; }

  UnwindResult walk(uint64_t pc, uint32_t max_frames = 32) {
    registers.value[cfi::kReturnAddress] = pc;
    FrameList list(frames, max_frames);
    return unwind(registers, bounds(), cache, list, kLimit);
  }

  /// Walks twice, since the second walk takes its rules from the cache, and expects these frames after the
  /// first.
  void expect(uint64_t pc, StackEnd end, const std::vector<uint64_t>& callers) {
    for (int round = 0; round < 2; ++round) {
      const UnwindResult result = walk(pc);
      cr_assert_eq(int(result.end), int(end), "round %d: ended by %d", round, int(result.end));
      cr_assert_eq(result.depth, callers.size() + 1, "round %d: %u frames", round, result.depth);
      cr_assert_eq(frames[0], pc);
      for (size_t i = 0; i < callers.size(); ++i)
        cr_assert_eq(frames[i + 1], callers[i], "frame %zu is %lx, not %lx", i + 1, frames[i + 1],
                     callers[i]);
    }
  }
};

}  // namespace varve::test
