// SPDX-License-Identifier: MIT
// Machine code of x86-64 as text, with what is needed to follow it: where it jumps, and where a basic block
// ends. Bytes are untrusted; what does not decode becomes `.byte`. Not names of targets: code_table.h has
// those. Context: viewer, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace varve::symbol {

enum class Syntax : uint8_t { kAtt, kIntel };

struct Instruction {
  uint64_t address = 0;
  uint8_t size = 1;
  bool is_call = false;
  bool is_jump = false;  // conditional or not
  bool ends_block = false;
  uint64_t target = 0;   // of a direct call or jump; 0: none
  uint64_t pointer = 0;  // what an operand relative to the instruction pointer refers to; 0: none
  std::string mnemonic;
  std::string operands;

  uint64_t end() const { return address + size; }
};

/// A sentence where the library that knows the instructions is not installed, and all are `.byte`; else
/// empty.
std::string disassembly_trouble();

/// All of `bytes`, which lie at `address`.
std::vector<Instruction> disassemble(std::span<const uint8_t> bytes, uint64_t address, Syntax syntax);

}  // namespace varve::symbol
