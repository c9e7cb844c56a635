// SPDX-License-Identifier: MIT
// SampleWriter: one thread's samples and waits into its chunk, each stack as the part that differs from the
// one before. Also the pure encoder of one record, which generators and tests use. Not the chunk allocator
// (process_file.h) and not the unwinder. Context: signal, or outside of it with all signals blocked; one
// writer a chunk at a time.
#pragma once

#include <cstdint>

#include "agent/signal/process_file.h"
#include "common/frame_predictor.h"
#include "common/sample_format.h"

namespace varve::agent {

/// Frame addresses, the leaf first.
struct StackView {
  const uint64_t* frames = nullptr;
  uint32_t depth = 0;
};

struct SampleFields {
  uint64_t time_delta_ns = 0;
  uint64_t weight_ns = 0;
  uint64_t overrun = 0;
  format::StackEnd end = format::StackEnd::kRoot;
  bool used_frame_pointer = false;
};

/// What stands in a record before its stack.
struct RecordFields {
  static constexpr uint32_t kMostNumbers = 5;
  static constexpr uint32_t kWeight = 0;  // of `numbers`, in a sample, which must have it
  static constexpr uint32_t kObject = 2;  // of `numbers`, in a wait, a release or a creation

  format::RecordKind kind = format::RecordKind::kSample;
  uint8_t flags = 0;
  uint64_t time_delta_ns = 0;
  uint32_t count = 0;  // of `numbers`
  uint64_t numbers[kMostNumbers] = {};

  bool has_object() const { return kind != format::RecordKind::kSample; }
  bool has_stack() const { return (flags & format::kSampleEndMask) != uint8_t(format::StackEnd::kNotTaken); }
};
RecordFields record_of(const SampleFields& sample);

/// The number of frames, counted from the root, that two stacks have in common.
uint32_t shared_suffix(StackView a, StackView b);

/// Bytes that a record with `fresh` new frames needs at the most.
constexpr uint32_t sample_bound(uint32_t fresh) {
  return format::kMaxSampleHeadBytes + (3 + RecordFields::kMostNumbers) * 10 + fresh * 11;
}

/// Writes one record at `begin` (format: sample_format.h, wait_format.h) and returns the byte after it. The
/// first `shared` frames from the root are those of the stack before; room for sample_bound(stack.depth -
/// shared) must be there. `predictor` has learned the stacks of this chunk, and learns this one.
uint8_t* encode_record(uint8_t* begin, const RecordFields& fields, StackView stack, uint32_t shared,
                       FramePredictor& predictor);

/// A chunk that is being filled and what the next sample is encoded against. Passed from an ended thread to
/// the next one.
struct Segment {
  Chunk chunk;
  uint32_t thread;      // whose samples the last records are
  uint32_t next_bytes;  // of the chunk after this: 1, 4, 16, then 64 KB, so that idle threads stay small
};
inline constexpr Segment kNoSegment{{}, format::kNoThread, 1024};

class SampleWriter {
 public:
  /// `frames` is memory for two stacks of `max_depth`; both it and the predictor outlive the writer.
  void bind(uint64_t* frames, uint32_t max_depth, FramePredictor& predictor, uint32_t thread);

  /// Where the unwinder puts the next stack, the leaf first.
  uint64_t* scratch() { return buffers_[current_]; }

  /// Appends a record of `time_ns` with the stack in scratch(). False: no room in the file, or another thread
  /// holds it.
  bool write(ProcessFile& file, uint64_t time_ns, const RecordFields& fields, uint32_t depth);

  /// The same in the name of another thread, which cannot write itself.
  bool write_for(uint32_t thread, ProcessFile& file, uint64_t time_ns, const RecordFields& fields);

  /// The segment leaves the thread, for the next one or for good.
  Segment take_segment();
  void give_segment(const Segment& segment);
  bool has_segment() const { return bool(segment_.chunk); }

 private:
  bool next_chunk(ProcessFile& file, uint64_t time_ns, uint32_t bound);
  bool switch_thread(ProcessFile& file, uint64_t time_ns, uint32_t bound);
  void forget_stack();

  Segment segment_ = kNoSegment;
  uint64_t* buffers_[2] = {};
  uint32_t current_ = 0;
  uint32_t previous_depth_ = 0;
  FramePredictor* predictor_ = nullptr;
  uint64_t last_object_ = 0;  // of this chunk and thread: the next is told by its difference
  uint32_t thread_ = format::kNoThread;
};

}  // namespace varve::agent
