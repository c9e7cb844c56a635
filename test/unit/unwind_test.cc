// SPDX-License-Identifier: MIT
// The unwinder on an array of words as the stack: every form of rule and every reason to stop.
// Context: tests.
#include "agent/signal/unwind.h"

#include <criterion/criterion.h>
#include <sys/mman.h>

#include <memory>
#include <span>

#include "agent/signal/frame_lookup.h"
#include "agent/signal/signal_frame.h"
#include "test/unit/frame_image.h"

using namespace varve;
using namespace varve::agent;
using namespace varve::test;
using format::StackEnd;

namespace {

// The sanitizer's shadow is terabytes of readable memory that may not be read; words put together from the
// halves of others point there.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kAddressSanitizer = true;
#else
constexpr bool kAddressSanitizer = false;
#endif

constexpr uint32_t kLimit = walk_limit(10'000'000);
constexpr unsigned kRax = 0, kRdx = 1, kRdi = 5, kR10 = 10, kR11 = 11, kR12 = 12;

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

}  // namespace

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
