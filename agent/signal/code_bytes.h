// SPDX-License-Identifier: MIT
// The few x86-64 instructions that help where code has no CFI: does a return address follow a call, is a leaf
// before or after the part of its body in which rbp is its frame pointer, and is it one of the start files'.
// Not a disassembler: all else is "unknown". Context: signal.
#pragma once

#include <algorithm>
#include <array>
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

/// Where a leaf with frame pointers is, from the first four bytes of the instruction it stands at: push %rbp
/// (55), mov %rsp,%rbp (48 89 e5 or 48 8b ec, only after a push), ret (c3).
inline LeafState leaf_state(const uint8_t* code) {
  constexpr uint8_t kPush = 0x55, kRet = 0xc3;
  if (code[0] == kRet || (code[0] == kPush && code[1] == 0x48)) return LeafState::kCallerFrame;
  const bool moves =
      code[0] == 0x48 && ((code[1] == 0x89 && code[2] == 0xe5) || (code[1] == 0x8b && code[2] == 0xec));
  return moves ? LeafState::kPushed : LeafState::kBody;
}

/// What decides where a leaf is: so much code from the instruction it stands at, 0 where it cannot be read.
using CodeAhead = uint8_t[17];

/// Where functions of the compiler's and the C library's start files are, which have neither CFI nor, at
/// first, a frame pointer. A tick finds them where they touch a page first: _init, _fini and
/// (de)register_tm_clones at their begin, __do_global_dtors_aux where it asks whether it has run.
inline LeafState start_file_state(const CodeAhead& code) {
  constexpr int16_t kAny = -1;
  struct Place {
    std::array<int16_t, sizeof(CodeAhead)> code;
    uint8_t size;
    LeafState state;
  };
  static constexpr Place kPlaces[] = {
      // endbr64
      {{0xf3, 0x0f, 0x1e, 0xfa}, 4, LeafState::kCallerFrame},
      // sub $8,%rsp
      {{0x48, 0x83, 0xec, 0x08}, 4, LeafState::kCallerFrame},
      // add $8,%rsp
      {{0x48, 0x83, 0xc4, 0x08}, 4, LeafState::kKeepsWord},
      // lea TABLE(%rip),%rdi; lea END(%rip),%rax; cmp %rdi,%rax
      {{0x48, 0x8d, 0x3d, kAny, kAny, kAny, kAny, 0x48, 0x8d, 0x05, kAny, kAny, kAny, kAny, 0x48, 0x39, 0xf8},
       17,
       LeafState::kCallerFrame},
      // lea TABLE(%rip),%rdi; lea END(%rip),%rsi; sub %rdi,%rsi
      {{0x48, 0x8d, 0x3d, kAny, kAny, kAny, kAny, 0x48, 0x8d, 0x35, kAny, kAny, kAny, kAny, 0x48, 0x29, 0xfe},
       17,
       LeafState::kCallerFrame},
      // cmpb $0,COMPLETED(%rip); jne BEHIND; push %rbp
      {{0x80, 0x3d, kAny, kAny, kAny, kAny, 0x00, 0x75, kAny, 0x55}, 10, LeafState::kCallerFrame},
  };
  for (const Place& place : kPlaces) {
    const auto fits = [&](int16_t byte, uint8_t seen) { return byte == kAny || byte == seen; };
    if (std::equal(place.code.begin(), place.code.begin() + place.size, code, fits)) return place.state;
  }
  return LeafState::kBody;
}

}  // namespace varve::agent
