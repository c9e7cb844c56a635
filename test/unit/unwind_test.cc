// SPDX-License-Identifier: MIT
// The unwinder on an array of words as the stack: every form of rule. Why walks end: unwind_ends_test.cc.
// Context: tests.
#include "agent/signal/unwind.h"

#include <criterion/criterion.h>

#include "test/unit/unwind_world.h"

using namespace varve;
using namespace varve::agent;
using namespace varve::test;

Test(unwind, plain_frames) {
  World w;
  const uint64_t leaf = w.image->add({}), caller = w.image->add(op::def_cfa_offset(32));
  w.stack[0] = caller + 10;
  w.stack[4] = w.root + 5;
  w.expect(leaf + 3, StackEnd::kRoot, {caller + 9, w.root + 4});
}

Test(unwind, saved_rbp_and_rbx) {
  World w;
  // push %rbp; push %rbx; sub $8,%rsp in the leaf; its caller's CFA is rbp + 16, that one's caller's rbx
  // + 24.
  const uint64_t leaf = w.image->add(op::def_cfa_offset(32) + op::offset(6, 2) + op::offset(3, 3));
  const uint64_t by_rbp = w.image->add(op::def_cfa(6, 16)), by_rbx = w.image->add(op::def_cfa(3, 24));
  w.registers.value[cfi::kRbp] = w.registers.value[cfi::kRbx] = 0;
  w.stack[1] = w.at(9);  // rbx
  w.stack[2] = w.at(5);  // rbp
  w.stack[3] = by_rbp + 1;
  w.stack[6] = by_rbx + 1;
  w.stack[11] = w.root + 1;
  w.expect(leaf + 20, StackEnd::kRoot, {by_rbp, by_rbx, w.root});
}

Test(unwind, rows_change_with_the_pc) {
  World w;
  const uint64_t leaf =
      w.image->add(op::advance(1) + op::def_cfa_offset(16) + op::remember + op::advance(10) +
                   op::def_cfa_offset(8) + op::advance(1) + op::restore_state);
  for (int word : {0, 1}) w.stack[size_t(word)] = w.root + 1 + uint64_t(word);
  w.expect(leaf, StackEnd::kRoot, {w.root});
  w.expect(leaf + 1, StackEnd::kRoot, {w.root + 1});
  w.expect(leaf + 10, StackEnd::kRoot, {w.root + 1});
  w.expect(leaf + 11, StackEnd::kRoot, {w.root});
  w.expect(leaf + 12, StackEnd::kRoot, {w.root + 1});
}

Test(unwind, realigned_frame) {
  World w;
  // gcc's realignment: CFA = *(rbp - 8), rbp saved at rbp, rbx at rbp - 16.
  const uint64_t leaf = w.image->add(op::def_cfa_expression(op::breg(6, -8) + op::deref) +
                                     op::expression(6, op::breg(6, 0)) + op::expression(3, op::breg(6, -16)));
  const uint64_t by_rbp = w.image->add(op::def_cfa(6, 16)), by_rbx = w.image->add(op::def_cfa(3, 8));
  w.registers.value[cfi::kRbp] = w.at(8);
  w.stack[6] = w.at(15);  // rbx
  w.stack[7] = w.at(11);  // CFA
  w.stack[8] = w.at(12);  // rbp
  w.stack[10] = by_rbp + 1;
  w.stack[13] = by_rbx + 1;
  w.stack[15] = w.root + 1;
  w.expect(leaf + 9, StackEnd::kRoot, {by_rbp, by_rbx, w.root});
}

Test(unwind, cfa_loaded_from_the_stack) {
  World w;
  // OpenSSL's form: the old stack pointer is stored in the frame, registers relative to the CFA.
  const uint64_t leaf = w.image->add(
      op::def_cfa_expression(op::breg(7, 24) + op::deref + op::plus_uconst(8)) + op::offset(6, 2));
  const uint64_t by_rbp = w.image->add(op::def_cfa(6, 16));
  w.stack[3] = w.at(9);
  w.stack[8] = w.at(11);
  w.stack[9] = by_rbp + 1;
  w.stack[12] = w.root + 1;
  w.expect(leaf + 9, StackEnd::kRoot, {by_rbp, w.root});
}

Test(unwind, plt_stub) {
  World w;
  // rsp + 8 + ((rip & 15) >= 11) * 8, as the linker writes it for stubs of 16 bytes.
  const Bytes code = op::breg(7, 8) + op::breg(16, 0) + Bytes{0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
  const uint64_t stub = w.image->add(op::def_cfa_expression(code));
  cr_assert_eq(stub % 16, 0);
  w.stack[0] = w.root + 1;
  w.stack[1] = w.root + 2;
  w.expect(stub + 10, StackEnd::kRoot, {w.root});
  w.expect(stub + 11, StackEnd::kRoot, {w.root + 1});
  cr_assert_eq(int(find_rule(FrameImage::find, stub + 27, true).form()), int(Form::kOffset));
}

Test(unwind, scratch_register_holds_the_frame) {
  World w;
  // Assembler code that keeps its frame in r11 across a call to a helper that leaves r11 alone.
  const uint64_t helper = w.image->add({}), outer = w.image->add(op::def_cfa(kR11, 8));
  w.registers.value[kR11] = w.at(5);
  w.stack[0] = outer + 1;
  w.stack[5] = w.root + 1;
  w.expect(helper, StackEnd::kRoot, {outer, w.root});
}

Test(unwind, frame_in_a_register_that_packed_rules_forget) {
  World w;
  // The leaf saves r12, the outer frame needs it: only a walk in full knows.
  const uint64_t leaf = w.image->add(op::def_cfa_offset(16) + op::offset(kR12, 2));
  const uint64_t outer = w.image->add(op::def_cfa(kR12, 8));
  w.stack[0] = w.at(6);
  w.stack[1] = outer + 1;
  w.stack[6] = w.root + 1;
  w.expect(leaf, StackEnd::kRoot, {outer, w.root});
}

Test(unwind, longjmp) {
  World w;
  // glibc: everything from the jump buffer in rdi, the return address in rdx, the stack pointer in r8.
  const uint64_t leaf =
      w.image->add(op::def_cfa(kRdi, 0) + op::in_register(7, 8) + op::in_register(16, kRdx));
  const uint64_t target = w.image->add({});
  w.registers.value[kRdi] = w.at(20);
  w.registers.value[8] = w.at(4);
  w.registers.value[kRdx] = target + 1;
  w.stack[4] = w.root + 1;
  w.expect(leaf, StackEnd::kRoot, {target, w.root});
  cr_assert_eq(int(find_rule(FrameImage::find, leaf, true).form()), int(Form::kFull));
}

Test(unwind, value_expression) {
  World w;
  const uint64_t leaf = w.image->add(op::val_expression(cfi::kRbp, op::breg(kRax, 16) + op::deref));
  const uint64_t by_rbp = w.image->add(op::def_cfa(6, 8));
  w.registers.value[kRax] = w.at(7);
  w.stack[0] = by_rbp + 1;
  w.stack[9] = w.at(3);
  w.stack[3] = w.root + 1;
  w.expect(leaf, StackEnd::kRoot, {by_rbp, w.root});
}

Test(unwind, signal_frame) {
  World w;
  Bytes program = op::def_cfa_expression(op::breg(7, kUcontextRsp) + op::deref);
  for (unsigned i = 0; i < cfi::kRegisterCount; ++i)
    program = program + op::expression(kUcontextOrder[i], op::breg(7, kUcontextRegisters + 8 * int(i)));
  const uint64_t trampoline = w.image->add(program, /*signal=*/true);
  const uint64_t handler = w.image->add({}), interrupted = w.image->add(op::def_cfa(kR10, 8));
  cr_assert_eq(int(find_rule(FrameImage::find, trampoline + 1, true).form()), int(Form::kSignal));
  w.stack[0] = trampoline + 1;  // the ucontext begins at word 1
  const size_t registers = 1 + kUcontextRegisters / 8;
  w.stack[registers + 2] = w.at(40);  // r10
  w.stack[registers + 15] = w.at(34);
  w.stack[registers + 16] = interrupted;
  w.stack[40] = w.root + 1;
  w.expect(handler + 4, StackEnd::kRoot, {trampoline + 1, interrupted, w.root});
}

Test(unwind, entered_by_a_return) {
  World w;
  // makecontext: the bottom's return address is the first byte of a function; what lies above it is data.
  const uint64_t leaf = w.image->add({}), bottom = w.image->add({});
  w.stack[0] = bottom;
  w.stack[1] = w.at(3);
  w.expect(leaf, StackEnd::kRoot, {bottom});
}

Test(unwind, zero_return_address_is_the_root) {
  World w;
  const uint64_t leaf = w.image->add({});
  w.stack[0] = 0;
  w.expect(leaf, StackEnd::kRoot, {});
}

Test(unwind, leaf_that_has_popped_its_frame) {
  World w;
  const uint64_t leaf = w.image->add(op::def_cfa(7, 0));
  w.registers.value[cfi::kRsp] = w.at(1);
  w.stack[0] = w.root + 1;
  w.expect(leaf, StackEnd::kRoot, {w.root});
}

Test(unwind, call_through_a_null_pointer) {
  World w;
  w.stack[0] = w.root + 1;
  w.expect(0, StackEnd::kRoot, {w.root});
  w.expect(0x123456789abcdef0, StackEnd::kRoot, {w.root});
}

Test(unwind, frame_pointers) {
  World w;
  const Bytes call = {0xe8, 0, 0, 0, 0};
  const uint64_t first = w.image->add_bare(call), second = w.image->add_bare(call);
  w.registers.value[cfi::kRbp] = w.at(4);
  w.stack[4] = w.at(8);
  w.stack[5] = second + 5;
  w.stack[8] = 0;
  w.stack[9] = w.root + 1;
  // The last saved rbp does not continue the chain, so the return address beside it has to follow a call.
  w.expect(first, StackEnd::kNoUnwindInfo, {second + 4});
  w.stack[9] = 0;
  w.expect(first, StackEnd::kRoot, {second + 4});
  cr_assert(w.walk(first).used_frame_pointer);
}

Test(unwind, frame_pointer_chain_ends_with_zero) {
  World w;
  const Bytes call = {0xff, 0xd0};  // call *%rax
  const uint64_t leaf = w.image->add_bare(call), outer = w.image->add_bare(call);
  w.registers.value[cfi::kRbp] = w.at(4);
  w.stack[4] = 0;
  w.stack[5] = outer + 2;
  w.expect(leaf, StackEnd::kRoot, {outer + 1});
}

/// As Go's runtime begins stacks.
Test(unwind, frame_pointer_chain_ends_after_a_nop) {
  World w;
  const Bytes call = {0xe8, 0, 0, 0, 0}, nop = {0x90, 0x55};
  const uint64_t leaf = w.image->add_bare(call), first = w.image->add_bare(nop);
  w.registers.value[cfi::kRbp] = w.at(4);
  w.stack[4] = 0;
  w.stack[5] = first + 1;
  w.expect(leaf, StackEnd::kRoot, {first});
  w.stack[4] = 1;
  w.expect(leaf, StackEnd::kNoUnwindInfo, {});
}

/// As where Go calls C.
Test(unwind, frame_pointer_chain_on_another_stack) {
  World w;
  const Bytes call = {0xe8, 0, 0, 0, 0};
  const uint64_t leaf = w.image->add_bare(call), outer = w.image->add_bare(call);
  std::span<uint64_t> other = World::page();
  w.registers.value[cfi::kRbp] = reinterpret_cast<uint64_t>(&other[4]);
  other[4] = reinterpret_cast<uint64_t>(&other[8]);
  other[5] = outer + 5;
  other[8] = 0;
  other[9] = outer + 5;
  w.expect(leaf, StackEnd::kRoot, {outer + 4, outer + 4});
  other[9] = outer + 1;  // one frame alone may be anything
  w.expect(leaf, StackEnd::kNoUnwindInfo, {});
}

Test(unwind, leaf_without_cfi_in_its_prologue) {
  World w;
  const uint64_t leaf = w.image->add_bare({0x55, 0x48, 0x89, 0xe5, 0x90, 0xc3});
  const uint64_t caller = w.image->add_bare({0xff, 0x15, 0, 0, 0, 0});
  w.registers.value[cfi::kRbp] = w.at(8);  // the caller's
  w.stack[8] = 0;
  w.stack[9] = 0;
  w.stack[0] = caller + 6;
  w.expect(leaf, StackEnd::kRoot, {caller + 5});      // push %rbp
  w.expect(leaf + 5, StackEnd::kRoot, {caller + 5});  // ret
  w.stack[0] = w.at(8);
  w.stack[1] = caller + 6;
  w.expect(leaf + 1, StackEnd::kRoot, {caller + 5});  // mov %rsp,%rbp
}

Test(unwind, start_files_init_without_cfi) {
  World w;
  const uint64_t init =
      w.image->add_bare({0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 0x08, 0x90, 0x48, 0x83, 0xc4, 0x08, 0xc3});
  const uint64_t caller = w.image->add_bare({0xff, 0x15, 0, 0, 0, 0});
  w.registers.value[cfi::kRbp] = w.at(8);  // the caller's
  w.stack[8] = 0;
  w.stack[9] = 0;
  w.stack[0] = caller + 6;
  for (const uint64_t at : {0, 4, 13}) w.expect(init + at, StackEnd::kRoot, {caller + 5});
  w.stack[0] = 7;
  w.expect(init, StackEnd::kRoot, {});  // no return address: all that is left is the frame pointer
  w.stack[1] = caller + 6;
  w.expect(init + 9, StackEnd::kRoot, {caller + 5});  // add $8,%rsp
}

/// Both functions for clones at their begin, and __do_global_dtors_aux where it asks whether it has run.
Test(unwind, start_files_destructors_without_cfi) {
  World w;
  const uint64_t deregister =
      w.image->add_bare({0x48, 0x8d, 0x3d, 1, 2, 3, 0, 0x48, 0x8d, 0x05, 1, 2, 3, 0, 0x48, 0x39, 0xf8});
  const uint64_t enroll =
      w.image->add_bare({0x48, 0x8d, 0x3d, 1, 2, 3, 0, 0x48, 0x8d, 0x35, 1, 2, 3, 0, 0x48, 0x29, 0xfe});
  const uint64_t destructors = w.image->add_bare({0x80, 0x3d, 1, 2, 3, 0, 0, 0x75, 0x2b, 0x55});
  const uint64_t others =
      w.image->add_bare({0x48, 0x8d, 0x3d, 1, 2, 3, 0, 0x48, 0x8d, 0x35, 1, 2, 3, 0, 0xe8});
  const uint64_t caller = w.image->add_bare({0xff, 0x15, 0, 0, 0, 0});
  w.registers.value[cfi::kRbp] = w.at(8);  // the caller's
  w.stack[8] = 0;
  w.stack[9] = 0;
  w.stack[0] = caller + 6;
  for (const uint64_t leaf : {deregister, enroll, destructors}) w.expect(leaf, StackEnd::kRoot, {caller + 5});
  w.expect(others, StackEnd::kRoot, {});  // what lies on its stack may be left over from another call
}

Test(unwind, deep_stacks_keep_both_ends) {
  World w;
  const uint64_t leaf = w.image->add({});
  std::vector<uint64_t> all = {leaf};
  for (size_t i = 0; i < 30; ++i) w.stack[i] = leaf + 1 + i, all.push_back(leaf + i);
  w.stack[30] = w.root + 1;
  all.push_back(w.root);
  for (uint32_t most = format::kMinStackDepth; most <= 32; ++most) {
    const UnwindResult result = w.walk(leaf, most);
    cr_assert_eq(int(result.end), int(StackEnd::kRoot), "%u frames: ended by %d", most, int(result.end));
    std::vector<uint64_t> expected = all;
    if (most < all.size()) {
      expected.assign(all.begin(), all.begin() + most / 2);
      expected.push_back(format::kFramesLeftOut);
      expected.insert(expected.end(), all.end() - (most - most / 2 - 1), all.end());
    }
    cr_assert(std::equal(expected.begin(), expected.end(), w.frames, w.frames + result.depth),
              "of a stack of 32 frames, %u", most);
  }
}

Test(unwind, stacks_without_end_keep_the_inner_one) {
  World w;
  constexpr size_t kWords = kLimit + 100;
  std::vector<uint64_t> stack(kWords);
  const uint64_t leaf = w.image->add({});
  for (size_t i = 0; i < kWords; ++i) stack[i] = leaf + 1 + i % 40;
  const auto low = reinterpret_cast<uint64_t>(stack.data());
  w.registers.value[cfi::kRsp] = low;
  w.registers.value[cfi::kReturnAddress] = leaf;
  FrameList list(w.frames, 32);
  UnwindResult result = unwind(w.registers, {low, low + kWords * 8}, w.cache, list, kLimit);
  cr_assert_eq(int(result.end), int(StackEnd::kDepthLimit));
  cr_assert_eq(result.depth, 16);
  for (size_t i = 0; i < 16; ++i) cr_assert_eq(w.frames[i], leaf + (i == 0 ? 0 : i - 1));
  // The root is the last frame that is followed.
  stack[kLimit - 2] = w.root + 1;
  result = unwind(w.registers, {low, low + kWords * 8}, w.cache, list, kLimit);
  cr_assert_eq(int(result.end), int(StackEnd::kRoot));
  cr_assert_eq(result.depth, 32);
  cr_assert_eq(w.frames[16], format::kFramesLeftOut);
  cr_assert_eq(w.frames[31], w.root);
}

Test(unwind, a_tick_takes_a_share_of_its_interval) {
  cr_expect_eq(walk_limit(10'000'000), 16666);
  cr_expect_eq(walk_limit(1'000'000), 4096);
  cr_expect_eq(walk_limit(1'000'000'000), 65536);
}

Test(unwind, frames_of_the_agent_are_not_taken) {
  World w;
  const uint64_t own = w.image->add({}), leaf = w.image->add({});
  for (size_t i = 0; i < 20; ++i) w.stack[i] = (i % 2 ? own : leaf) + 1;
  w.stack[20] = w.root + 1;
  w.registers.value[cfi::kReturnAddress] = own + 3;
  FrameList list(w.frames, 5, {own, own + FrameImage::kFunctionBytes});
  const UnwindResult result = unwind(w.registers, w.bounds(), w.cache, list, kLimit);
  cr_assert_eq(result.depth, 5);
  const uint64_t expected[] = {leaf, leaf, format::kFramesLeftOut, leaf, w.root};
  cr_assert(std::equal(expected, expected + 5, w.frames));
}
