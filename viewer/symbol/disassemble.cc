// SPDX-License-Identifier: MIT
// By Capstone, whose names stay in this file, and which is loaded at the first use: the dynamic linker
// relocates the tables of all its architectures, 77,000 addresses, which took half of every start of varve.
// Context: viewer.
#include "viewer/symbol/disassemble.h"

#include <capstone/capstone.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "viewer/symbol/late_library.h"

namespace varve::symbol {
namespace {

/// The length of a vector instruction, by its prefix, ModRM and SIB; 0 for others and for one cut off. The
/// library knows but a part of AVX-512: without the length what follows would decode as nonsense.
size_t vector_length(std::span<const uint8_t> bytes) {
  const uint8_t first = bytes[0];
  const size_t prefix = first == 0x62 ? 4 : first == 0xc4 ? 3 : first == 0xc5 ? 2 : 0;
  if (prefix == 0 || bytes.size() < prefix + 2) return 0;
  const unsigned map = prefix == 2 ? 1 : bytes[1] & (prefix == 4 ? 0x07 : 0x1f);
  const uint8_t opcode = bytes[prefix], modrm = bytes[prefix + 1];
  constexpr std::string_view kWithImmediate = "\x70\x71\x72\x73\xc2\xc4\xc5\xc6";  // of map 1
  const bool immediate =
      map == 3 || (map == 1 && kWithImmediate.find(char(opcode)) != std::string_view::npos);
  const unsigned mode = modrm >> 6, base = modrm & 7;
  const bool sib = mode != 3 && base == 4;
  if (sib && bytes.size() < prefix + 3) return 0;
  const bool no_base = mode == 0 && (base == 5 || (sib && (bytes[prefix + 2] & 7) == 5));
  const size_t displacement = mode == 1 ? 1 : mode == 2 || no_base ? 4 : 0;
  const size_t length = prefix + 2 + sib + displacement + immediate;
  return length <= bytes.size() ? length : 0;
}

struct Library {
  decltype(&::cs_open) cs_open = nullptr;
  decltype(&::cs_close) cs_close = nullptr;
  decltype(&::cs_option) cs_option = nullptr;
  decltype(&::cs_malloc) cs_malloc = nullptr;
  decltype(&::cs_free) cs_free = nullptr;
  decltype(&::cs_disasm_iter) cs_disasm_iter = nullptr;
  decltype(&::cs_insn_group) cs_insn_group = nullptr;
  LateLibrary library{fmt::format("libcapstone.so.{}", CS_API_MAJOR)};

  Library() {
    library.find("cs_open", cs_open);
    library.find("cs_close", cs_close);
    library.find("cs_option", cs_option);
    library.find("cs_malloc", cs_malloc);
    library.find("cs_free", cs_free);
    library.find("cs_disasm_iter", cs_disasm_iter);
    library.find("cs_insn_group", cs_insn_group);
  }
  /// A clause; empty: all of it is there.
  const std::string& trouble() const { return library.trouble(); }
};

const Library& library() {
  static const Library loaded;
  return loaded;
}

class Decoder {
 public:
  explicit Decoder(Syntax syntax) {
    if (!library_.trouble().empty() || library_.cs_open(CS_ARCH_X86, CS_MODE_64, &handle_) != CS_ERR_OK)
      return;
    library_.cs_option(handle_, CS_OPT_SYNTAX,
                       syntax == Syntax::kAtt ? CS_OPT_SYNTAX_ATT : CS_OPT_SYNTAX_INTEL);
    library_.cs_option(handle_, CS_OPT_DETAIL, CS_OPT_ON);
    row_ = library_.cs_malloc(handle_);
  }
  ~Decoder() {
    if (row_ != nullptr) library_.cs_free(row_, 1);
    if (handle_ != 0) library_.cs_close(&handle_);
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  /// The instruction that `bytes` begin with, and takes it off them.
  Instruction next(std::span<const uint8_t>& bytes, uint64_t address) {
    const uint8_t* at = bytes.data();
    size_t left = bytes.size();
    uint64_t behind = address;
    const bool known = row_ != nullptr && library_.cs_disasm_iter(handle_, &at, &left, &behind, row_);
    Instruction result = known ? decoded() : undecodable(bytes, address);
    bytes = bytes.subspan(result.size);
    return result;
  }

 private:
  static Instruction undecodable(std::span<const uint8_t> bytes, uint64_t address) {
    Instruction result;
    result.address = address;
    result.size = uint8_t(std::max<size_t>(vector_length(bytes), 1));
    result.mnemonic = ".byte";
    result.operands = fmt::format("0x{:02x}", fmt::join(bytes.first(result.size), ", 0x"));
    return result;
  }

  bool in(unsigned group) const { return library_.cs_insn_group(handle_, row_, group); }

  Instruction decoded() const {
    Instruction result;
    result.address = row_->address;
    result.size = uint8_t(row_->size);
    result.mnemonic = row_->mnemonic;
    result.operands = row_->op_str;
    result.is_call = in(X86_GRP_CALL);
    result.is_jump = in(X86_GRP_JUMP) || (in(X86_GRP_BRANCH_RELATIVE) && !result.is_call);
    result.ends_block = result.is_jump || in(X86_GRP_RET) || in(X86_GRP_IRET) || stops();
    for (size_t i = 0; i < row_->detail->x86.op_count; ++i) {
      const cs_x86_op& operand = row_->detail->x86.operands[i];
      if (operand.type == X86_OP_IMM && (result.is_call || result.is_jump))
        result.target = uint64_t(operand.imm);
      if (operand.type == X86_OP_MEM && operand.mem.base == X86_REG_RIP)
        result.pointer = result.end() + uint64_t(operand.mem.disp);
    }
    return result;
  }

  /// What never goes on to the next instruction, though it is no jump.
  bool stops() const { return row_->id == X86_INS_UD2 || row_->id == X86_INS_HLT; }

  const Library& library_ = library();
  csh handle_ = 0;
  cs_insn* row_ = nullptr;
};

}  // namespace

std::string disassembly_trouble() {
  const std::string& clause = library().trouble();
  return clause.empty() ? "" : fmt::format("instructions cannot be told apart: {}", clause);
}

std::vector<Instruction> disassemble(std::span<const uint8_t> bytes, uint64_t address, Syntax syntax) {
  Decoder decoder(syntax);
  std::vector<Instruction> rows;
  rows.reserve(bytes.size() / 4);
  while (!bytes.empty()) {
    rows.push_back(decoder.next(bytes, address));
    address = rows.back().end();
  }
  return rows;
}

}  // namespace varve::symbol
