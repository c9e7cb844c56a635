// SPDX-License-Identifier: MIT
// Machine code of x86-64 step by step, without text: where each instruction begins, and where calls and jumps
// lead. Eight times as fast as disassemble(), which says the same of each instruction. Context: viewer, any
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace varve::symbol {

struct CodeStep {
  uint64_t address = 0;
  uint64_t target = 0;  // of a call or jump: where it leads, or the word that says so; 0: none, or not known
};

/// All of `bytes`, which lie at `address`, in their order.
void for_each_step(std::span<const uint8_t> bytes, uint64_t address,
                   const std::function<void(const CodeStep&)>& use);

}  // namespace varve::symbol
