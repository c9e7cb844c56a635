// SPDX-License-Identifier: MIT
// Numbers: a domain of values for expressions in which every register and word has a value that names it.
// Context: tests.
#pragma once

#include "common/cfi_expression.h"

namespace varve::test {

struct Numbers {
  using Value = uint64_t;
  static constexpr unsigned kStackSlots = 8;

  static Value constant(uint64_t number) { return number; }
  static bool reg(unsigned dwarf, int64_t offset, Value* value) {
    return *value = dwarf * 1000 + uint64_t(offset), true;
  }
  static bool load(Value address, unsigned bytes, Value* value) { return *value = address + bytes, true; }
  static bool add(Value a, Value b, Value* sum) { return *sum = a + b, true; }
  static bool number(Value value, uint64_t* result) { return *result = value, true; }
};

}  // namespace varve::test
