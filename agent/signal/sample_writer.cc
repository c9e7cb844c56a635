// SPDX-License-Identifier: MIT
// See sample_writer.h.
// Context: signal.
#include "agent/signal/sample_writer.h"

#include <cstring>

#include "common/varint.h"

namespace varve::agent {
namespace {

constexpr uint32_t kLargestChunk = format::kSampleChunkBytes;

}  // namespace

uint32_t shared_suffix(StackView a, StackView b) {
  uint32_t limit = a.depth < b.depth ? a.depth : b.depth;
  uint32_t shared = 0;
  while (shared < limit && a.frames[a.depth - 1 - shared] == b.frames[b.depth - 1 - shared]) ++shared;
  return shared;
}

namespace {

/// Tokens of the fresh frames.
class FrameEncoder {
 public:
  FrameEncoder(uint8_t* out, FramePredictor& predictor) : out_(out), predictor_(predictor) {}

  void put(uint64_t frame, uint64_t before) {
    uint64_t expected = predictor_.after(before);
    if (frame == expected) {
      if (++foreseen_ == format::kMostForeseen) put_foreseen();
      return;
    }
    put_foreseen();
    put_other(frame, zigzag(int64_t(frame - (expected ? expected : before))));
    predictor_.learn(before, frame);
  }
  uint8_t* finish() {
    put_foreseen();
    return out_;
  }

 private:
  /// A place takes two bytes, which a difference must be worse than.
  static constexpr uint64_t kFar = 1 << 13;

  void put_foreseen() {
    if (foreseen_) out_ = put_varint(out_, uint64_t(foreseen_) << format::kTokenBits);
    foreseen_ = 0;
  }
  void put_other(uint64_t frame, uint64_t difference) {
    const uint32_t place = FramePredictor::place_of(frame);
    if (difference >= kFar && predictor_.at(place) == frame && frame != 0) {
      out_ = put_varint(out_, uint64_t(place) << format::kTokenBits | format::kTokenPlace);
    } else if (difference >> 63) {
      *out_++ = 0;
      out_ = put_varint(out_, frame);
    } else {
      out_ = put_varint(out_, difference << 1 | 1);
    }
  }

  uint8_t* out_;
  FramePredictor& predictor_;
  uint32_t foreseen_ = 0;
};

}  // namespace

RecordFields record_of(const SampleFields& sample) {
  RecordFields fields;
  fields.flags = uint8_t(sample.end);
  fields.time_delta_ns = sample.time_delta_ns;
  fields.numbers[fields.count++] = sample.weight_ns;
  if (sample.used_frame_pointer) fields.flags |= format::kSampleFramePointer;
  if (!sample.overrun) return fields;
  fields.flags |= format::kSampleHasOverrun;
  fields.numbers[fields.count++] = sample.overrun;
  return fields;
}

namespace {

/// The weight of a sample in the shorter of its two ways. `flags`, which are written already, say which.
uint8_t* put_weight(uint8_t* out, uint64_t weight_ns, uint64_t time_delta_ns, uint8_t& flags) {
  const uint64_t difference = zigzag(int64_t(weight_ns - time_delta_ns));
  if (difference >= weight_ns) return put_varint(out, weight_ns);
  flags |= format::kSampleWeightByDelta;
  return put_varint(out, difference);
}

uint8_t* encode_stack(uint8_t* out, StackView stack, uint32_t shared, FramePredictor& predictor) {
  uint32_t fresh = stack.depth - shared;
  out = put_varint(out, shared);
  out = put_varint(out, fresh);
  FrameEncoder encoder(out, predictor);
  uint64_t before = shared ? stack.frames[fresh] : 0;
  for (uint32_t i = fresh; i-- > 0; before = stack.frames[i]) encoder.put(stack.frames[i], before);
  return encoder.finish();
}

}  // namespace

namespace {

/// Puts the size before a body that was written behind room for a short one.
uint8_t* finish_record(uint8_t* begin, uint8_t* end) {
  uint8_t* const body = begin + 1;
  const auto size = uint64_t(end - body);
  uint8_t text[format::kMaxSampleSizeBytes];
  const auto digits = size_t(put_varint(text, size) - text);
  if (digits > 1) std::memmove(begin + digits, body, size);
  std::memcpy(begin, text, digits);
  return begin + digits + size;
}

uint8_t* begin_record(uint8_t* begin, format::RecordKind kind, uint8_t flags) {
  uint8_t* out = begin + 1;
  if (kind == format::RecordKind::kSample) {
    *out++ = flags;
    return out;
  }
  *out++ = flags | format::kOtherThanSample;
  *out++ = uint8_t(kind);
  return out;
}

uint8_t* encode_thread_switch(uint8_t* begin, uint32_t thread) {
  return finish_record(begin, put_varint(begin_record(begin, format::RecordKind::kThreadSwitch, 0), thread));
}

}  // namespace

uint8_t* encode_record(uint8_t* begin, const RecordFields& fields, StackView stack, uint32_t shared,
                       FramePredictor& predictor) {
  uint8_t* out = put_varint(begin_record(begin, fields.kind, fields.flags), fields.time_delta_ns);
  const bool is_sample = fields.kind == format::RecordKind::kSample;
  if (is_sample) out = put_weight(out, fields.numbers[RecordFields::kWeight], fields.time_delta_ns, begin[1]);
  for (uint32_t i = is_sample; i < fields.count; ++i) out = put_varint(out, fields.numbers[i]);
  if (fields.has_stack()) out = encode_stack(out, stack, shared, predictor);
  return finish_record(begin, out);
}

void SampleWriter::bind(uint64_t* frames, uint32_t max_depth, FramePredictor& predictor, uint32_t thread) {
  buffers_[0] = frames;
  buffers_[1] = frames + max_depth;
  current_ = 0;
  thread_ = thread;
  predictor_ = &predictor;
  segment_ = kNoSegment;
  forget_stack();
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
  forget_stack();
}

void SampleWriter::forget_stack() {
  previous_depth_ = 0;
  last_object_ = 0;
  predictor_->forget();
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
  forget_stack();
  return true;
}

/// Says in a segment of another thread that what follows is ours.
bool SampleWriter::switch_thread(ProcessFile& file, uint64_t time_ns, uint32_t bound) {
  if (segment_.chunk.room() < bound + format::kMaxThreadSwitchBytes) return next_chunk(file, time_ns, bound);
  uint8_t* begin = segment_.chunk.end();
  segment_.chunk.commit(uint32_t(encode_thread_switch(begin, thread_) - begin));
  segment_.thread = thread_;
  forget_stack();
  return true;
}

bool SampleWriter::write(ProcessFile& file, uint64_t time_ns, const RecordFields& fields, uint32_t depth) {
  StackView stack{scratch(), depth};
  if (!segment_.chunk && !next_chunk(file, time_ns, sample_bound(depth))) return false;
  if (segment_.thread != thread_ && !switch_thread(file, time_ns, sample_bound(depth))) return false;
  uint32_t shared = shared_suffix(stack, {buffers_[current_ ^ 1], previous_depth_});
  if (segment_.chunk.room() < sample_bound(depth - shared)) {
    if (!next_chunk(file, time_ns, sample_bound(depth))) return false;
    shared = 0;
  }
  format::ChunkHeader& header = *segment_.chunk.header;
  // Clocks of two processors agree, but a time before the last one must not wrap.
  uint64_t time = time_ns > header.last_time_ns ? time_ns : header.last_time_ns;
  RecordFields timed = fields;
  timed.time_delta_ns = time - header.last_time_ns;
  if (fields.has_object()) {
    uint64_t& object = timed.numbers[RecordFields::kObject];
    object = zigzag(int64_t(fields.numbers[RecordFields::kObject] - last_object_));
    last_object_ = fields.numbers[RecordFields::kObject];
  }
  uint8_t* begin = segment_.chunk.end();
  uint8_t* end = encode_record(begin, timed, stack, shared, *predictor_);
  header.last_time_ns = time;
  segment_.chunk.commit(uint32_t(end - begin));
  if (!fields.has_stack()) return true;
  current_ ^= 1;
  previous_depth_ = depth;
  return true;
}

bool SampleWriter::write_for(uint32_t thread, ProcessFile& file, uint64_t time_ns,
                             const RecordFields& fields) {
  const uint32_t own = thread_;
  thread_ = thread;
  const bool written = write(file, time_ns, fields, 0);
  thread_ = own;
  return written;
}

}  // namespace varve::agent
