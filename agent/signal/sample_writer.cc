// SPDX-License-Identifier: MIT
// See sample_writer.h.
// Context: signal.
#include "agent/signal/sample_writer.h"

#include <cstring>

#include "common/varint.h"

namespace varve::agent {
namespace {

template <typename Record>
void append(Chunk& chunk, const Record& record) {
  std::memcpy(chunk.end(), &record, sizeof record);
  chunk.commit(sizeof record);
}

constexpr uint32_t kLargestChunk = format::kSampleChunkBytes;

}  // namespace

uint32_t shared_suffix(StackView a, StackView b) {
  uint32_t limit = a.depth < b.depth ? a.depth : b.depth;
  uint32_t shared = 0;
  while (shared < limit && a.frames[a.depth - 1 - shared] == b.frames[b.depth - 1 - shared]) ++shared;
  return shared;
}

uint8_t* encode_sample(uint8_t* out, const SampleFields& fields, StackView stack, StackView previous,
                       uint32_t shared) {
  uint8_t* const begin = out;
  uint32_t fresh = stack.depth - shared;
  uint8_t flags = uint8_t(fields.end);
  if (fields.overrun) flags |= format::kSampleHasOverrun;
  if (fields.used_frame_pointer) flags |= format::kSampleFramePointer;
  out = put_varint(out + sizeof(format::RecordHeader), fields.time_delta_ns);
  out = put_varint(out, fields.weight_ns);
  if (fields.overrun) out = put_varint(out, fields.overrun);
  out = put_varint(out, shared);
  out = put_varint(out, fresh);
  // The first differing frame is most often another call site of the same function: near the old frame in its
  // place.
  uint64_t base = previous.depth > shared ? previous.frames[previous.depth - 1 - shared]
                  : shared                ? stack.frames[fresh]
                                          : 0;
  for (uint32_t i = fresh; i-- > 0; base = stack.frames[i]) out = put_delta(out, stack.frames[i], base);
  format::RecordHeader header{uint16_t(out - begin), uint8_t(format::RecordKind::kSample), flags};
  std::memcpy(begin, &header, sizeof header);
  return out;
}

void SampleWriter::bind(uint64_t* frames, uint32_t max_depth, uint32_t thread) {
  buffers_[0] = frames;
  buffers_[1] = frames + max_depth;
  current_ = 0;
  previous_depth_ = 0;
  thread_ = thread;
  segment_ = kNoSegment;
}

Segment SampleWriter::take_segment() {
  Segment segment = segment_;
  segment_ = kNoSegment;
  return segment;
}

void SampleWriter::give_segment(const Segment& segment) {
  segment_ = segment;
  segment_.thread =
      format::kNoThread;  // even if it was ours: the reader must begin with an empty stack, as we do
  previous_depth_ = 0;
}

/// Seals the full chunk and begins another with room for `bound` bytes.
bool SampleWriter::next_chunk(ProcessFile& file, uint64_t time_ns, uint32_t bound) {
  uint32_t bytes = segment_.next_bytes;
  uint32_t least = format::round_up(bound + uint32_t(sizeof(format::ChunkHeader)), format::kChunkUnit);
  while (bytes < least && bytes < kLargestChunk) bytes *= 4;
  if (least < bytes / 16) least = bytes / 16;
  Chunk next = file.allocate(format::ChunkType::kSamples, {bytes, least}, thread_, time_ns);
  if (!next) return false;
  if (segment_.chunk) {
    ProcessFile::seal(segment_.chunk);
    file.release(segment_.chunk);
  }
  segment_ = {next, thread_, bytes < kLargestChunk ? bytes * 4 : kLargestChunk};
  previous_depth_ = 0;
  return true;
}

/// Says in a segment of another thread that what follows is ours.
bool SampleWriter::switch_thread(ProcessFile& file, uint64_t time_ns, uint32_t bound) {
  if (segment_.chunk.room() < bound + sizeof(format::ThreadSwitchRecord))
    return next_chunk(file, time_ns, bound);
  constexpr auto kKind = uint8_t(format::RecordKind::kThreadSwitch);
  append(segment_.chunk, format::ThreadSwitchRecord{{sizeof(format::ThreadSwitchRecord), kKind, 0}, thread_});
  segment_.thread = thread_;
  previous_depth_ = 0;
  return true;
}

bool SampleWriter::write(ProcessFile& file, uint64_t time_ns, const SampleFields& fields, uint32_t depth) {
  StackView stack{scratch(), depth};
  if (!segment_.chunk && !next_chunk(file, time_ns, sample_bound(depth))) return false;
  if (segment_.thread != thread_ && !switch_thread(file, time_ns, sample_bound(depth))) return false;
  StackView previous{buffers_[current_ ^ 1], previous_depth_};
  uint32_t shared = shared_suffix(stack, previous);
  if (segment_.chunk.room() < sample_bound(depth - shared)) {
    if (!next_chunk(file, time_ns, sample_bound(depth))) return false;
    previous = {};
    shared = 0;
  }
  format::ChunkHeader& header = *segment_.chunk.header;
  // Clocks of two processors agree, but a time before the last one must not wrap.
  uint64_t time = time_ns > header.last_time_ns ? time_ns : header.last_time_ns;
  SampleFields timed = fields;
  timed.time_delta_ns = time - header.last_time_ns;
  uint8_t* begin = segment_.chunk.end();
  uint8_t* end = encode_sample(begin, timed, stack, previous, shared);
  header.last_time_ns = time;
  segment_.chunk.commit(uint32_t(end - begin));
  current_ ^= 1;
  previous_depth_ = depth;
  return true;
}

}  // namespace varve::agent
