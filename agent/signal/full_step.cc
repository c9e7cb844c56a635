// SPDX-License-Identifier: MIT
// Applying a whole row; see full_step.h.
// Context: signal.
#include "agent/signal/full_step.h"

#include "agent/signal/frame_lookup.h"
#include "agent/signal/unwind.h"
#include "common/cfi_expression.h"

namespace varve::agent {
namespace {

using cfi::Rule;

/// Expressions over the callee's registers and the memory of this process.
struct NumberDomain {
  using Value = uint64_t;
  static constexpr unsigned kStackSlots = 16;

  const Registers& registers;
  StackMemory& memory;
  FullStep failure = FullStep::kBadCfi;

  static Value constant(uint64_t number) { return number; }
  bool reg(unsigned dwarf, int64_t offset, Value* value) {
    *value = registers.value[dwarf] + uint64_t(offset);
    return registers.knows(dwarf) || (failure = FullStep::kMissingRegister, false);
  }
  bool load(Value address, unsigned bytes, Value* value) {
    if (!memory.readable(address, bytes)) return failure = FullStep::kBadMemory, false;
    *value = 0;
    std::memcpy(value, reinterpret_cast<const void*>(address), bytes);
    return true;
  }
  static bool add(Value a, Value b, Value* sum) { return *sum = a + b, true; }
  static bool number(Value value, uint64_t* result) { return *result = value, true; }
};

class RowStep {
 public:
  RowStep(const cfi::Fde& fde, const cfi::Row& row, const Registers& callee, StackMemory& memory)
      : fde_(fde), row_(row), callee_(callee), memory_(memory) {}

  FullStep run(Registers* caller) {
    if (!find_cfa()) return failure_;
    *caller = callee_;
    caller->value[cfi::kRsp] = cfa_;
    caller->known |= 1u << cfi::kRsp;
    for (unsigned reg = 0; reg < cfi::kRegisterCount; ++reg) {
      if (row_.rule[reg] == Rule::kUnspecified) continue;
      const bool known = find(reg, &caller->value[reg]);
      caller->known = known ? caller->known | 1u << reg : caller->known & ~(1u << reg);
      if (!known && (reg == cfi::kReturnAddress || reg == cfi::kRsp)) return failure_;
    }
    // A row that leaves the pc as it was would go round for ever.
    if (row_.rule[cfi::kReturnAddress] <= Rule::kSame) return FullStep::kBadCfi;
    if (fde_.signal_frame) return FullStep::kInterrupted;
    return row_.rule[cfi::kRsp] == Rule::kUnspecified ? FullStep::kCalled : FullStep::kSwitched;
  }

 private:
  bool find_cfa() {
    if (row_.cfa_register == cfi::kCfaExpression) return evaluate(row_.cfa_value, nullptr, &cfa_);
    cfa_ = callee_.value[row_.cfa_register] + uint64_t(int64_t(row_.cfa_value));
    return callee_.knows(row_.cfa_register) || fail(FullStep::kMissingRegister);
  }

  bool find(unsigned reg, uint64_t* value) {
    const int32_t operand = row_.value[reg];
    const uint64_t place = cfa_ + uint64_t(int64_t(operand));
    uint64_t address;
    switch (row_.rule[reg]) {
      case Rule::kUnspecified:
      case Rule::kSame:
        *value = callee_.value[reg];
        return callee_.knows(reg);
      case Rule::kUndefined:
        return fail(FullStep::kUnsupported);
      case Rule::kOffset:
        return read(place, value);
      case Rule::kValOffset:
        *value = place;
        return true;
      case Rule::kRegister:
        return copy(unsigned(operand), value);
      case Rule::kExpression:
        return evaluate(operand, &cfa_, &address) && read(address, value);
      case Rule::kValExpression:
        return evaluate(operand, &cfa_, value);
    }
    return false;
  }

  bool read(uint64_t address, uint64_t* value) {
    return memory_.read(address, value) || fail(FullStep::kBadMemory);
  }

  bool copy(unsigned from, uint64_t* value) {
    if (from >= cfi::kRegisterCount) return fail(FullStep::kUnsupported);
    *value = callee_.value[from];
    return callee_.knows(from) || fail(FullStep::kMissingRegister);
  }

  [[gnu::noinline]] bool evaluate(int32_t place, const uint64_t* start, uint64_t* result) {
    NumberDomain domain{callee_, memory_};
    return cfi::Evaluator(domain, cfi::expression_at(fde_, place)).run(start, result) || fail(domain.failure);
  }

  bool fail(FullStep failure) { return failure_ = failure, false; }

  const cfi::Fde& fde_;
  const cfi::Row& row_;
  const Registers& callee_;
  StackMemory& memory_;
  uint64_t cfa_ = 0;
  FullStep failure_ = FullStep::kBadCfi;
};

}  // namespace

FullStep evaluate_full(FindObject find, const Registers& callee, bool exact, StackMemory& memory,
                       Registers* caller) {
  FrameRow frame;
  const uint64_t pc = callee.value[cfi::kReturnAddress];
  const cfi::Status status = find_row(find, exact ? pc : pc - 1, &frame);
  // kNone: the object was unloaded since its rule was cached.
  if (status == cfi::Status::kUnsupported) return FullStep::kUnsupported;
  if (status != cfi::Status::kOk) return FullStep::kBadCfi;
  return RowStep(frame.fde, frame.row, callee, memory).run(caller);
}

}  // namespace varve::agent
