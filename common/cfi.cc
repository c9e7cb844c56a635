// SPDX-License-Identifier: MIT
// CIE, FDE and CFA programs; see cfi.h. Sources: DWARF 5 section 6.4, the LSB chapter on .eh_frame, and the
// x86-64 psABI. Operations are a table of operands and actions, so that decoding and meaning stay apart.
// Context: signal included.
#include "common/cfi.h"

#include <initializer_list>

#include "common/cfi_expression.h"

namespace varve::cfi {
namespace {

// DW_EH_PE_*: the low four bits are the format, the next three what the value is relative to.
constexpr uint8_t kPeIndirect = 0x80, kPePcRel = 0x10, kPeDataRel = 0x30;
constexpr uint8_t kPeFormat = 0x0f, kPeApplication = 0x70;

uint64_t read_format(Cursor& in, uint8_t format) {
  switch (format) {
    case 0x00:
      return in.read<uint64_t>();
    case 0x01:
      return in.uleb();
    case 0x02:
      return in.read<uint16_t>();
    case 0x03:
      return in.read<uint32_t>();
    case 0x04:
      return in.read<uint64_t>();
    case 0x09:
      return uint64_t(in.sleb());
    case 0x0a:
      return uint64_t(int64_t(in.read<int16_t>()));
    case 0x0b:
      return uint64_t(int64_t(in.read<int32_t>()));
    case 0x0c:
      return in.read<uint64_t>();
    default:
      return in.fail(), 0;
  }
}

/// The body of the entry at `address` (after its length), or an empty span where the entry does not fit
/// `within`. Lengths of 64 bits are not accepted: no x86-64 tool writes them, and libgcc does not read them.
Span entry_body(Span within, uint64_t address) {
  if (address < within.begin || address >= within.end) return {};
  Cursor in(within.sub(address, within.end));
  uint32_t length = in.read<uint32_t>();
  if (!in.ok() || length == 0 || length == UINT32_MAX) return {};
  Span body = in.take(length);
  return in.ok() ? body : Span{};
}

/// The augmentation of a CIE: "" or letters that begin with z, whose data has a size, so that unknown ones
/// are skipped.
Status parse_augmentation(Cursor& in, Cursor letters, Fde* fde, bool* sized) {
  char first = letters.read<char>();
  *sized = first == 'z';
  if (!*sized) return first == 0 ? Status::kOk : Status::kUnsupported;
  Cursor data(in.take(in.uleb()));
  for (char letter; (letter = letters.read<char>()) != 0;) {
    if (letter == 'R') {
      fde->encoding = data.read<uint8_t>();
    } else if (letter == 'L') {
      data.skip(1);
    } else if (letter == 'P') {
      read_format(data, data.read<uint8_t>() & kPeFormat);
    } else if (letter == 'S') {
      fde->signal_frame = true;
    } else if (letter != 'B') {
      break;  // the rest is not ours to know; its size is
    }
  }
  return in.ok() && data.ok() ? Status::kOk : Status::kBad;
}

Status parse_cie(Span body, Fde* fde, bool* sized) {
  Cursor in(body);
  if (in.read<uint32_t>() != 0) return Status::kBad;
  uint8_t version = in.read<uint8_t>();
  if (version != 1 && version != 3 && version != 4) return in.ok() ? Status::kUnsupported : Status::kBad;
  uint64_t text = in.address();
  while (in.read<char>() != 0) {
  }
  Cursor letters(body.sub(text, in.address()));
  if (version == 4) in.skip(2);  // sizes of addresses and segment selectors
  fde->code_align = in.uleb();
  fde->data_align = in.sleb();
  uint64_t return_column = version == 1 ? in.read<uint8_t>() : in.uleb();
  if (!in.ok()) return Status::kBad;
  if (return_column != kReturnAddress) return Status::kUnsupported;
  Status status = parse_augmentation(in, letters, fde, sized);
  fde->initial = in.rest();
  return status;
}

// --- CFA programs
// ----------------------------------------------------------------------------------------------

enum class Operand : uint8_t {
  kNone,
  kAddress,
  kDelta1,
  kDelta2,
  kDelta4,
  kPlain,           // ULEB128: a register, an offset, a size
  kFactored,        // ULEB128 times data alignment
  kSignedFactored,  // SLEB128 times data alignment
  kNegated,         // minus ULEB128 times data alignment
  kBlock,           // ULEB128 length and an expression
};

enum class Action : uint8_t {
  kInvalid,
  kNothing,
  kSetLocation,
  kAdvance,
  kSetRule,  // of register `first`, by Operation::rule
  kRestore,
  kRemember,
  kRestoreState,
  kCfa,
  kCfaRegister,
  kCfaOffset,
  kCfaExpression,
};

struct Operation {
  Action action = Action::kInvalid;
  Operand first = Operand::kNone;
  Operand second = Operand::kNone;
  Rule rule = Rule::kUnspecified;
};

constexpr unsigned kOperationCount = 0x30;

struct OperationTable {
  Operation at[kOperationCount];

  constexpr OperationTable() {
    using enum Operand;
    at[0x00] = {Action::kNothing};
    at[0x01] = {Action::kSetLocation, kAddress};
    at[0x02] = {Action::kAdvance, kDelta1};
    at[0x03] = {Action::kAdvance, kDelta2};
    at[0x04] = {Action::kAdvance, kDelta4};
    at[0x05] = {Action::kSetRule, kPlain, kFactored, Rule::kOffset};
    at[0x06] = {Action::kRestore, kPlain};
    at[0x07] = {Action::kSetRule, kPlain, kNone, Rule::kUndefined};
    at[0x08] = {Action::kSetRule, kPlain, kNone, Rule::kSame};
    at[0x09] = {Action::kSetRule, kPlain, kPlain, Rule::kRegister};
    at[0x0a] = {Action::kRemember};
    at[0x0b] = {Action::kRestoreState};
    at[0x0c] = {Action::kCfa, kPlain, kPlain};
    at[0x0d] = {Action::kCfaRegister, kPlain};
    at[0x0e] = {Action::kCfaOffset, kNone, kPlain};
    at[0x0f] = {Action::kCfaExpression, kNone, kBlock};
    at[0x10] = {Action::kSetRule, kPlain, kBlock, Rule::kExpression};
    at[0x11] = {Action::kSetRule, kPlain, kSignedFactored, Rule::kOffset};
    at[0x12] = {Action::kCfa, kPlain, kSignedFactored};
    at[0x13] = {Action::kCfaOffset, kNone, kSignedFactored};
    at[0x14] = {Action::kSetRule, kPlain, kFactored, Rule::kValOffset};
    at[0x15] = {Action::kSetRule, kPlain, kSignedFactored, Rule::kValOffset};
    at[0x16] = {Action::kSetRule, kPlain, kBlock, Rule::kValExpression};
    at[0x2e] = {Action::kNothing, kPlain};                           // DW_CFA_GNU_args_size
    at[0x2f] = {Action::kSetRule, kPlain, kNegated, Rule::kOffset};  // DW_CFA_GNU_negative_offset_extended
  }
};
constexpr OperationTable kOperations;

/// Compilers nest remember_state once; three levels keep the interpreter at 600 bytes of stack.
constexpr unsigned kMaxRemembered = 3;

class Machine {
 public:
  Machine(const Fde& fde, uint64_t pc) : fde_(fde), pc_(pc), location_(fde.pc_begin) {}

  Status run(Row* result) {
    execute(fde_.initial, /*initial=*/true);
    initial_ = row_;
    if (status_ == Status::kOk) execute(fde_.program, /*initial=*/false);
    *result = row_;
    if (status_ == Status::kOk && row_.cfa_register == kCfaUnset) return Status::kBad;
    return status_;
  }

 private:
  void execute(Span program, bool initial) {
    Cursor in(program);
    while (!in.empty() && status_ == Status::kOk) {
      uint8_t code = in.read<uint8_t>();
      uint8_t low = code & 0x3f;
      switch (code >> 6) {
        case 0:
          step(in, low);
          break;
        case 1:
          location_ += low * fde_.code_align;
          break;
        case 2:
          set_rule(low, Rule::kOffset, int64_t(in.uleb() * uint64_t(fde_.data_align)));
          break;
        case 3:
          restore(low);
          break;
      }
      if (!in.ok()) return fail(Status::kBad);
      if (location_ > pc_ && !initial) return;
    }
  }

  void step(Cursor& in, uint8_t code) {
    if (code >= kOperationCount) return fail(Status::kUnsupported);
    const Operation& operation = kOperations.at[code];
    uint64_t first = operand(in, operation.first);
    int64_t second = int64_t(operand(in, operation.second));
    // A place past the end is not looked at: execute() sees that the cursor failed.
    switch (operation.action) {
      case Action::kInvalid:
        return fail(Status::kUnsupported);
      case Action::kNothing:
        return;
      case Action::kSetLocation:
        location_ = first;
        return;
      case Action::kAdvance:
        location_ += first * fde_.code_align;
        return;
      case Action::kSetRule:
        return set_rule(first, operation.rule, second);
      case Action::kRestore:
        return restore(first);
      case Action::kRemember:
        return remember();
      case Action::kRestoreState:
        return restore_state();
      case Action::kCfa:
        set_cfa_register(first);
        return set_cfa_value(second);
      case Action::kCfaRegister:
        return set_cfa_register(first);
      case Action::kCfaOffset:
        return set_cfa_value(second);
      case Action::kCfaExpression:
        row_.cfa_register = kCfaExpression;
        return set_cfa_value(second);
    }
  }

  uint64_t operand(Cursor& in, Operand kind) {
    switch (kind) {
      case Operand::kNone:
        return 0;
      case Operand::kAddress:
        return in.encoded(fde_.encoding, fde_.data_base);
      case Operand::kDelta1:
        return in.read<uint8_t>();
      case Operand::kDelta2:
        return in.read<uint16_t>();
      case Operand::kDelta4:
        return in.read<uint32_t>();
      case Operand::kPlain:
        return in.uleb();
      case Operand::kFactored:
        return in.uleb() * uint64_t(fde_.data_align);
      case Operand::kSignedFactored:
        return uint64_t(in.sleb()) * uint64_t(fde_.data_align);
      case Operand::kNegated:
        return -(in.uleb() * uint64_t(fde_.data_align));
      case Operand::kBlock: {
        uint64_t place = in.address() - fde_.origin;
        in.skip(in.uleb());
        return place;
      }
    }
    return 0;
  }

  /// Columns beyond the return address (vector registers) do not take part in unwinding.
  void set_rule(uint64_t reg, Rule rule, int64_t value) {
    if (reg >= kRegisterCount) return;
    if (value != int32_t(value)) return fail(Status::kUnsupported);
    row_.rule[reg] = rule;
    row_.value[reg] = int32_t(value);
  }
  void restore(uint64_t reg) {
    if (reg >= kRegisterCount) return;
    row_.rule[reg] = initial_.rule[reg];
    row_.value[reg] = initial_.value[reg];
  }
  void set_cfa_register(uint64_t reg) {
    if (reg >= kRegisterCount) return fail(Status::kUnsupported);
    row_.cfa_register = uint8_t(reg);
  }
  void set_cfa_value(int64_t value) {
    if (value != int32_t(value)) return fail(Status::kUnsupported);
    row_.cfa_value = int32_t(value);
  }
  void remember() {
    if (depth_ == kMaxRemembered) return fail(Status::kUnsupported);
    remembered_[depth_++] = row_;
  }
  void restore_state() {
    if (depth_ == 0) return fail(Status::kBad);
    row_ = remembered_[--depth_];
  }
  void fail(Status status) { status_ = status; }

  const Fde& fde_;
  const uint64_t pc_;
  uint64_t location_;
  Status status_ = Status::kOk;
  unsigned depth_ = 0;
  Row row_;
  Row initial_;
  Row remembered_[kMaxRemembered];
};

}  // namespace

uint64_t Cursor::encoded(uint8_t encoding, uint64_t data_base) {
  uint64_t place = at_;
  if (encoding == kPeOmit || (encoding & kPeIndirect)) return fail(), 0;
  uint64_t value = read_format(*this, encoding & kPeFormat);
  switch (encoding & kPeApplication) {
    case 0:
      return value;
    case kPePcRel:
      return value + place;
    case kPeDataRel:
      return value + data_base;
    default:
      return fail(), 0;
  }
}

Status parse_fde(Span eh_frame, uint64_t fde_address, uint64_t data_base, uint64_t pc, Fde* fde) {
  Span body = entry_body(eh_frame, fde_address);
  Cursor in(body);
  uint64_t pointer_place = in.address();
  uint32_t cie_pointer = in.read<uint32_t>();
  if (!in.ok() || cie_pointer == 0) return Status::kBad;
  Span cie = entry_body(eh_frame, pointer_place - cie_pointer);
  *fde = Fde{};
  bool sized = false;
  Status status = parse_cie(cie, fde, &sized);
  if (status != Status::kOk) return status;
  fde->origin = fde_address;
  fde->data_base = data_base;
  fde->pc_begin = in.encoded(fde->encoding, data_base);
  fde->pc_end = fde->pc_begin + read_format(in, fde->encoding & kPeFormat);
  if (sized) in.skip(in.uleb());
  if (!in.ok()) return Status::kBad;
  fde->program = in.rest();
  return pc >= fde->pc_begin && pc < fde->pc_end ? Status::kOk : Status::kNone;
}

Status run_program(const Fde& fde, uint64_t pc, Row* row) { return Machine(fde, pc).run(row); }

}  // namespace varve::cfi
