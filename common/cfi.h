// SPDX-License-Identifier: MIT
// Call frame information: .eh_frame_hdr search, CIE and FDE, and the CFA program run up to one pc, giving the
// row that says where the caller's registers are. Not an unwinder: applying a row to registers and memory is
// agent/signal/unwind.h. Every read is bounded by the entry it belongs to; there is no limit on the number of
// operations (a large function's program is 20 KB long), only the length of the entry.
// Context: signal included; nothing here allocates, throws, locks or keeps state.
#pragma once

#include <cstdint>
#include <cstring>

namespace varve::cfi {

/// DWARF numbers of the x86-64 registers: 0..15 are rax rdx rcx rbx rsi rdi rbp rsp r8..r15; 16 is the return
/// address.
inline constexpr unsigned kRbx = 3, kRbp = 6, kRsp = 7, kReturnAddress = 16, kRegisterCount = 17;

/// Bytes that are not to be read in place. A function, not a virtual one: the handler has no C++ runtime.
struct ByteSource {
  /// False: they cannot be read.
  bool (*copy)(ByteSource& self, uint64_t address, void* to, uint64_t size);
};

/// Bytes known by their address in the target; the byte of `address` is at `address + to_host` here, or comes
/// from `source` if there is one. In the target itself to_host is 0.
struct Span {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t to_host = 0;
  ByteSource* source = nullptr;

  Span sub(uint64_t from, uint64_t to) const { return {from, to, to_host, source}; }
  /// Of bytes within. False: the source cannot read them, and `value` is as it was.
  template <typename T>
  bool load(uint64_t address, T& value) const {
    if (source) return source->copy(*source, address, &value, sizeof value);
    std::memcpy(&value, reinterpret_cast<const void*>(address + to_host), sizeof value);
    return true;
  }
};

/// A reader that moves through a Span. A read beyond the end, or of what cannot be read, returns 0, and from
/// then on the cursor is empty and not ok.
class Cursor {
 public:
  explicit Cursor(Span span) : at_(span.begin), end_(span.end), bytes_(span) {}

  bool ok() const { return ok_; }
  bool empty() const { return at_ >= end_; }
  uint64_t address() const { return at_; }
  Span rest() const { return bytes_.sub(at_, end_); }

  template <typename T>
  T read() {
    T value{};
    if (end_ - at_ < sizeof(T) || at_ > end_ || !bytes_.load(at_, value)) return fail(), value;
    at_ += sizeof(T);
    return value;
  }
  void skip(uint64_t count) {
    if (at_ > end_ || end_ - at_ < count) return fail();
    at_ += count;
  }
  /// The next `count` bytes as a span of their own.
  Span take(uint64_t count) {
    uint64_t begin = at_;
    skip(count);
    return bytes_.sub(begin, at_);
  }
  uint64_t uleb();
  int64_t sleb();
  /// A pointer in one of the DW_EH_PE encodings; fails on those that need more than pc and `data_base`.
  uint64_t encoded(uint8_t encoding, uint64_t data_base);
  void fail() {
    at_ = end_;
    ok_ = false;
  }

 private:
  uint64_t at_;
  uint64_t end_;
  Span bytes_;
  bool ok_ = true;
};

enum class Status : uint8_t {
  kOk,
  kNone,         // no entry covers this pc
  kBad,          // does not parse
  kUnsupported,  // parses, but uses what no x86-64 compiler emits
};

/// An FDE with what its CIE says.
struct Fde {
  uint64_t pc_begin = 0;
  uint64_t pc_end = 0;
  Span program;         // of the FDE
  Span initial;         // of the CIE
  uint64_t origin = 0;  // address of the FDE; expressions in a Row are relative to it
  uint64_t data_base = 0;
  uint64_t code_align = 1;
  int64_t data_align = 1;
  uint8_t encoding = 0;  // of addresses in this FDE
  bool signal_frame = false;
};

/// No value: of the encodings of addresses (DW_EH_PE_omit).
inline constexpr uint8_t kPeOmit = 0xff;

/// Finds the address of the FDE that may cover `pc` through the sorted table of .eh_frame_hdr. Only the table
/// form that every linker writes (DW_EH_PE_datarel | sdata4) is searched; a header without it is kNone.
Status find_fde(Span eh_frame_hdr, uint64_t pc, uint64_t* fde_address);

/// The first entry of that table: where its code begins, and the address of its FDE.
Status first_fde(Span eh_frame_hdr, uint64_t* pc, uint64_t* fde_address);

/// Parses the FDE at `fde_address` and its CIE, both within `eh_frame`. kNone when it does not cover `pc`.
Status parse_fde(Span eh_frame, uint64_t fde_address, uint64_t data_base, uint64_t pc, Fde* fde);

enum class Rule : uint8_t {
  kUnspecified,  // x86-64: the register keeps its value
  kSame,
  kUndefined,      // lost; for the return address: there is no caller
  kOffset,         // saved at CFA + value
  kValOffset,      // is CFA + value
  kRegister,       // is in register `value`
  kExpression,     // saved at the address that the expression gives
  kValExpression,  // is what the expression gives
};

inline constexpr uint8_t kCfaUnset = 0xfe;
inline constexpr uint8_t kCfaExpression = 0xff;

/// Where the caller's registers are, at one pc. For expressions, `value` is the place of their block (a
/// ULEB128 length, then the code) relative to Fde::origin.
struct Row {
  int32_t cfa_value = 0;             // offset to cfa_register, or place of an expression
  uint8_t cfa_register = kCfaUnset;  // a register below kRegisterCount, kCfaExpression or kCfaUnset
  Rule rule[kRegisterCount] = {};
  int32_t value[kRegisterCount] = {};
};

/// Runs the CIE's and the FDE's program up to `pc`.
Status run_program(const Fde& fde, uint64_t pc, Row* row);

/// The code of an expression whose place stands in a Row; empty when it does not lie within the FDE or its
/// CIE.
Span expression_at(const Fde& fde, int32_t place);

}  // namespace varve::cfi
