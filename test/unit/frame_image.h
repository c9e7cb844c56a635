// SPDX-License-Identifier: MIT
// FrameImage: a piece of memory that looks like a loaded object to the unwinder, with code addresses,
// .eh_frame and .eh_frame_hdr made by hand. Not an ELF file; the code bytes are int3. Context: tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "agent/signal/object_lookup.h"
#include "common/cfi.h"

namespace varve::test {

using Bytes = std::vector<uint8_t>;

inline Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

template <typename T>
Bytes raw(T value) {
  Bytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

inline Bytes uleb(uint64_t value) {
  Bytes bytes;
  do {
    bytes.push_back(uint8_t(value & 0x7f) | (value > 0x7f ? 0x80 : 0));
  } while (value >>= 7);
  return bytes;
}

inline Bytes sleb(int64_t value) {
  Bytes bytes;
  for (bool more = true; more;) {
    const uint8_t low = uint8_t(value & 0x7f);
    value >>= 7;
    more = !((value == 0 && !(low & 0x40)) || (value == -1 && (low & 0x40)));
    bytes.push_back(low | (more ? 0x80 : 0));
  }
  return bytes;
}

// CFA operations, as the compiler's assembler writes them; data alignment is -8, code alignment 1.
namespace op {
inline Bytes def_cfa(uint64_t reg, uint64_t offset) { return Bytes{0x0c} + uleb(reg) + uleb(offset); }
inline Bytes def_cfa_offset(uint64_t offset) { return Bytes{0x0e} + uleb(offset); }
inline Bytes def_cfa_register(uint64_t reg) { return Bytes{0x0d} + uleb(reg); }
inline Bytes def_cfa_expression(const Bytes& code) { return Bytes{0x0f} + uleb(code.size()) + code; }
inline Bytes offset(uint8_t reg, uint64_t words_below) {
  return Bytes{uint8_t(0x80 | reg)} + uleb(words_below);
}
inline Bytes expression(uint64_t reg, const Bytes& code) {
  return Bytes{0x10} + uleb(reg) + uleb(code.size()) + code;
}
inline Bytes val_expression(uint64_t reg, const Bytes& code) {
  return Bytes{0x16} + uleb(reg) + uleb(code.size()) + code;
}
inline Bytes in_register(uint64_t reg, uint64_t other) { return Bytes{0x09} + uleb(reg) + uleb(other); }
inline Bytes undefined(uint64_t reg) { return Bytes{0x07} + uleb(reg); }
inline Bytes same_value(uint64_t reg) { return Bytes{0x08} + uleb(reg); }
inline Bytes advance(uint8_t delta) { return Bytes{uint8_t(0x40 | delta)}; }
inline Bytes breg(uint8_t reg, int64_t offset) { return Bytes{uint8_t(0x70 + reg)} + sleb(offset); }
inline const Bytes deref = {0x06};
inline const Bytes remember = {0x0a};
inline const Bytes restore_state = {0x0b};
inline Bytes plus_uconst(uint64_t number) { return Bytes{0x23} + uleb(number); }
}  // namespace op

/// An entry of .eh_frame with its length, padded to 8 with nops.
inline Bytes entry(Bytes body) {
  while ((body.size() + 4) % 8 != 0) body.push_back(0);
  return raw(uint32_t(body.size())) + body;
}

/// The CIE of every x86-64 compiler: "zR" (with "S" for signal frames), CFA = rsp + 8, return address at CFA
/// - 8.
inline Bytes usual_cie(bool signal = false) {
  const std::string augmentation = signal ? "zRS" : "zR";
  Bytes text(augmentation.begin(), augmentation.end());
  return entry(raw(uint32_t{0}) + Bytes{1} + text + Bytes{0} + uleb(1) + sleb(-8) + Bytes{16} + uleb(1) +
               Bytes{0x00} + op::def_cfa(7, 8) + op::offset(16, 1));
}

/// An FDE whose CIE begins `cie_distance` bytes before it. Addresses are absolute.
inline Bytes fde(size_t cie_distance, uint64_t begin, uint64_t size, const Bytes& program) {
  return entry(raw(uint32_t(cie_distance + 4)) + raw(begin) + raw(size) + uleb(0) + program);
}

class FrameImage {
 public:
  static constexpr uint64_t kFunctionBytes = 64;

  FrameImage() {
    current_ = this;
    std::memset(memory_, 0xcc, sizeof memory_);
  }

  /// Adds a function of kFunctionBytes with this CFA program, apart from the one before by as many bytes
  /// without CFI. Returns the address of its first byte.
  uint64_t add(const Bytes& program, bool signal = false) {
    const uint64_t begin = code();
    const Bytes cie = usual_cie(signal);
    table_.push_back({int32_t(begin - address(0)), int32_t(kFrames + frames_.size() + cie.size())});
    frames_ = frames_ + cie + fde(cie.size(), begin, kFunctionBytes, program);
    next_code_ += 2 * kFunctionBytes;
    publish();
    return begin;
  }

  /// A function without CFI, of these bytes.
  uint64_t add_bare(const Bytes& bytes) {
    const uint64_t begin = code();
    std::copy(bytes.begin(), bytes.end(), memory_ + (begin - address(0)));
    next_code_ += 2 * kFunctionBytes;
    return begin;
  }

  uint64_t address(uint64_t offset) const { return reinterpret_cast<uint64_t>(memory_) + offset; }

  /// The FindObject of the latest image of this process.
  static bool find(uint64_t pc, agent::ObjectFrameInfo* info) {
    if (pc < current_->address(0) || pc >= current_->address(sizeof memory_)) return false;
    *info = {current_->address(0), true};
    return true;
  }

 private:
  struct TableRow {
    int32_t pc, fde;
  };
  static constexpr uint64_t kFrames = 4096, kCode = 16384;

  uint64_t code() const { return address(kCode + next_code_); }

  void publish() {
    Bytes header = Bytes{1, 0xff, 0x03, 0x3b} + raw(uint32_t(table_.size()));
    for (TableRow row : table_) header = header + raw(row.pc) + raw(row.fde);
    std::copy(header.begin(), header.end(), memory_);
    std::copy(frames_.begin(), frames_.end(), memory_ + kFrames);
  }

  static inline FrameImage* current_ = nullptr;
  std::vector<TableRow> table_;
  Bytes frames_;
  uint64_t next_code_ = 0;
  alignas(4096) uint8_t memory_[32768];
};

/// A copy of exactly these bytes, at a made-up address, as an .eh_frame.
struct Section {
  explicit Section(const Bytes& bytes, uint64_t address = 0x10000)
      : memory(new uint8_t[bytes.size()]), span{address, address + bytes.size(), 0} {
    std::copy(bytes.begin(), bytes.end(), memory.get());
    span.to_host = reinterpret_cast<uint64_t>(memory.get()) - address;
  }
  std::unique_ptr<uint8_t[]> memory;
  cfi::Span span;
};

}  // namespace varve::test
