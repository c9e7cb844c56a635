// SPDX-License-Identifier: MIT
// DWARF expressions over plain numbers: what each operator means, and which are refused. Context: tests.
#include "common/cfi_expression.h"

#include <criterion/criterion.h>

#include <memory>

#include "test/unit/cfi_numbers.h"
#include "test/unit/frame_image.h"

using namespace varve;
using namespace varve::cfi;
using namespace varve::test;

namespace {

bool evaluate(const Bytes& code, uint64_t* result) {
  Section section(code);
  Numbers domain;
  return Evaluator(domain, section.span).run(nullptr, result);
}

}  // namespace

Test(cfi, expressions) {
  struct {
    Bytes code;
    uint64_t result;
  } const cases[] = {
      {{0x30 + 17}, 17},
      {{0x08, 200}, 200},
      {{0x09, 0xff}, uint64_t(-1)},
      {{0x0a, 0x34, 0x12}, 0x1234},
      {{0x0b, 0xfe, 0xff}, uint64_t(-2)},
      {{0x0c, 1, 0, 0, 0x80}, 0x80000001},
      {{0x0d, 1, 0, 0, 0x80}, 0xffffffff80000001},
      {Bytes{0x0e} + raw(uint64_t{0x123456789}), 0x123456789},
      {Bytes{0x10} + uleb(300), 300},
      {Bytes{0x11} + sleb(-300), uint64_t(-300)},
      {{0x33, 0x35, 0x22}, 8},                   // 3 + 5
      {{0x33, 0x35, 0x1c}, uint64_t(-2)},        // 3 - 5
      {{0x33, 0x35, 0x1e}, 15},                  // 3 * 5
      {{0x09, 0xf6, 0x33, 0x1b}, uint64_t(-3)},  // -10 / 3
      {{0x3a, 0x33, 0x1d}, 1},                   // 10 % 3
      {{0x3c, 0x36, 0x1a}, 4},                   // 12 & 6
      {{0x3c, 0x36, 0x21}, 14},                  // 12 | 6
      {{0x3c, 0x36, 0x27}, 10},                  // 12 ^ 6
      {{0x31, 0x34, 0x24}, 16},                  // 1 << 4
      {{0x09, 0xf0, 0x34, 0x26}, uint64_t(-1)},  // -16 >> 4, signed
      {{0x40, 0x34, 0x25}, 1},                   // 16 >> 4
      {{0x33, 0x1f}, uint64_t(-3)},              // -3
      {{0x33, 0x20}, ~uint64_t{3}},              // ~3
      {{0x09, 0xf0, 0x19}, 16},                  // |-16|
      {{0x33, 0x33, 0x29}, 1},
      {{0x33, 0x34, 0x2a}, 0},
      {{0x33, 0x34, 0x2b}, 0},
      {{0x33, 0x34, 0x2c}, 1},
      {{0x09, 0xff, 0x34, 0x2d}, 1},
      {{0x33, 0x34, 0x2e}, 1},
      {{0x33, 0x34, 0x12, 0x22}, 8},        // dup
      {{0x33, 0x34, 0x13}, 3},              // drop
      {{0x33, 0x34, 0x14}, 3},              // over
      {{0x33, 0x34, 0x35, 0x15, 2}, 3},     // pick
      {{0x33, 0x34, 0x16}, 3},              // swap
      {{0x33, 0x34, 0x35, 0x17}, 4},        // rot: 3 4 5 -> 5 3 4
      {{0x77, 8}, 7008},                    // breg7 8
      {{0x92, 3, 0x7f}, 2999},              // bregx 3 -1
      {{0x77, 0, 0x06}, 7008},              // deref
      {{0x77, 0, 0x94, 4}, 7004},           // deref_size
      {{0x33, 0x23, 7, 0x96}, 10},          // plus_uconst, nop
      {{0x31, 0x28, 1, 0, 0x35, 0x36}, 6},  // bra over lit5
      {{0x35, 0x30, 0x28, 1, 0, 0x37}, 7},  // bra not taken
      {{0x2f, 1, 0, 0x35, 0x36}, 6},        // skip
  };
  for (const auto& test : cases) {
    uint64_t result = 0;
    cr_assert(evaluate(test.code, &result), "case %td", &test - cases);
    cr_assert_eq(result, test.result, "case %td: %lx", &test - cases, result);
  }
}

Test(cfi, refused_expressions) {
  const Bytes cases[] = {
      {},                                                      // nothing on the stack
      {0x22},                                                  // two values missing
      {0x33, 0x22},                                            // one missing
      {0x33, 0x30, 0x1b},                                      // division by zero
      {0x33, 0x30, 0x1d},                                      // remainder by zero
      {0x31, 0x14},                                            // over with one value
      {0x31, 0x15, 1},                                         // pick below the stack
      {0x31, 0x32, 0x17},                                      // rot with two values
      {0x2f, 0xfd, 0xff},                                      // a loop without an end
      {0x2f, 0x10, 0},                                         // a jump behind the end
      {0x2f, 0, 0x80},                                         // a jump before the begin
      {0x31, 0x94, 3},                                         // a load of three bytes
      {0x92, 40, 0},                                           // a register that is none
      {0x50},                                                  // reg0: a place, not a value
      {0x9c},                                                  // call_frame_cfa
      {0x0c, 1, 2},                                            // an operand cut short
      {0x10, 0x80},                                            // a number cut short
      {0x31, 0x12, 0x12, 0x12, 0x12, 0x12, 0x12, 0x12, 0x12},  // one value too many for the stack
  };
  for (const Bytes& code : cases) {
    uint64_t result;
    cr_assert_not(evaluate(code, &result), "case %td", &code - cases);
  }
  // INT64_MIN / -1 traps in hardware.
  uint64_t result;
  cr_assert(evaluate(Bytes{0x0e} + raw(uint64_t{1} << 63) + Bytes{0x09, 0xff, 0x1b}, &result));
  cr_assert_eq(result, uint64_t{1} << 63);
}
