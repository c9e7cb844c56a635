// SPDX-License-Identifier: MIT
// One unwind row in 64 bits: the forms that make up nearly all rows of compiled code, so that the cache holds
// a rule in one word and a step is a few shifts. A row of another form is packed as kFull: "evaluate the CFI
// each time". Context: signal.
#pragma once

#include <cstdint>

#include "common/cfi.h"
#include "common/sample_format.h"

namespace varve::agent {

enum class Form : uint8_t {
  kNone = 0,      // a cache entry that was never written
  kOffset,        // CFA = reg + cfa
  kLoad,          // CFA = *(reg + cfa) + outer; rbp and rbx relative to the CFA
  kLoadBase,      // the same; rbp and rbx relative to reg (gcc's realigned frames)
  kSignal,        // the kernel's ucontext is at reg + cfa
  kRoot,          // the return address is undefined: no caller
  kFramePointer,  // code without CFI; in no object when in_no_object()
  kFull,          // rows of other forms
  kStop,          // the walk ends here, for the reason in stop_reason()
};

/// Offsets are counted in words of 8 bytes. In all forms but kSignal the return address is at CFA - 8 and the
/// caller's stack pointer is the CFA.
class PackedRule {
 public:
  constexpr PackedRule() = default;
  constexpr explicit PackedRule(uint64_t bits) : bits_(bits) {}
  constexpr explicit PackedRule(Form form, unsigned reg = 0)
      : bits_(uint64_t(form) | uint64_t(reg) << kRegPos) {}
  static constexpr PackedRule stop(format::StackEnd end) { return PackedRule(Form::kStop, unsigned(end)); }

  /// What a JIT made. An object may be mapped there later, so this answer has to be checked each time.
  static constexpr PackedRule outside_objects() { return PackedRule(Form::kFramePointer, 1); }
  constexpr bool in_no_object() const { return form() == Form::kFramePointer && reg() == 1; }

  constexpr uint64_t bits() const { return bits_; }
  constexpr Form form() const { return Form(bits_ & 15); }
  constexpr unsigned reg() const { return (bits_ >> kRegPos) & 15; }
  constexpr format::StackEnd stop_reason() const { return format::StackEnd(reg()); }
  /// Whether all registers but rbx, rbp and rsp keep their values.
  constexpr bool keeps_rest() const { return (bits_ >> kRestPos) & 1; }
  /// Whether the rule was found at a return address itself; see find_rule().
  constexpr bool at_entry() const { return (bits_ >> kEntryPos) & 1; }
  constexpr int64_t cfa_words() const { return field<kCfaPos, kCfaBits>(); }
  constexpr int64_t rbp_words() const { return field<kRbpPos, kSlotBits>(); }
  constexpr int64_t rbx_words() const { return field<kRbxPos, kSlotBits>(); }
  constexpr int64_t outer_words() const { return field<kOuterPos, kOuterBits>(); }

  constexpr void set_at_entry() { bits_ |= uint64_t{1} << kEntryPos; }
  constexpr void keep_rest() { bits_ |= uint64_t{1} << kRestPos; }
  // These return false, and leave the rule as it was, when the value does not fit.
  constexpr bool set_cfa_words(int64_t words) { return set<kCfaPos, kCfaBits>(words); }
  constexpr bool set_rbp_words(int64_t words) { return set<kRbpPos, kSlotBits>(words); }
  constexpr bool set_rbx_words(int64_t words) { return set<kRbxPos, kSlotBits>(words); }
  constexpr bool set_outer_words(int64_t words) { return set<kOuterPos, kOuterBits>(words); }

  /// Values of rbp_words and rbx_words that are no places.
  static constexpr int64_t kKept = -8192;
  static constexpr int64_t kLost = -8191;

 private:
  static constexpr unsigned kRegPos = 4, kRestPos = 8, kCfaPos = 9, kCfaBits = 20, kRbpPos = 29,
                            kSlotBits = 14, kRbxPos = 43, kOuterPos = 57, kOuterBits = 6, kEntryPos = 63;

  template <unsigned Pos, unsigned Bits>
  constexpr int64_t field() const {
    return int64_t(bits_ << (64 - Pos - Bits)) >> (64 - Bits);
  }
  template <unsigned Pos, unsigned Bits>
  constexpr bool set(int64_t words) {
    if (words < -(int64_t{1} << (Bits - 1)) || words >= int64_t{1} << (Bits - 1)) return false;
    bits_ |= (uint64_t(words) & ((uint64_t{1} << Bits) - 1)) << Pos;
    return true;
  }

  uint64_t bits_ = 0;
};

/// The packed form of `row`, which holds at `pc`.
PackedRule pack(const cfi::Fde& fde, const cfi::Row& row, uint64_t pc);

}  // namespace varve::agent
