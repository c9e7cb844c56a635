// SPDX-License-Identifier: MIT
// See stack_walk.h.
// Context: viewer.
#include "viewer/record/observe/stack_walk.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "common/cfi_expression.h"

namespace varve::record::observe {
namespace {

using cfi::Rule;
using format::StackEnd;

/// Each frame may cost a new block of memory. Where a program waits is near the leaf.
constexpr size_t kMostFrames = 256;

struct Registers {
  uint64_t value[cfi::kRegisterCount] = {};
  uint32_t known = 0;

  bool knows(unsigned reg) const { return known >> reg & 1; }
  void set(unsigned reg, uint64_t to) { value[reg] = to, known |= 1u << reg; }
  void lose(unsigned reg) { known &= ~(1u << reg); }
};

/// Expressions over the callee's registers and the memory of its process.
struct RemoteDomain {
  using Value = uint64_t;
  static constexpr unsigned kStackSlots = 64;

  const Registers& registers;
  RemoteMemory& memory;
  StackEnd failure = StackEnd::kBadCfi;

  static Value constant(uint64_t number) { return number; }
  bool reg(unsigned dwarf, int64_t offset, Value* value) {
    *value = registers.value[dwarf] + uint64_t(offset);
    return registers.knows(dwarf) || (failure = StackEnd::kUnsupported, false);
  }
  bool load(Value address, unsigned bytes, Value* value) {
    *value = 0;
    return memory.copy(address, value, bytes) || (failure = StackEnd::kBadMemory, false);
  }
  static bool add(Value a, Value b, Value* sum) { return *sum = a + b, true; }
  static bool number(Value value, uint64_t* result) { return *result = value, true; }
};

/// Whether these bytes, which end where a call would return to, are one: direct, or by register or memory.
bool ends_with_call(const uint8_t (&before)[7]) {
  constexpr size_t kEnd = sizeof before;
  if (before[kEnd - 5] == 0xe8) return true;
  for (size_t length = 2; length <= kEnd; ++length)
    if (before[kEnd - length] == 0xff && (before[kEnd - length + 1] & 0x38) == 0x10) return true;
  return false;
}

class StackWalk {
 public:
  StackWalk(CodeMap& map, CodeFiles& files, RemoteMemory& memory, Nanos now)
      : map_(map), files_(files), memory_(memory), now_(now) {}

  SeenStack run(uint64_t pc, uint64_t sp) {
    registers_.set(cfi::kReturnAddress, pc);
    registers_.set(cfi::kRsp, sp);
    stack_.end = StackEnd::kRoot;
    while (!stop_) step();
    return std::move(stack_);
  }

 private:
  uint64_t pc() const { return registers_.value[cfi::kReturnAddress]; }
  uint64_t sp() const { return registers_.value[cfi::kRsp]; }
  uint64_t place() const { return exact_ ? pc() : pc() - 1; }

  void stop(StackEnd end) {
    stop_ = true;
    stack_.end = end;
  }

  void step() {
    if (pc() == 0) return stop(StackEnd::kRoot);
    const CodeMap::Place* found = map_.find(place(), files_, now_, walked_ == 0);
    if (!found) return stop(StackEnd::kBadReturn);
    if (++walked_ > kMostFrames) return stop(StackEnd::kDepthLimit);
    place_ = *found;
    const bool in_file = place_.module != CodeFiles::kNone;
    if (in_file && files_.row(place_.module).is_agent)
      stack_.in_hook |= in_one_module();
    else
      stack_.frames.push_back({place_.module, place() - place_.bias});
    if (!in_file) return by_frame_pointer();
    const uint64_t address = place() - place_.bias;
    by_rule(files_.row(place_.module).file->rule_at(address), address);
  }

  /// So far: nothing of the program's own lies between the call and a hook around it, as a routine of
  /// pthread_once() would.
  bool in_one_module() const {
    return std::ranges::all_of(
        stack_.frames, [&](const SeenFrame& frame) { return frame.module == stack_.frames.front().module; });
  }

  void by_rule(const CodeRule& rule, uint64_t address) {
    switch (rule.status) {
      case cfi::Status::kOk:
        return apply(rule);
      case cfi::Status::kBad:
        return stop(StackEnd::kBadCfi);
      case cfi::Status::kUnsupported:
        return stop(StackEnd::kUnsupported);
      case cfi::Status::kNone:
        break;
    }
    if (exact_) return by_frame_pointer();
    // A return address at the begin of a function was pushed by hand: a signal's way back, or the bottom.
    const CodeRule& next = files_.row(place_.module).file->rule_at(address + 1);
    if (next.status != cfi::Status::kOk) return by_frame_pointer();
    if (!next.fde.signal_frame) return stop(StackEnd::kRoot);
    apply(next);
  }

  void apply(const CodeRule& rule) {
    const cfi::Row& row = rule.row;
    const Rule way_back = row.rule[cfi::kReturnAddress];
    if (way_back == Rule::kUndefined) return stop(StackEnd::kRoot);
    // A row that leaves the pc as it was would go round for ever.
    if (way_back <= Rule::kSame) return stop(StackEnd::kBadCfi);
    uint64_t frame = 0;
    if (!find_frame(rule, &frame)) return;
    Registers caller = registers_;
    caller.set(cfi::kRsp, frame);
    for (unsigned reg = 0; reg < cfi::kRegisterCount; ++reg) {
      if (row.rule[reg] == Rule::kUnspecified || row.rule[reg] == Rule::kSame) continue;
      uint64_t value = 0;
      StackEnd why = StackEnd::kUnsupported;
      if (find(rule, reg, frame, &value, &why))
        caller.set(reg, value);
      else
        caller.lose(reg);
      if (!caller.knows(reg) && (reg == cfi::kReturnAddress || reg == cfi::kRsp)) return stop(why);
    }
    const bool jumps = rule.fde.signal_frame || row.rule[cfi::kRsp] != Rule::kUnspecified;
    if (!jumps && caller.value[cfi::kRsp] <= sp()) return stop(StackEnd::kNoProgress);
    registers_ = caller;
    exact_ = rule.fde.signal_frame;
  }

  /// The canonical frame address; false: the walk has stopped.
  bool find_frame(const CodeRule& rule, uint64_t* frame) {
    const cfi::Row& row = rule.row;
    if (row.cfa_register == cfi::kCfaExpression) {
      RemoteDomain domain{registers_, memory_};
      const cfi::Span code = cfi::expression_at(rule.fde, row.cfa_value);
      if (cfi::Evaluator(domain, code).run(nullptr, frame)) return true;
      return stop(domain.failure), false;
    }
    if (row.cfa_register >= cfi::kRegisterCount) return stop(StackEnd::kBadCfi), false;
    if (row.cfa_register == cfi::kRbp && !registers_.knows(cfi::kRbp)) find_frame_pointer(rule);
    *frame = registers_.value[row.cfa_register] + uint64_t(int64_t(row.cfa_value));
    return registers_.knows(row.cfa_register) || (stop(StackEnd::kUnsupported), false);
  }

  bool find(const CodeRule& rule, unsigned reg, uint64_t frame, uint64_t* value, StackEnd* why) {
    const int32_t operand = rule.row.value[reg];
    const uint64_t saved = frame + uint64_t(int64_t(operand));
    const auto read = [&](uint64_t address) {
      *why = StackEnd::kBadMemory;
      return memory_.read(address, value);
    };
    const auto evaluate = [&](uint64_t* result) {
      RemoteDomain domain{registers_, memory_};
      const bool done = cfi::Evaluator(domain, cfi::expression_at(rule.fde, operand)).run(&frame, result);
      *why = domain.failure;
      return done;
    };
    uint64_t address = 0;
    switch (rule.row.rule[reg]) {
      case Rule::kOffset:
        return read(saved);
      case Rule::kValOffset:
        return *value = saved, true;
      case Rule::kRegister:
        if (operand < 0 || operand >= int32_t(cfi::kRegisterCount)) return false;
        return *value = registers_.value[operand], registers_.knows(unsigned(operand));
      case Rule::kExpression:
        return evaluate(&address) && read(address);
      case Rule::kValExpression:
        return evaluate(value);
      default:
        return false;
    }
  }

  bool follows_call(uint64_t return_address) {
    uint8_t before[7];
    return map_.find(return_address - 1, files_, now_) &&
           memory_.copy(return_address - sizeof before, before, sizeof before) && ends_with_call(before);
  }

  /// Where the frame is found by rbp and no frame below has saved that, the function's own begin says how
  /// far away it is. What would be the return address has to be one.
  void find_frame_pointer(const CodeRule& rule) {
    const uint64_t begin = rule.fde.pc_begin, now_at = place() - place_.bias;
    std::array<uint8_t, 48> code;
    const size_t size = std::min<uint64_t>(code.size(), now_at - begin);
    if (now_at < begin || !memory_.copy(begin + place_.bias, code.data(), size)) return;
    const int64_t depth = frame_depth(code.data(), size);
    uint64_t return_address = 0;
    if (depth < 0 || !memory_.read(sp() + uint64_t(depth) + 8, &return_address)) return;
    if (follows_call(return_address)) registers_.set(cfi::kRbp, sp() + uint64_t(depth));
  }

  /// rbp points to the saved rbp, with the return address above it.
  void by_frame_pointer() {
    const uint64_t frame = registers_.value[cfi::kRbp];
    uint64_t outer = 0, return_address = 0;
    if (!registers_.knows(cfi::kRbp)) return stop(StackEnd::kNoUnwindInfo);
    if (frame == 0 && stack_.used_frame_pointer) return stop(StackEnd::kRoot);
    if (frame < sp() || frame % 8 != 0 || !memory_.read(frame, &outer) ||
        !memory_.read(frame + 8, &return_address))
      return stop(StackEnd::kNoUnwindInfo);
    if (return_address != 0 && !map_.find(return_address - 1, files_, now_))
      return stop(StackEnd::kNoUnwindInfo);
    stack_.used_frame_pointer = true;
    registers_ = {};
    registers_.set(cfi::kRbp, outer);
    registers_.set(cfi::kRsp, frame + 16);
    registers_.set(cfi::kReturnAddress, return_address);
    exact_ = false;
  }

  CodeMap& map_;
  CodeFiles& files_;
  RemoteMemory& memory_;
  const Nanos now_;
  SeenStack stack_;
  Registers registers_;
  CodeMap::Place place_;  // of the frame
  size_t walked_ = 0;
  bool exact_ = false;  // pc is the address of an instruction, not one behind it
  bool stop_ = false;
};

}  // namespace

SeenStack walk_stack(CodeMap& map, CodeFiles& files, RemoteMemory& memory, uint64_t pc, uint64_t sp,
                     Nanos now) {
  return StackWalk(map, files, memory, now).run(pc, sp);
}

int64_t frame_depth(const uint8_t* code, size_t size) {
  size_t at = 0;
  const auto take = [&](std::initializer_list<uint8_t> bytes) {
    if (size - at < bytes.size() || !std::equal(bytes.begin(), bytes.end(), code + at)) return false;
    at += bytes.size();
    return true;
  };
  take({0xf3, 0x0f, 0x1e, 0xfa});  // endbr64
  if (!take({0x55})) return -1;
  if (!take({0x48, 0x89, 0xe5}) && !take({0x48, 0x8b, 0xec})) return -1;
  int64_t depth = 0;
  for (;; depth += 8) {  // push of one of the eight registers, of r8 to r15 with a prefix
    const size_t before = at;
    take({0x41});
    if (at < size && code[at] >= 0x50 && code[at] <= 0x57) {
      ++at;
      continue;
    }
    at = before;
    break;
  }
  if (take({0x48, 0x83, 0xec})) return at < size && code[at] < 0x80 ? depth + code[at] : -1;
  if (!take({0x48, 0x81, 0xec})) return depth;
  int32_t room = 0;
  if (size - at < sizeof room) return -1;
  std::memcpy(&room, code + at, sizeof room);
  return room >= 0 ? depth + room : -1;
}

}  // namespace varve::record::observe
