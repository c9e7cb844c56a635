// SPDX-License-Identifier: MIT
// Where an expression stands, and what the operators do to numbers. Source: DWARF 5, section 2.5.1.4
// and 2.5.1.5. Context: signal included.
#include "common/cfi_expression.h"

#include <initializer_list>

namespace varve::cfi {

Span expression_at(const Fde& fde, int32_t place) {
  uint64_t address = fde.origin + uint64_t(int64_t(place));
  for (Span program : {fde.program, fde.initial}) {
    if (address < program.begin || address >= program.end) continue;
    Cursor in(program.sub(address, program.end));
    Span code = in.take(in.uleb());
    if (in.ok()) return code;
  }
  return {};
}

bool binary(uint8_t code, uint64_t a, uint64_t b, uint64_t* result) {
  const int64_t x = int64_t(a), y = int64_t(b);
  switch (Operator(code)) {
    case Operator::kAnd:
      *result = a & b;
      return true;
    case Operator::kDiv:
      if (b == 0) return false;
      *result = y == -1 ? -a : uint64_t(x / y);  // INT64_MIN / -1 would trap
      return true;
    case Operator::kMinus:
      *result = a - b;
      return true;
    case Operator::kMod:
      if (b == 0) return false;
      *result = a % b;
      return true;
    case Operator::kMul:
      *result = a * b;
      return true;
    case Operator::kOr:
      *result = a | b;
      return true;
    case Operator::kShl:
      *result = b < 64 ? a << b : 0;
      return true;
    case Operator::kShr:
      *result = b < 64 ? a >> b : 0;
      return true;
    case Operator::kShra:
      *result = uint64_t(x >> (b < 64 ? b : 63));
      return true;
    case Operator::kXor:
      *result = a ^ b;
      return true;
    case Operator::kEq:
      *result = x == y;
      return true;
    case Operator::kGe:
      *result = x >= y;
      return true;
    case Operator::kGt:
      *result = x > y;
      return true;
    case Operator::kLe:
      *result = x <= y;
      return true;
    case Operator::kLt:
      *result = x < y;
      return true;
    case Operator::kNe:
      *result = x != y;
      return true;
  }
  return false;
}

}  // namespace varve::cfi
