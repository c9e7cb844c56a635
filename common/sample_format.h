// SPDX-License-Identifier: MIT
// Records of sample chunks: samples with their stacks, and where the samples of another thread begin. Waits
// stand among them: wait_format.h. The prose, with a hex dump, is FORMAT.md. Not a reader and not a writer:
// those are viewer/load/sample_decoder and agent/signal/sample_writer. Context: any, signal included; nothing
// here allocates.
#pragma once

#include "common/file_format.h"

namespace varve::format {

/// Why a stack ends where it ends. kRoot alone is a whole stack.
enum class StackEnd : uint8_t {
  kRoot = 0,          // the CFI says: no caller; or a zero return address after frame pointers
  kDepthLimit = 1,    // deeper than the agent follows stacks
  kNoUnwindInfo = 2,  // code without CFI, and no usable frame pointer
  kBadMemory = 3,     // the next word of the stack is not readable
  kNoProgress = 4,    // the caller's frame would not be above this one
  kBadCfi = 5,        // CFI that does not parse
  kBadReturn = 6,     // a return address that is no code
  kUnsupported = 7,   // a register or expression that the unwinder does not follow
  kNoRoom = 8,        // the stack does not fit into a segment
  kNotTaken = 9,      // of a wait that was not worth one
  kCount
};

// Records of kSamples chunks have no RecordHeader, for they are many and short, but: a varint, how many bytes
// follow; a byte of flags; and, where that has kOtherThanSample, the RecordKind.
// kSample. Flags: low 4 bits StackEnd, then kSampleHasOverrun, kSampleFramePointer, kSampleWeightByDelta.
// Body, all LEB128 varints:
//   time delta in ns to the previous record of this chunk that has one (the first: to first_time_ns)
//   weight: ns of CPU time since the thread's previous sample; with kSampleWeightByDelta zigzag(weight - time
//     delta): a thread that always runs has nearly the same of both, which saves two bytes of four
//   overrun: expirations merged into this tick (only with kSampleHasOverrun)
//   shared: frames, counted from the root, equal to those of the previous sample of this chunk
//   fresh: frames that follow, nearer to the leaf
//   tokens until there are `fresh` frames, from the root side to the leaf. P is the frame that followed the
//   one before it when that was last met as a fresh frame's caller in this chunk (see frame_predictor.h), or
//   0:
//     odd: one frame, (zigzag(frame - base) << 1) + 1; base is P, or the frame before where P is 0
//     0: one frame, whose address follows
//     else a number above kTokenBits bits: with kTokenPlace, one frame, and where it is in the predictor's
//     table; without, how many frames, at most kMostForeseen, each of which is its P
//   The frame before the first is the last shared one, or 0.
// A frame address lies inside the instruction that was executing: the interrupted IP, or return address minus
// one; or it is kFramesLeftOut, once in a stack and between two others. After kThreadSwitch and at the start
// of a chunk the previous stack is empty, so chunks decode independently.
inline constexpr uint8_t kSampleEndMask = 0x0f;
inline constexpr uint8_t kSampleHasOverrun = 0x10;
inline constexpr uint8_t kSampleFramePointer = 0x20;  // at least one frame came by frame pointer, not by CFI
inline constexpr uint8_t kOtherThanSample = 0x40;
inline constexpr uint8_t kSampleWeightByDelta = 0x80;
inline constexpr unsigned kTokenBits = 2;
inline constexpr uint64_t kTokenPlace = 2;

/// Stands for the middle of a stack with more frames than the control block's stack_depth. No processor
/// executes such an address: its upper bits are not all the same.
inline constexpr uint64_t kFramesLeftOut = uint64_t{1} << 63;
/// One frame at each end, and kFramesLeftOut.
inline constexpr uint32_t kMinStackDepth = 3;
inline constexpr uint32_t kMaxStackDepth = 4096;
inline constexpr uint32_t kMostForeseen = 16;  // frames that one token may stand for
inline constexpr uint32_t kSampleChunkBytes = 64 * 1024;
inline constexpr uint32_t kMaxSampleSizeBytes = 3;                        // of the size before a record
inline constexpr uint32_t kMaxSampleHeadBytes = kMaxSampleSizeBytes + 2;  // and the flags, and the kind
inline constexpr uint32_t kMaxThreadSwitchBytes = kMaxSampleHeadBytes + 5;
/// Ten bytes is the longest varint of 64 bits; the fixed part is eight varints, a frame at most a token and
/// one.
inline constexpr uint32_t kMaxSampleBytes = kMaxSampleHeadBytes + 8 * 10 + kMaxStackDepth * 11;
static_assert(kMaxSampleBytes < kSampleChunkBytes - sizeof(ChunkHeader));
static_assert(kMaxSampleBytes < 1 << 7 * kMaxSampleSizeBytes);

}  // namespace varve::format
