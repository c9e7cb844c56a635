// SPDX-License-Identifier: MIT
// The unwinder on an array of words as the stack: every reason to stop, and that nothing makes it fault.
// Context: tests.
#include "agent/signal/unwind.h"

#include <criterion/criterion.h>

#include "test/unit/unwind_world.h"

using namespace varve;
using namespace varve::agent;
using namespace varve::test;

Test(unwind, no_unwind_info) {
  World w;
  const uint64_t bare = w.image->add_bare({0x90});
  for (uint64_t rbp : {uint64_t{0}, w.at(3) + 1, w.at(0) - 64, w.at(w.stack.size()), ~uint64_t{0} << 4}) {
    w.registers.value[cfi::kRbp] = rbp;
    w.expect(bare, StackEnd::kNoUnwindInfo, {});
  }
}

Test(unwind, bad_memory) {
  World w;
  const uint64_t far = w.image->add(op::def_cfa(kRax, 16)),
                 load = w.image->add(op::def_cfa_expression(op::breg(kRax, 0) + op::deref));
  w.registers.value[kRax] = 0x7ffff0000000000;
  w.expect(load, StackEnd::kBadMemory, {});
  w.expect(far, StackEnd::kBadMemory, {});
}

Test(unwind, no_progress) {
  World w;
  const uint64_t stays = w.image->add(op::def_cfa(6, 16)),
                 loads = w.image->add(op::def_cfa_expression(op::breg(6, 0) + op::deref));
  w.registers.value[cfi::kRbp] = w.at(4);
  w.stack[5] = stays + 1;
  w.expect(stays, StackEnd::kNoProgress, {stays});
  w.registers.value[cfi::kRsp] = w.at(10);
  w.registers.value[cfi::kRbp] = w.at(12);
  w.stack[12] = w.at(2);
  w.expect(loads, StackEnd::kNoProgress, {});
}

Test(unwind, bad_cfi) {
  World w;
  w.expect(w.image->add(op::restore_state), StackEnd::kBadCfi, {});
  w.expect(w.image->add(op::def_cfa_expression({0x22})), StackEnd::kBadCfi, {});
  w.expect(w.image->add(op::same_value(16)), StackEnd::kBadCfi, {});
}

Test(unwind, bad_return) {
  World w;
  const uint64_t leaf = w.image->add({}), data = w.image->add_bare({1, 2, 3});
  for (uint64_t wrong :
       {uint64_t{17}, uint64_t{0x8000000000000000}, uint64_t{0x700000001000}, data + 20, w.at(9)}) {
    w.stack[0] = wrong;
    w.expect(leaf, StackEnd::kBadReturn, {});
  }
}

Test(unwind, unsupported) {
  World w;
  w.expect(w.image->add({0x3f}), StackEnd::kUnsupported, {});  // an operation nobody defined
  const uint64_t by_r12 = w.image->add(op::def_cfa(kR12, 8));
  w.registers.known &= ~(1u << kR12);
  w.expect(by_r12, StackEnd::kUnsupported, {});
}

Test(unwind, lost_registers_stay_lost) {
  World w;
  const uint64_t leaf = w.image->add(op::undefined(6)), by_rbp = w.image->add(op::def_cfa(6, 16));
  w.registers.value[cfi::kRbp] = w.at(4);
  w.stack[0] = by_rbp + 1;
  w.stack[5] = w.root + 1;
  w.expect(leaf, StackEnd::kUnsupported, {by_rbp});
}

Test(unwind, foreign_stack_is_probed_and_left) {
  World w;
  // A fiber's stack, outside the thread's own: its frames are read, and a loaded CFA may lead back down.
  const auto other = std::make_unique<uint64_t[]>(64);
  const uint64_t leaf = w.image->add(op::def_cfa_offset(16));
  const uint64_t back = w.image->add(op::def_cfa_expression(op::breg(7, 0) + op::deref));
  w.registers.value[cfi::kRsp] = reinterpret_cast<uint64_t>(other.get());
  other[1] = back + 1;
  other[2] = w.at(6);
  w.stack[5] = w.root + 1;
  w.expect(leaf, StackEnd::kRoot, {back, w.root});
}

Test(unwind, entry_rules_are_for_return_addresses) {
  World w;
  const uint64_t leaf = w.image->add({}), bottom = w.image->add({});
  w.registers.value[cfi::kRbp] = 0;
  w.stack[0] = bottom;
  w.expect(leaf, StackEnd::kRoot, {bottom});
  w.expect(bottom - 1, StackEnd::kNoUnwindInfo, {});  // interrupted there: code without CFI
}

Test(unwind, object_where_a_jit_was) {
  World w;
  // The image is made known only after its addresses have been walked as code of a JIT.
  static bool loaded;
  loaded = false;
  w.cache.init(w.entries.get(),
               [](uint64_t pc, ObjectFrameInfo* info) { return loaded && FrameImage::find(pc, info); });
  const uint64_t leaf = w.image->add(op::def_cfa_offset(16));
  w.registers.value[cfi::kRbp] = w.at(4);
  w.stack[1] = w.root + 1;
  w.stack[4] = 0;
  w.stack[5] = 0;
  w.expect(leaf, StackEnd::kRoot, {});
  loaded = true;
  w.expect(leaf, StackEnd::kRoot, {w.root});
}

Test(unwind, counts_hits_and_misses) {
  World w;
  const uint64_t leaf = w.image->add({});
  w.stack[0] = w.root + 1;
  UnwindResult result = w.walk(leaf);
  cr_assert_eq(result.cache_misses, 2);
  cr_assert_eq(result.cache_hits, 0);
  result = w.walk(leaf);
  cr_assert_eq(result.cache_misses, 0);
  cr_assert_eq(result.cache_hits, 2);
  w.cache.invalidate();
  cr_assert_eq(w.walk(leaf).cache_misses, 2);
}

Test(unwind, random_stacks_and_registers_never_fault) {
  World w;
  uint64_t state = 88172645463325252;
  auto random = [&] {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
  };
  std::vector<uint64_t> functions = {
      w.image->add({}),
      w.image->add(op::def_cfa(6, 16) + op::offset(6, 2)),
      w.image->add(op::def_cfa_expression(op::breg(6, -8) + op::deref) + op::expression(6, op::breg(6, 0))),
      w.image->add(op::in_register(7, 8) + op::in_register(16, kRdx)),
      w.image->add(op::def_cfa_expression(op::breg(7, kUcontextRsp) + op::deref) +
                       op::expression(16, op::breg(7, kUcontextRip)),
                   true),
      w.image->add_bare({0x55, 0x48, 0x89, 0xe5}),
  };
  auto anything = [&]() -> uint64_t {
    switch (random() % 5) {
      case 0:
        return random() | uint64_t{1} << 62;  // never readable, also where a sanitizer maps terabytes
      case 1:
        return w.at(random() % 80) + (kAddressSanitizer ? 0 : random() % 2 * (random() % 16));
      case 2:
        return random() % 10000;
      default:
        return functions[random() % functions.size()] + random() % 64;
    }
  };
  for (int round = 0; round < 20000; ++round) {
    for (uint64_t& word : w.stack) word = anything();
    for (uint64_t& value : w.registers.value) value = anything();
    const UnwindResult result = w.walk(anything());
    cr_assert_leq(result.depth, 32);
    cr_assert_lt(int(result.end), int(StackEnd::kCount));
  }
}
