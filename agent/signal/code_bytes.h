// SPDX-License-Identifier: MIT
// The few x86-64 instructions that help where code has no CFI: does a return address follow a call, is a leaf
// before or after the part of its body in which rbp is its frame pointer, and where is _init. Not a
// disassembler: all else is "unknown". Context: signal.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace varve::agent {

/// `before` are the 7 bytes that end at a return address. call rel32 is E8; call r/m is FF /2 with 0 to 5
/// bytes behind its ModRM byte.
inline bool ends_with_call(const uint8_t (&before)[7]) {
  if (before[2] == 0xe8) return true;
  for (unsigned at : {0u, 1u, 3u, 4u, 5u})
    if (before[at] == 0xff && (before[at + 1] & 0x38) == 0x10) return true;
  return false;
}

enum class LeafState : uint8_t {
  kBody,         // rbp points to the frame
  kCallerFrame,  // rbp is the caller's, the return address is on top of the stack
  kPushed,       // the caller's rbp is on top of the stack, the return address above it
  kKeepsWord,    // rbp is the caller's, a word that means nothing lies below the return address
};

/// Where a leaf with frame pointers is, from the instruction it stands at: push %rbp (55), mov %rsp,%rbp (48
/// 89 e5 or 48 8b ec, only after a push), ret (c3).
inline LeafState leaf_state(const uint8_t (&code)[4]) {
  constexpr uint8_t kPush = 0x55, kRet = 0xc3;
  if (code[0] == kRet || (code[0] == kPush && code[1] == 0x48)) return LeafState::kCallerFrame;
  const bool moves =
      code[0] == 0x48 && ((code[1] == 0x89 && code[2] == 0xe5) || (code[1] == 0x8b && code[2] == 0xec));
  return moves ? LeafState::kPushed : LeafState::kBody;
}

/// Where _init and _fini of the C library's start files are, which have neither CFI nor a frame pointer: they
/// begin with endbr64 (f3 0f 1e fa) or sub $8,%rsp (48 83 ec 08) and end with add $8,%rsp (48 83 c4 08). A
/// tick finds them at their first instruction, whose page is read then.
inline LeafState start_file_state(const uint8_t (&code)[4]) {
  const auto is = [&](uint8_t a, uint8_t b, uint8_t c, uint8_t d) {
    return code[0] == a && code[1] == b && code[2] == c && code[3] == d;
  };
  if (is(0xf3, 0x0f, 0x1e, 0xfa) || is(0x48, 0x83, 0xec, 0x08)) return LeafState::kCallerFrame;
  return is(0x48, 0x83, 0xc4, 0x08) ? LeafState::kKeepsWord : LeafState::kBody;
}

}  // namespace varve::agent
