// SPDX-License-Identifier: MIT
// DWARF expressions as they occur in call frame information, evaluated over any domain of values: numbers
// with memory (to unwind) or symbols (to see whether a row is of a common form). Not the expressions of debug
// information: nothing here knows of pieces, types or locations in registers. Context: signal included. The
// stack and the number of steps are bounded, so a loop in an expression ends.
#pragma once

#include "common/cfi.h"

namespace varve::cfi {

enum class Operator : uint8_t {
  kAnd = 0x1a,
  kDiv = 0x1b,
  kMinus = 0x1c,
  kMod = 0x1d,
  kMul = 0x1e,
  kOr = 0x21,
  kShl = 0x24,
  kShr = 0x25,
  kShra = 0x26,
  kXor = 0x27,
  kEq = 0x29,
  kGe = 0x2a,
  kGt = 0x2b,
  kLe = 0x2c,
  kLt = 0x2d,
  kNe = 0x2e,
};

/// a OP b on numbers, `code` being the DW_OP byte; false for a division by zero or a code that is not an
/// Operator.
bool binary(uint8_t code, uint64_t a, uint64_t b, uint64_t* result);

/// Runs `code` and gives the top of the stack. A Domain has
///   Value                                  copyable
///   Value constant(uint64_t)
///   bool reg(unsigned dwarf, int64_t offset, Value*)     register + offset
///   bool load(Value address, unsigned bytes, Value*)
///   bool add(Value, Value, Value*)
///   bool number(Value, uint64_t*)          false where the value is not known as a number
/// and kStackSlots. `start` is pushed first if not null (register rules begin with the CFA on the stack).
template <typename Domain>
class Evaluator {
 public:
  using Value = typename Domain::Value;

  Evaluator(Domain& domain, Span code) : domain_(domain), code_(code), in_(code) {}

  bool run(const Value* start, Value* result) {
    if (start) push(*start);
    for (unsigned steps = 0; !in_.empty(); ++steps) {
      if (steps == kMaxSteps || !step(in_.template read<uint8_t>()) || !in_.ok() || failed_) return false;
    }
    *result = pop();
    return !failed_;
  }

 private:
  static constexpr unsigned kMaxSteps = 256;

  bool step(uint8_t op) {
    if (op >= 0x30 && op <= 0x4f) return push(domain_.constant(op - 0x30u));  // lit0..lit31
    if (op >= 0x70 && op <= 0x8f) return push_register(op - 0x70u);           // breg0..breg31
    switch (op) {
      case 0x03:
        return push(domain_.constant(in_.template read<uint64_t>()));  // addr
      case 0x06:
        return load(8);
      case 0x08:
        return push(domain_.constant(in_.template read<uint8_t>()));
      case 0x09:
        return push(domain_.constant(uint64_t(int64_t(in_.template read<int8_t>()))));
      case 0x0a:
        return push(domain_.constant(in_.template read<uint16_t>()));
      case 0x0b:
        return push(domain_.constant(uint64_t(int64_t(in_.template read<int16_t>()))));
      case 0x0c:
        return push(domain_.constant(in_.template read<uint32_t>()));
      case 0x0d:
        return push(domain_.constant(uint64_t(int64_t(in_.template read<int32_t>()))));
      case 0x0e:
      case 0x0f:
        return push(domain_.constant(in_.template read<uint64_t>()));
      case 0x10:
        return push(domain_.constant(in_.uleb()));
      case 0x11:
        return push(domain_.constant(uint64_t(in_.sleb())));
      case 0x12:
        return push(peek(0));
      case 0x13:
        pop();
        return true;
      case 0x14:
        return push(peek(1));
      case 0x15:
        return push(peek(in_.template read<uint8_t>()));
      case 0x16:
        return rotate(2);
      case 0x17:
        return rotate(3);
      case 0x19:
        return unary([](uint64_t a) { return int64_t(a) < 0 ? -a : a; });
      case 0x1f:
        return unary([](uint64_t a) { return -a; });
      case 0x20:
        return unary([](uint64_t a) { return ~a; });
      case 0x22:
        return add(pop(), pop());
      case 0x23:
        return add(domain_.constant(in_.uleb()), pop());  // plus_uconst
      case 0x28:
        return branch();
      case 0x2f:
        return jump(in_.template read<int16_t>());
      case 0x92:
        return push_register(in_.uleb());
      case 0x94:
        return load(in_.template read<uint8_t>());
      case 0x96:
        return true;
      default:
        return apply(op);
    }
  }

  bool push(Value value) {
    if (depth_ == Domain::kStackSlots) return false;
    stack_[depth_++] = value;
    return true;
  }
  Value pop() {
    if (depth_ == 0) return failed_ = true, domain_.constant(0);
    return stack_[--depth_];
  }
  Value peek(unsigned below_top) {
    if (below_top >= depth_) return failed_ = true, domain_.constant(0);
    return stack_[depth_ - 1 - below_top];
  }
  /// The top goes below the `count` - 1 values under it.
  bool rotate(unsigned count) {
    if (depth_ < count) return false;
    Value top = stack_[depth_ - 1];
    for (unsigned i = 1; i < count; ++i) stack_[depth_ - i] = stack_[depth_ - i - 1];
    stack_[depth_ - count] = top;
    return true;
  }
  bool push_register(uint64_t reg) {
    int64_t offset = in_.sleb();
    Value value;
    return reg < kRegisterCount && domain_.reg(unsigned(reg), offset, &value) && push(value);
  }
  bool load(unsigned bytes) {
    Value value;
    bool fits = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    return fits && domain_.load(pop(), bytes, &value) && push(value);
  }
  bool add(Value a, Value b) {
    Value sum;
    return domain_.add(a, b, &sum) && push(sum);
  }
  template <typename Function>
  bool unary(Function function) {
    uint64_t a;
    return domain_.number(pop(), &a) && push(domain_.constant(function(a)));
  }
  bool apply(uint8_t op) {
    uint64_t a, b, result;
    Value top = pop();
    if (!domain_.number(top, &b)) return false;
    // Symbol minus number is a symbol still.
    if (Operator(op) == Operator::kMinus) return add(pop(), domain_.constant(-b));
    return domain_.number(pop(), &a) && binary(op, a, b, &result) && push(domain_.constant(result));
  }
  bool branch() {
    int16_t distance = in_.template read<int16_t>();
    uint64_t condition;
    if (!domain_.number(pop(), &condition)) return false;
    return condition == 0 || jump(distance);
  }
  bool jump(int16_t distance) {
    uint64_t target = in_.address() + uint64_t(int64_t(distance));
    if (target < code_.begin || target > code_.end) return false;
    in_ = Cursor(code_.sub(target, code_.end));
    return true;
  }

  Domain& domain_;
  const Span code_;
  Cursor in_;
  bool failed_ = false;
  unsigned depth_ = 0;
  Value stack_[Domain::kStackSlots];
};

}  // namespace varve::cfi
