// SPDX-License-Identifier: MIT
// See sample_decoder.h.
// Context: viewer, one decoder a thread.
#include "viewer/load/sample_decoder.h"

#include <algorithm>
#include <utility>

namespace varve::load {

using format::RecordKind;

namespace {

constexpr char kMisplaced[] = "has a stack with frames left out that are not between two others";

}  // namespace

DecodedChunk SampleDecoder::decode(const SampleSource& from, const Chunk& chunk) {
  DecodedChunk out;
  out.decoder = decoder_;
  out.process = from.process;
  out.bytes = chunk.readable;
  if (!enter(from, out, chunk)) return out;
  if (auto records = read_chunk(*open_file_, chunk, buffer_))
    decode_records(chunk, *records, out);
  else
    out.damages.push_back(chunk_damage(file_->name, chunk, records.error(), chunk.readable));
  return out;
}

/// Opens the file of the chunk and indexes its mappings, unless the last chunk was from it, too.
bool SampleDecoder::enter(const SampleSource& from, DecodedChunk& out, const Chunk& chunk) {
  if (file_ == from.file && open_file_) return true;
  file_ = from.file;
  process_ = from.process;
  index_ = std::make_unique<MappingIndex>(mappings_, from.first_mapping, from.end_mapping);
  forget_cached();
  open_file_.reset();
  auto opened = source_.open(file_->name);
  if (!opened) {
    out.damages.push_back(chunk_damage(file_->name, chunk,
                                       "can no longer be read: its file " + opened.error(), chunk.readable));
    return false;
  }
  open_file_ = std::move(*opened);
  return true;
}

void SampleDecoder::decode_records(const Chunk& chunk, ByteView records, DecodedChunk& out) {
  clear_stack();
  repeats_left_ = kRepeatsPerByte * records.size();
  time_ns_ = chunk.header.first_time_ns;
  out.runs.push_back({chunk.header.thread, 0});
  out.samples.reserve(records.size() / 40);
  out.frames.reserve(records.size() / 4);
  size_t left = 0;
  try {
    while (!records.empty()) {
      left = records.size();
      const uint64_t size = records.read_varint();
      ByteView record = records.take(size);
      decode_record(record, out);
    }
  } catch (const ParseError& error) {
    // Each sample is told as a difference to the one before, so nothing after a bad one can be trusted.
    out.damages.push_back(chunk_damage(file_->name, chunk, error.what(), left));
  }
}

void SampleDecoder::decode_record(ByteView record, DecodedChunk& out) {
  const auto flags = record.read<uint8_t>();
  const auto kind =
      flags & format::kOtherThanSample ? RecordKind(record.read<uint8_t>()) : RecordKind::kSample;
  if (kind == RecordKind::kSample) {
    decode_sample(record, flags, out);
  } else if (kind == RecordKind::kWaitEvent || kind == RecordKind::kRelease ||
             kind == RecordKind::kCreation) {
    decode_event(record, kind, flags, out);
  } else if (kind == RecordKind::kThreadSwitch) {
    out.runs.push_back({uint32_t(record.read_varint()), uint32_t(out.samples.size())});
    clear_stack();
  }
}

namespace {

uint64_t weight_by(uint64_t delta_ns, ByteView& record) {
  const int64_t difference = record.read_signed_varint();
  const uint64_t weight = delta_ns + uint64_t(difference);
  if ((difference < 0) != (weight < delta_ns)) throw ParseError("has a sample with an impossible weight");
  return weight;
}

}  // namespace

void SampleDecoder::decode_sample(ByteView record, uint8_t flags, DecodedChunk& out) {
  DecodedSample sample;
  const uint64_t delta = decode_time(record, sample);
  sample.weight_ns = flags & format::kSampleWeightByDelta ? weight_by(delta, record) : record.read_varint();
  if (flags & format::kSampleHasOverrun) record.read_varint();
  decode_stack(record, flags, sample, out);
}

void SampleDecoder::decode_event(ByteView record, RecordKind of, uint8_t flags, DecodedChunk& out) {
  DecodedSample sample;
  sample.is_event = true;
  decode_time(record, sample);
  DecodedEvent event;
  event.record = of;
  event.time_ns = sample.time_ns - std::min(record.read_varint(), sample.time_ns);
  const uint64_t kind = record.read_varint();
  event.object = last_object_ += uint64_t(record.read_signed_varint());
  event.duration_ns = std::min(record.read_varint(), event.time_ns);
  event.count = uint32_t(std::min<uint64_t>(record.read_varint(), UINT32_MAX));
  if (kind == 0 || kind >= uint64_t(format::ObjectKind::kCount))
    throw ParseError("has a wait for an unknown kind of object");
  event.kind = format::ObjectKind(kind);
  event.timed_out = of == RecordKind::kWaitEvent && event.count == 1 && (flags & format::kWaitTimedOut);
  decode_stack(record, flags, sample, out);
  out.events.push_back(event);
}

/// Returns how long after the record before.
uint64_t SampleDecoder::decode_time(ByteView& record, DecodedSample& sample) const {
  const uint64_t delta = record.read_varint();
  if (delta > UINT64_MAX - time_ns_) throw ParseError("has a sample at an impossible time");
  sample.time_ns = time_ns_ + delta;
  return delta;
}

/// The last of a record, which then is a row.
void SampleDecoder::decode_stack(ByteView& record, uint8_t flags, DecodedSample& sample, DecodedChunk& out) {
  sample.end = format::StackEnd(flags & format::kSampleEndMask);
  if (sample.end >= format::StackEnd::kCount) throw ParseError("has a stack that ends for an unknown reason");
  if (sample.end != format::StackEnd::kNotTaken) decode_frames(record, sample, out);
  time_ns_ = sample.time_ns;
  out.samples.push_back(sample);
}

void SampleDecoder::decode_frames(ByteView& record, DecodedSample& sample, DecodedChunk& out) {
  uint64_t shared = record.read_varint();
  uint64_t fresh = record.read_varint();
  if (shared > stack_.size()) throw ParseError("has a stack that shares more than there is");
  if (sample.end != last_end_) count_repeats(shared);  // the same frames below another root: other paths
  last_end_ = sample.end;
  if (fresh > format::kMaxStackDepth || shared + fresh > format::kMaxStackDepth)
    throw ParseError("has a stack too deep to be true");
  size_t first_frame = out.frames.size();
  try {
    keep_frames(shared, sample, out);
    while (fresh > 0) fresh -= read_frames(record, fresh, sample.time_ns, out);
    if (left_out_ != 0 && left_out_ + 1 == stack_.size()) throw ParseError(kMisplaced);
  } catch (const ParseError&) {
    out.frames.resize(first_frame);
    throw;
  }
  sample.fresh = uint16_t(out.frames.size() - first_frame);
}

/// A shared frame costs the file nothing. Where it means something else than in the sample before it costs us
/// what a fresh one does, and a file in which that is so for most samples is made up.
void SampleDecoder::count_repeats(size_t frames) {
  if (frames > repeats_left_) throw ParseError("has stacks that change their meaning too often to be true");
  repeats_left_ -= frames;
}

/// The frames of one token, at most `most`; returns how many.
uint64_t SampleDecoder::read_frames(ByteView& record, uint64_t most, uint64_t time_ns, DecodedChunk& out) {
  uint64_t token = record.read_varint();
  uint64_t before = stack_.empty() ? 0 : stack_.back();
  uint64_t expected = predictor_.after(before);
  constexpr uint64_t kKind = (1 << format::kTokenBits) - 1;
  const uint64_t number = token >> format::kTokenBits;
  if (token != 0 && (token & kKind) == 0) {
    // At most so many for a byte, so memory stays bounded by the size of the file.
    if (number > std::min<uint64_t>(most, format::kMostForeseen))
      throw ParseError("has a stack with more frames than it says");
    for (uint64_t i = 0; i < number; ++i, expected = predictor_.after(stack_.back()))
      push_frame(expected, time_ns, out);
    return number;
  }
  const uint64_t frame = token == 0 ? record.read_varint()
                         : (token & kKind) == format::kTokenPlace
                             ? frame_at(number)
                             : (expected ? expected : before) + uint64_t(unzigzag(token >> 1));
  predictor_.learn(before, frame);
  push_frame(frame, time_ns, out);
  return 1;
}

uint64_t SampleDecoder::frame_at(uint64_t place) const {
  const uint64_t frame = place < FramePredictor::kPlaces ? predictor_.at(uint32_t(place)) : 0;
  if (frame == 0) throw ParseError("has a stack with a frame that was not met before");
  return frame;
}

/// Cuts the stack to the frames that the sample shares with the one before. Where modules came or went in
/// between, equal addresses may mean other code: those frames count as fresh ones.
void SampleDecoder::keep_frames(size_t shared, DecodedSample& sample, DecodedChunk& out) {
  size_t kept = shared;
  while (kept > 0 && until_[kept - 1] <= sample.time_ns) --kept;
  sample.shared = uint16_t(kept);
  cut_stack(shared);
  until_.resize(kept);
  if (kept == shared) return;
  count_repeats(shared - kept);
  std::vector<uint64_t> again(stack_.begin() + ptrdiff_t(kept), stack_.end());
  cut_stack(kept);
  for (uint64_t address : again) push_frame(address, sample.time_ns, out);
}

void SampleDecoder::cut_stack(size_t depth) {
  stack_.resize(depth);
  if (left_out_ >= depth) left_out_ = 0;
}

void SampleDecoder::push_frame(uint64_t address, uint64_t time_ns, DecodedChunk& out) {
  if (address == format::kFramesLeftOut) {
    if (left_out_ != 0 || stack_.empty()) throw ParseError(kMisplaced);
    left_out_ = stack_.size();
  }
  const CachedSite& found = site_at(address, time_ns, out);
  stack_.push_back(address);
  uint64_t until = window_of(found).until;
  until_.push_back(until_.empty() ? until : std::min(until_.back(), until));
  out.frames.push_back(found.site);
}

/// Makes every slot stale without touching it: small files come by the thousand.
void SampleDecoder::forget_cached() {
  bool out_of_numbers = first_window_ > UINT32_MAX - 2 * kMostWindows;
  if (cache_.size() == 0 || out_of_numbers) cache_ = ZeroedArray<CachedSite>(size_t{1} << kCacheBits);
  first_window_ = out_of_numbers ? 1 : first_window_ + uint32_t(windows_.size());
  windows_.clear();
}

/// Neighbouring lookups mostly have the same window; a window may be listed twice.
uint32_t SampleDecoder::number_window(Window window) {
  if (windows_.empty() || (windows_.front() != window && windows_.back() != window))
    windows_.push_back(window);
  return first_window_ + uint32_t(windows_.front() == window ? 0 : windows_.size() - 1);
}

bool SampleDecoder::holds(const CachedSite& cached, uint64_t address, uint64_t time_ns) const {
  if (cached.address != address || cached.window < first_window_) return false;
  const Window& window = window_of(cached);
  return window.from <= time_ns && time_ns < window.until;
}

const SampleDecoder::CachedSite& SampleDecoder::site_at(uint64_t address, uint64_t time_ns,
                                                        DecodedChunk& out) {
  CachedSite* slots = &cache_[spread(address) >> (64 - kCacheBits) & ~size_t{1}];
  if (holds(slots[0], address, time_ns)) return slots[0];
  if (holds(slots[1], address, time_ns)) return slots[1];
  CachedSite found = look_up(address, time_ns, out);
  slots[1] = slots[0];
  return slots[0] = found;
}

SampleDecoder::CachedSite SampleDecoder::look_up(uint64_t address, uint64_t time_ns, DecodedChunk& out) {
  if (windows_.size() >= kMostWindows) forget_cached();
  auto hit = index_->find(address, time_ns);
  CodeSite site{address, CodeSite::kAnonymous, process_};
  if (address == format::kFramesLeftOut) {
    site = {uint64_t(SpecialSite::kDeepRecursion), CodeSite::kSpecial, 0};
  } else if (hit.mapping != MappingIndex::kNone) {
    const Mapping& mapping = mappings_[hit.mapping];
    site = {address - mapping.bias, mapping.module.value, 0};
  }
  size_t known = sites_.size();
  uint32_t number = site_table_.intern(sites_, site);
  if (sites_.size() > known) out.new_sites.push_back(site);
  return {address, number, number_window({hit.from, hit.until})};
}

}  // namespace varve::load
