// SPDX-License-Identifier: MIT
// Our stack and libunwind's for the same interrupted registers, compared frame by frame. libunwind takes
// locks in places, so this is for tests alone. Context: signal handlers of test programs.
#pragma once

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include <cstdio>

#include "test/programs/unwinder.h"

namespace varve::test {

inline constexpr unsigned kMaxFrames = 4096;

struct Stack {
  uint64_t frames[kMaxFrames];
  unsigned depth = 0;
  bool whole = false;
};

enum class Verdict {
  kEqual,
  kOursBetter,   // ours is whole, libunwind's is not
  kBothPartial,  // neither is, and they end differently
  kDifferent,
};

inline void our_stack(const ucontext_t& context, agent::StackBounds bounds, agent::RuleCache& cache,
                      Stack* stack, agent::UnwindResult* result) {
  agent::FrameList frames(stack->frames, kMaxFrames);
  *result = agent::unwind(agent::registers_of(context), bounds, cache, frames, kMaxFrames);
  stack->depth = result->depth;
  stack->whole = result->end == format::StackEnd::kRoot;
}

/// The frames as agent::unwind() records them. libunwind says "signal frame" of the frame that a signal
/// interrupted; the one before it is the trampoline. It does not say whether it ended at the root, so the CFI
/// of its last frame does.
inline void libunwind_stack(ucontext_t* context, Stack* stack) {
  unw_cursor_t cursor;
  unw_word_t ip = 0;
  stack->depth = 0;
  unw_init_local2(&cursor, context, UNW_INIT_SIGNAL_FRAME);
  do {
    unw_get_reg(&cursor, UNW_REG_IP, &ip);
    if (ip == 0 && stack->depth > 0) break;
    const bool interrupted = stack->depth > 0 && unw_is_signal_frame(&cursor) > 0;
    if (interrupted) ++stack->frames[stack->depth - 1];
    stack->frames[stack->depth] = stack->depth == 0 || interrupted ? ip : ip - 1;
    ++stack->depth;
  } while (stack->depth < kMaxFrames && unw_step(&cursor) > 0);
  stack->whole = agent::find_rule(find_loaded, ip - 1, /*exact=*/true).form() == agent::Form::kRoot;
}

/// A frame pointer walk skips the caller of a leaf that has not yet set up, or has left, its frame. Ours
/// looks at the code.
inline bool only_leaf_caller_added(const Stack& ours, const Stack& theirs) {
  return ours.depth == theirs.depth + 1 && theirs.depth > 1 && ours.frames[0] == theirs.frames[0] &&
         std::memcmp(ours.frames + 2, theirs.frames + 1, (theirs.depth - 1) * 8) == 0;
}

inline Verdict compare(const Stack& ours, const Stack& theirs) {
  if (ours.depth == theirs.depth && std::memcmp(ours.frames, theirs.frames, ours.depth * 8) == 0)
    return Verdict::kEqual;
  if (only_leaf_caller_added(ours, theirs)) return Verdict::kOursBetter;
  if (theirs.whole) return Verdict::kDifferent;
  return ours.whole ? Verdict::kOursBetter : Verdict::kBothPartial;
}

inline void print_stack(FILE* out, const char* name, const Stack& stack) {
  std::fprintf(out, "  %s (%u):", name, stack.depth);
  for (unsigned i = 0; i < stack.depth; ++i) std::fprintf(out, " %lx", stack.frames[i]);
  std::fputc('\n', out);
}

}  // namespace varve::test
