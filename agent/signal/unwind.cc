// SPDX-License-Identifier: MIT
// The walk; see unwind.h. A step takes a packed rule to the caller's registers. Packed rules follow rbx, rbp
// and rsp and only know whether the others were touched. When a later row needs one of those others, the walk
// is done again with every row evaluated in full, which is right but takes 0.3 us a frame; compiled code
// never needs it. Context: signal.
#include "agent/signal/unwind.h"

#include <algorithm>

#include "agent/signal/code_bytes.h"
#include "agent/signal/frame_lookup.h"
#include "agent/signal/full_step.h"
#include "agent/signal/kernel_copy.h"
#include "agent/signal/signal_frame.h"

namespace varve::agent {
namespace {

using format::StackEnd;

constexpr uint32_t bit(unsigned reg) { return 1u << reg; }
/// What packed rules follow.
constexpr uint32_t kFollowed = bit(cfi::kRbx) | bit(cfi::kRbp) | bit(cfi::kRsp) | bit(cfi::kReturnAddress);
/// What survives code of which nothing is known but its frame pointer.
constexpr uint32_t kFrameOnly = bit(cfi::kRbp) | bit(cfi::kRsp) | bit(cfi::kReturnAddress);

/// A full step takes forty times as long as a packed one.
constexpr uint32_t kMostFullFrames = 4096;

constexpr uint64_t kLowestCode = 4096;  // the kernel maps nothing below (vm.mmap_min_addr)

class Walk {
 public:
  Walk(const Registers& start, StackBounds own, RuleCache& cache, FrameList& frames, uint32_t limit,
       JavaCodeMap* java, bool full)
      : registers_(start),
        memory_(own),
        cache_(cache),
        generation_(cache.generation()),
        frames_(frames),
        limit_(limit),
        java_(java),
        full_(full) {
    memory_.focus(sp());
  }

  /// kCount means: to be done again in full.
  StackEnd run() {
    for (uint32_t walked = 0;; ++walked) {
      const PackedRule rule = lookup();
      exact_ |= rule.at_entry();
      const bool lost = rule.form() == Form::kStop && rule.stop_reason() == StackEnd::kBadReturn;
      if (lost && (!exact_ || pc() == format::kFramesLeftOut)) return StackEnd::kBadReturn;
      if (walked == limit_) return StackEnd::kDepthLimit;
      frames_.put(exact_ || rule.form() == Form::kSignal ? pc() : pc() - 1);
      const Outcome outcome = lost ? return_from_nowhere() : step(rule);
      if (outcome.done) return outcome.end;
      if (pc() == 0 && !exact_) return StackEnd::kRoot;
    }
  }

  UnwindResult result_;

 private:
  struct Outcome {
    bool done;
    StackEnd end;
  };
  static constexpr Outcome kGoOn{false, StackEnd::kRoot};
  static constexpr Outcome stop(StackEnd end) { return {true, end}; }

  uint64_t pc() const { return registers_.value[cfi::kReturnAddress]; }
  uint64_t sp() const { return registers_.value[cfi::kRsp]; }

  PackedRule lookup() {
    const uint64_t at = exact_ ? pc() : pc() - 1;
    if (!RuleCache::is_user_address(at) || at < kLowestCode) return PackedRule::stop(StackEnd::kBadReturn);
    if (java_ && java_->contains(at, memory_)) return PackedRule::outside_objects();
    PackedRule rule = cache_.find(at, generation_);
    if (rule.form() != Form::kNone && still_holds(rule, at)) {
      ++result_.cache_hits;
      return rule;
    }
    ++result_.cache_misses;
    rule = find_rule(cache_.find_object(), at, exact_);
    if (rule.form() == Form::kFramePointer) {
      if (memory_.own().contains(at) || !is_code(at)) return PackedRule::stop(StackEnd::kBadReturn);
      // Code that a JIT made can be read; in an object, where data is near, a return address has to follow a
      // call.
      if (!in_object(at)) {
        rule = PackedRule::outside_objects();
      } else if (!exact_ && !follows_call(at + 1) && !begins_stack(at + 1)) {
        return PackedRule::stop(StackEnd::kBadReturn);
      }
    }
    cache_.insert(at, generation_, rule);
    return rule;
  }

  /// Of a rule from the cache: an entry's is for return addresses only, and where there was no object one may
  /// be now.
  bool still_holds(PackedRule rule, uint64_t at) const {
    return !(exact_ && rule.at_entry()) && !(rule.in_no_object() && in_object(at));
  }

  /// In a handler the kernel gives a thread the rights of a new one to pages with protection keys, as V8's
  /// have. Its copies ask for none.
  bool is_code(uint64_t at) {
    uint8_t byte;
    return memory_.readable(at, 1) || copy_by_kernel(at, &byte, 1);
  }

  bool in_object(uint64_t at) const {
    ObjectFrameInfo object;
    const FindObject find = cache_.find_object();
    return find && find(at, &object);
  }

  bool follows_call(uint64_t return_address) {
    uint8_t before[7];
    return copy_by_kernel(return_address - sizeof before, before, sizeof before) && ends_with_call(before);
  }

  /// Where Go's runtime begins a goroutine's stack: as if a nop (90) had called the function.
  bool follows_nop(uint64_t return_address) {
    uint8_t before;
    return copy_by_kernel(return_address - 1, &before, 1) && before == 0x90;
  }
  /// The same of the frame that was just left, which was the last of a chain of frame pointers.
  bool begins_stack(uint64_t return_address) {
    const bool last =
        result_.used_frame_pointer && registers_.knows(cfi::kRbp) && registers_.value[cfi::kRbp] == 0;
    return last && follows_nop(return_address);
  }

  Outcome step(PackedRule rule) {
    switch (rule.form()) {
      case Form::kOffset:
        return full_ ? full_step() : offset_step(rule);
      case Form::kLoad:
      case Form::kLoadBase:
        return full_ ? full_step() : load_step(rule);
      case Form::kSignal:
        return signal_step(rule);
      case Form::kRoot:
        return stop(StackEnd::kRoot);
      case Form::kFramePointer:
        return java_ && rule.in_no_object() && java_step() ? kGoOn : frame_pointer_step();
      case Form::kStop:
        return stop(rule.stop_reason());
      case Form::kFull:
      case Form::kNone:
        break;
    }
    return full_step();
  }

  Outcome offset_step(PackedRule rule) {
    if (!registers_.knows(rule.reg())) return missing_register();
    const uint64_t cfa = registers_.value[rule.reg()] + uint64_t(rule.cfa_words() * 8);
    if (!goes_up(cfa)) return stop(StackEnd::kNoProgress);
    return to_caller(rule, cfa, cfa);
  }

  Outcome load_step(PackedRule rule) {
    if (!registers_.knows(rule.reg())) return missing_register();
    const uint64_t base = registers_.value[rule.reg()];
    uint64_t cfa;
    if (!memory_.read(base + uint64_t(rule.cfa_words() * 8), &cfa)) return stop(StackEnd::kBadMemory);
    cfa += uint64_t(rule.outer_words() * 8);
    if (!goes_up_or_switches(cfa)) return stop(StackEnd::kNoProgress);
    return to_caller(rule, cfa, rule.form() == Form::kLoadBase ? base : cfa);
  }

  Outcome to_caller(PackedRule rule, uint64_t cfa, uint64_t slots) {
    uint64_t return_address;
    if (!memory_.read(cfa - 8, &return_address)) return stop(StackEnd::kBadMemory);
    if (!rule.keeps_rest()) {
      registers_.known &= kFollowed;
      rest_dropped_ = true;
    }
    restore(cfi::kRbp, rule.rbp_words(), slots);
    restore(cfi::kRbx, rule.rbx_words(), slots);
    arrive(return_address, cfa);
    return kGoOn;
  }

  void restore(unsigned reg, int64_t words, uint64_t slots) {
    if (words == PackedRule::kKept) return;
    const bool saved =
        words != PackedRule::kLost && memory_.read(slots + uint64_t(words * 8), &registers_.value[reg]);
    registers_.known = saved ? registers_.known | bit(reg) : registers_.known & ~bit(reg);
  }

  void arrive(uint64_t return_address, uint64_t stack_pointer) {
    registers_.value[cfi::kReturnAddress] = return_address;
    registers_.value[cfi::kRsp] = stack_pointer;
    exact_ = false;
  }

  /// Before `pop %rcx; jmp *%rcx` is done (the end of _Unwind_RaiseException) a leaf may have popped all of
  /// its frame.
  bool goes_up(uint64_t cfa) const { return cfa > sp() || (cfa == sp() && exact_); }

  /// The caller's frame lies above, or on another stack: exactly one of the two in the thread's own.
  bool goes_up_or_switches(uint64_t cfa) {
    const bool switches = memory_.own().contains(cfa - 8) != memory_.own().contains(sp());
    if (switches) memory_.focus(cfa - 8);
    return switches || goes_up(cfa);
  }

  Outcome missing_register() {
    return stop(rest_dropped_ && !full_ ? StackEnd::kCount : StackEnd::kUnsupported);
  }

  Outcome signal_step(PackedRule rule) {
    const uint64_t saved = sp() + uint64_t(rule.cfa_words() * 8) + kUcontextRegisters;
    for (unsigned i = 0; i < cfi::kRegisterCount; ++i) {
      if (!memory_.read(saved + i * 8, &registers_.value[kUcontextOrder[i]]))
        return stop(StackEnd::kBadMemory);
    }
    registers_.known = Registers::kAll;
    exact_ = true;
    rest_dropped_ = false;
    memory_.focus(sp());
    return kGoOn;
  }

  [[gnu::noinline]] Outcome full_step() {
    Registers caller;
    const FullStep result = evaluate_full(cache_.find_object(), registers_, exact_, memory_, &caller);
    switch (result) {
      case FullStep::kCalled:
        if (!goes_up_or_switches(caller.value[cfi::kRsp])) return stop(StackEnd::kNoProgress);
        break;
      case FullStep::kSwitched:
      case FullStep::kInterrupted:
        memory_.focus(caller.value[cfi::kRsp]);
        break;
      case FullStep::kMissingRegister:
        return missing_register();
      case FullStep::kBadMemory:
        return stop(StackEnd::kBadMemory);
      case FullStep::kBadCfi:
        return stop(StackEnd::kBadCfi);
      case FullStep::kUnsupported:
        return stop(StackEnd::kUnsupported);
    }
    registers_ = caller;
    exact_ = result == FullStep::kInterrupted;
    return kGoOn;
  }

  /// A call through a bad pointer faults before the callee has a frame: the return address is on top of the
  /// stack.
  Outcome return_from_nowhere() {
    uint64_t return_address;
    if (!memory_.read(sp(), &return_address)) return stop(StackEnd::kBadMemory);
    arrive(return_address, sp() + 8);
    return kGoOn;
  }

  [[gnu::noinline]] bool java_step() {
    const JavaRegisters at{pc(), sp(), registers_.value[cfi::kRbp], registers_.knows(cfi::kRbp), exact_};
    JavaCaller caller;
    if (!java_caller(*java_, cache_.find_object(), memory_, at, &caller)) return false;
    registers_.value[cfi::kRbp] = caller.rbp;
    registers_.known &= caller.knows_rbp ? kFrameOnly : kFrameOnly & ~bit(cfi::kRbp);
    if (caller.knows_rbp) registers_.known |= bit(cfi::kRbp);
    rest_dropped_ = false;
    arrive(caller.pc, caller.sp);
    return true;
  }

  /// rbp points to the saved rbp, with the return address above it. The psABI wants the outermost rbp to be
  /// zero. Without a chain of them zero may be any number, but not where the stack begins: there the loader
  /// calls constructors, from code without CFI.
  Outcome frame_pointer_step() {
    const uint64_t frame = registers_.value[cfi::kRbp];
    if (exact_ && leaf_step()) return kGoOn;
    if (!registers_.knows(cfi::kRbp)) return stop(StackEnd::kNoUnwindInfo);
    if (frame == 0 && (result_.used_frame_pointer || sp() == memory_.own().high))
      return stop(StackEnd::kRoot);
    uint64_t outer, return_address;
    const bool switches = is_chain_elsewhere(frame);
    if (!(switches || may_be_frame(frame)) || !memory_.read(frame, &outer) ||
        !memory_.read(frame + 8, &return_address)) {
      return stop(StackEnd::kNoUnwindInfo);
    }
    // What rbp points to is a frame if it continues the chain, or if the word above it is a return address.
    // (Return addresses that follow no call are common in interpreters.) Where the stack begins both are
    // zero.
    const bool chained = switches || (outer > frame && may_be_frame(outer));
    const bool begins = outer == 0 && (return_address == 0 || follows_nop(return_address));
    if (!chained && !begins && !follows_call(return_address)) return stop(StackEnd::kNoUnwindInfo);
    leave_frame(return_address, frame + 16, outer);
    if (switches) memory_.focus(sp());
    return kGoOn;
  }

  bool may_be_frame(uint64_t frame) const {
    return frame >= sp() && frame % 8 == 0 &&
           (!memory_.own().contains(sp()) || memory_.own().contains(frame));
  }

  /// Go calls C on the thread's own stack while rbp still points to a goroutine's. Any register's value might
  /// be an address elsewhere, so two frames in a row have to be there.
  bool is_chain_elsewhere(uint64_t frame) {
    uint64_t outer, first, second;
    if (!memory_.own().contains(sp()) || memory_.own().contains(frame) || frame % 8 != 0) return false;
    return memory_.read(frame, &outer) && memory_.read(frame + 8, &first) && outer > frame &&
           outer % 8 == 0 && memory_.read(outer + 8, &second) && follows_call(first) && follows_call(second);
  }

  /// A leaf that has not yet set up its frame pointer, or no longer has one, or has none.
  bool leaf_step() {
    CodeAhead code{};
    uint64_t top, next;
    // At the end of a segment there is less to read.
    if (!copy_by_kernel(pc(), code, sizeof code) && !copy_by_kernel(pc(), code, 4)) return false;
    LeafState state = leaf_state(code);
    if (state == LeafState::kBody) state = start_file_state(code);
    if (state == LeafState::kBody || !memory_.read(sp(), &top) || !memory_.read(sp() + 8, &next))
      return false;
    const bool above = state != LeafState::kCallerFrame;
    if (!follows_call(above ? next : top)) return false;
    leave_frame(above ? next : top, sp() + (above ? 16 : 8),
                state == LeafState::kPushed ? top : registers_.value[cfi::kRbp]);
    return true;
  }

  void leave_frame(uint64_t return_address, uint64_t stack_pointer, uint64_t frame) {
    result_.used_frame_pointer = true;
    registers_.value[cfi::kRbp] = frame;
    registers_.known &= kFrameOnly;
    rest_dropped_ = false;
    arrive(return_address, stack_pointer);
  }

  Registers registers_;
  StackMemory memory_;
  RuleCache& cache_;
  const uint32_t generation_;
  FrameList& frames_;
  const uint32_t limit_;
  JavaCodeMap* const java_;    // null: none
  const bool full_;            // evaluate every row in full
  bool exact_ = true;          // pc is the address of an instruction, not a return address
  bool rest_dropped_ = false;  // a packed step forgot registers that a full one would know
};

UnwindResult walked(Walk walk, FrameList& frames) {
  frames.clear();
  walk.result_.end = walk.run();
  walk.result_.depth = walk.result_.end == StackEnd::kDepthLimit ? frames.finish_cut() : frames.finish();
  return walk.result_;
}

}  // namespace

Registers registers_of(const ucontext_t& context) {
  Registers registers;
  for (unsigned i = 0; i < cfi::kRegisterCount; ++i) {
    registers.value[kUcontextOrder[i]] = uint64_t(context.uc_mcontext.gregs[i]);
  }
  registers.known = Registers::kAll;
  return registers;
}

UnwindResult unwind(const Registers& start, StackBounds own_stack, RuleCache& cache, FrameList& frames,
                    uint32_t limit, JavaCodeMap* java) {
  UnwindResult result = walked({start, own_stack, cache, frames, limit, java, /*full=*/false}, frames);
  if (result.end != StackEnd::kCount) return result;
  const uint32_t full_limit = std::min(limit, kMostFullFrames);
  return walked({start, own_stack, cache, frames, full_limit, java, /*full=*/true}, frames);
}

}  // namespace varve::agent
