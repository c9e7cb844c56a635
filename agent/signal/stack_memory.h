// SPDX-License-Identifier: MIT
// The only way the unwinder reads the target's memory: words of the thread's own stack after one comparison,
// anything else (alternate stacks, fibers, wild pointers) only after the kernel has said that the page is
// readable. Not a copy of the stack. A page that another thread unmaps between the probe and the read would
// still fault; the stacks that are walked are in use by the walking thread, so only a wild pointer could meet
// that. Context: signal.
#pragma once

#include <cstdint>

namespace varve::agent {

/// A stack as [low, high): all of it readable, the guard page not included.
struct StackBounds {
  uint64_t low = 0;
  uint64_t high = 0;

  bool contains(uint64_t address) const { return address >= low && address < high; }
};

class StackMemory {
 public:
  explicit StackMemory(StackBounds own) : own_(own) {}

  /// Says where the stack pointer is now. What lies above it in the own stack is read without asking the
  /// kernel.
  void focus(uint64_t stack_pointer);

  /// The word at `address`, which need not be aligned; false when any of its bytes is not readable. What the
  /// kernel lets be read may be a sanitizer's own, which would object (unit tests).
  __attribute__((no_sanitize("address"))) bool read(uint64_t address, uint64_t* value) {
    struct __attribute__((packed, may_alias)) Word {
      uint64_t value;
    };
    if (__builtin_expect(address - low_ >= span_, 0) && !readable(address, sizeof *value)) return false;
    *value = reinterpret_cast<const Word*>(address)->value;
    return true;
  }

  /// Whether `size` bytes (at most a page) can be read, by asking the kernel or by having asked it in this
  /// walk.
  bool readable(uint64_t address, uint64_t size);

  const StackBounds& own() const { return own_; }

 private:
  static constexpr unsigned kPages = 4;

  bool page_readable(uint64_t page);

  StackBounds own_;
  uint64_t low_ = 0;  // words at [low_, low_ + span_) need no probe
  uint64_t span_ = 0;
  unsigned next_ = 0;                      // slot of pages_ to overwrite
  uint64_t pages_[kPages] = {1, 1, 1, 1};  // readable pages by address; 1 is the address of none
};

}  // namespace varve::agent
