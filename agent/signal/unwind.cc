// SPDX-License-Identifier: MIT
// The walk; see unwind.h. A step takes a packed rule to the caller's registers. Packed rules follow rbx, rbp
// and rsp and only know whether the others were touched. When a later row needs one of those others, the walk
// is done again with every row evaluated in full, which is right but takes 0.3 us a frame; compiled code
// never needs it. Context: signal.
#include "agent/signal/unwind.h"

#include "agent/signal/frame_lookup.h"
#include "agent/signal/full_step.h"
#include "agent/signal/signal_frame.h"

namespace varve::agent {
namespace {

using format::StackEnd;

constexpr uint32_t bit(unsigned reg) { return 1u << reg; }
/// What packed rules follow.
constexpr uint32_t kFollowed = bit(cfi::kRbx) | bit(cfi::kRbp) | bit(cfi::kRsp) | bit(cfi::kReturnAddress);
/// What survives code of which nothing is known but its frame pointer.
constexpr uint32_t kFrameOnly = bit(cfi::kRbp) | bit(cfi::kRsp) | bit(cfi::kReturnAddress);

constexpr uint64_t kLowestCode = 4096;  // the kernel maps nothing below (vm.mmap_min_addr)

class Walk {
 public:
  Walk(const Registers& start, StackBounds own, RuleCache& cache, uint64_t* frames, uint32_t max_frames,
       bool full)
      : registers_(start),
        memory_(own),
        cache_(cache),
        generation_(cache.generation()),
        frames_(frames),
        max_frames_(max_frames),
        full_(full) {
    memory_.focus(sp());
  }

  /// kCount means: to be done again in full.
  StackEnd run() {
    for (;;) {
      PackedRule rule = lookup();
      const bool lost = rule.form() == Form::kStop && rule.stop_reason() == StackEnd::kBadReturn;
      if (lost && !exact_) return StackEnd::kBadReturn;
      if (result_.depth == max_frames_) return StackEnd::kDepthLimit;
      frames_[result_.depth++] = exact_ || rule.form() == Form::kSignal ? pc() : pc() - 1;
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
    PackedRule rule = cache_.find(at, generation_);
    if (rule.form() != Form::kNone) {
      ++result_.cache_hits;
      return rule;
    }
    ++result_.cache_misses;
    rule = find_rule(cache_.find_object(), at);
    // A wild return address is in no object. JIT code is not either, but it can be read.
    if (rule.form() == Form::kFramePointer && !memory_.readable(at, 1))
      return PackedRule::stop(StackEnd::kBadReturn);
    cache_.insert(at, generation_, rule);
    return rule;
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
        return frame_pointer_step();
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
    if (cfa <= sp()) return stop(StackEnd::kNoProgress);
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

  /// The caller's frame lies above, or on another stack: exactly one of the two in the thread's own.
  bool goes_up_or_switches(uint64_t cfa) {
    const bool switches = memory_.own().contains(cfa - 8) != memory_.own().contains(sp());
    if (switches) memory_.focus(cfa - 8);
    return switches || cfa > sp();
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
    interrupted_here();
    return kGoOn;
  }

  void interrupted_here() {
    exact_ = true;
    rest_dropped_ = false;
    memory_.focus(sp());
  }

  [[gnu::noinline]] Outcome full_step() {
    Registers caller;
    bool interrupted = false;
    switch (evaluate_full(cache_.find_object(), registers_, exact_, memory_, &caller, &interrupted)) {
      case FullStep::kDone:
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
    const uint64_t next_sp = caller.value[cfi::kRsp];
    if (!interrupted && !goes_up_or_switches(next_sp)) return stop(StackEnd::kNoProgress);
    registers_ = caller;
    exact_ = false;
    if (interrupted) interrupted_here();
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

  /// rbp points to the saved rbp, with the return address above it. The psABI wants the outermost rbp to be
  /// zero.
  Outcome frame_pointer_step() {
    const uint64_t frame = registers_.value[cfi::kRbp];
    if (!registers_.knows(cfi::kRbp)) return stop(StackEnd::kNoUnwindInfo);
    if (frame == 0 && result_.used_frame_pointer) return stop(StackEnd::kRoot);
    uint64_t outer_frame, return_address;
    if (frame < sp() || frame % 8 != 0 || !memory_.read(frame, &outer_frame) ||
        !memory_.read(frame + 8, &return_address)) {
      return stop(StackEnd::kNoUnwindInfo);
    }
    result_.used_frame_pointer = true;
    registers_.value[cfi::kRbp] = outer_frame;
    registers_.known &= kFrameOnly;
    rest_dropped_ = false;
    arrive(return_address, frame + 16);
    return kGoOn;
  }

  Registers registers_;
  StackMemory memory_;
  RuleCache& cache_;
  const uint32_t generation_;
  uint64_t* const frames_;
  const uint32_t max_frames_;
  const bool full_;            // evaluate every row in full
  bool exact_ = true;          // pc is the address of an instruction, not a return address
  bool rest_dropped_ = false;  // a packed step forgot registers that a full one would know
};

UnwindResult walk(const Registers& start, StackBounds own, RuleCache& cache, uint64_t* frames,
                  uint32_t max_frames, bool full) {
  Walk walk(start, own, cache, frames, max_frames, full);
  walk.result_.end = walk.run();
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

UnwindResult unwind(const Registers& start, StackBounds own_stack, RuleCache& cache, uint64_t* frames,
                    uint32_t max_frames) {
  UnwindResult result = walk(start, own_stack, cache, frames, max_frames, /*full=*/false);
  if (result.end != StackEnd::kCount) return result;
  return walk(start, own_stack, cache, frames, max_frames, /*full=*/true);
}

}  // namespace varve::agent
