// SPDX-License-Identifier: MIT
// Records of run states into chunks. See observer_writer.h.
// Context: viewer.
#include "viewer/record/observe/observer_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/varint.h"

namespace varve::record::observe {
namespace {

using namespace format;

constexpr size_t kLongestVarint = 10;
/// Records of varints end here: short enough to fill a chunk well, long enough that their headers cost
/// nothing.
constexpr size_t kLongRecord = 8 * 1024;

void put_header(std::vector<uint8_t>& record, RecordKind kind, uint8_t flags = 0) {
  RecordHeader header{uint16_t(record.size()), uint8_t(kind), flags};
  std::memcpy(record.data(), &header, sizeof header);
}

void add_varint(std::vector<uint8_t>& bytes, uint64_t value) {
  uint8_t text[kLongestVarint];
  bytes.insert(bytes.end(), text, put_varint(text, value));
}

}  // namespace

tl::expected<std::unique_ptr<ObserverWriter>, std::string> ObserverWriter::create(int directory,
                                                                                  const FileHeader& session) {
  int descriptor = openat(directory, kObserverFile, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  std::unique_ptr<ObserverWriter> writer;
  if (descriptor >= 0) {
    writer.reset(new ObserverWriter(descriptor, kPageSize));
    std::vector<uint8_t> page(kPageSize);
    FileHeader header = make_file_header(FileKind::kObserver, session);
    std::memcpy(page.data(), &header, sizeof header);
    if (write_at(descriptor, page.data(), page.size(), 0)) return writer;
  }
  return tl::unexpected(fmt::format("cannot write the file of run states: {}", std::strerror(errno)));
}

ObserverWriter::~ObserverWriter() { close(descriptor_); }

/// A chunk's first time is the position, so that no delta in it is negative.
bool ObserverWriter::make_room(size_t bytes) {
  if (error_) return false;
  if (chunks_.fits(bytes)) return true;
  if (chunks_.begin(ChunkType::kRunStates, kRunStatesChunkBytes, position_)) return true;
  error_ = errno;
  return false;
}

void ObserverWriter::add(const void* record, size_t size) {
  if (make_room(size)) chunks_.append(record, size);
}

template <typename Record>
void ObserverWriter::add_record(Record record, RecordKind kind, uint8_t flags) {
  close_switches();
  record.header = {sizeof record, uint8_t(kind), flags};
  add(&record, sizeof record);
}

void ObserverWriter::track(TrackRecord record, bool start_seen) {
  if (!position_.count) position_ = {record.time_ns};
  add_record(record, RecordKind::kTrack, start_seen ? kTrackStartSeen : 0);
}

void ObserverWriter::track_end(TrackEndRecord record) { add_record(record, RecordKind::kTrackEnd, 0); }

void ObserverWriter::wait(uint32_t track, Nanos time, WaitKind kind) {
  WaitRecord record{};
  record.track = track;
  record.time_ns = time.count;
  add_record(record, RecordKind::kWait, uint8_t(kind));
}

void ObserverWriter::wait_module(uint32_t module, std::string_view path, std::span<const uint8_t> build_id) {
  constexpr size_t kMostPath = 4096;
  path = path.substr(0, kMostPath);
  WaitModuleRecord fixed{};
  fixed.module = module;
  fixed.build_id_size = uint16_t(build_id.size());
  std::vector<uint8_t> record(sizeof fixed);
  std::memcpy(record.data(), &fixed, sizeof fixed);
  record.insert(record.end(), build_id.begin(), build_id.end());
  record.insert(record.end(), path.begin(), path.end());
  record.push_back(0);
  close_switches();
  put_header(record, RecordKind::kWaitModule);
  add(record.data(), record.size());
}

void ObserverWriter::wait_stack(uint32_t track, Nanos time, const SyscallLook& call, const SeenStack& stack,
                                bool named) {
  WaitStackRecord fixed{};
  fixed.track = track;
  fixed.time_ns = time.count;
  fixed.system_call = int32_t(call.number);
  fixed.frames = uint32_t(stack.frames.size());
  std::copy_n(call.arguments.begin(), std::size(fixed.arguments), fixed.arguments);
  std::vector<uint8_t> record(sizeof fixed);
  std::memcpy(record.data(), &fixed, sizeof fixed);
  for (const SeenFrame& frame : stack.frames) {
    add_varint(record, uint32_t(frame.module + 1));  // 0: no file
    add_varint(record, frame.address);
  }
  close_switches();
  put_header(record, RecordKind::kWaitStack,
             uint8_t(uint8_t(stack.end) | (stack.used_frame_pointer ? kSampleFramePointer : 0) |
                     (named ? kLookNamed : 0)));
  add(record.data(), record.size());
}

void ObserverWriter::wait_file(uint32_t track, Nanos time, const SeenFile& file) {
  WaitFileRecord fixed{};
  fixed.track = track;
  fixed.time_ns = time.count;
  fixed.fd = file.fd;
  std::vector<uint8_t> record(sizeof fixed);
  std::memcpy(record.data(), &fixed, sizeof fixed);
  for (const std::string* text : {&file.name, &file.flow}) {
    record.insert(record.end(), text->begin(), text->end());
    record.push_back(0);
  }
  close_switches();
  put_header(record, RecordKind::kWaitFile);
  add(record.data(), record.size());
}

void ObserverWriter::switches_lost(Nanos time, uint64_t count) {
  SwitchesLostRecord record{};
  record.time_ns = time.count;
  record.count = count;
  add_record(record, RecordKind::kSwitchesLost, 0);
}

/// The room for the record is made when it begins: its deltas belong to that chunk.
void ObserverWriter::switch_event(Nanos time, uint32_t track, SwitchKind kind, uint32_t processor) {
  if (switches_.empty()) {
    if (!position_.count) position_ = time;
    if (!make_room(kLongRecord + 3 * kLongestVarint)) return;
    switches_.resize(sizeof(RecordHeader));
  }
  time = std::max(time, position_);
  uint8_t text[3 * kLongestVarint];
  uint8_t* end = put_varint(text, (time - position_).count);
  end = put_varint(end, uint64_t(track) << 2 | uint64_t(kind));
  if (kind == SwitchKind::kIn) end = put_varint(end, processor);
  switches_.insert(switches_.end(), text, end);
  position_ = time;
  if (switches_.size() >= kLongRecord) close_switches();
}

void ObserverWriter::close_switches() {
  if (switches_.empty()) return;
  put_header(switches_, RecordKind::kSwitches);
  add(switches_.data(), switches_.size());
  switches_.clear();
}

/// Each record of a sweep has the begin in it, which is relative to its chunk.
void ObserverWriter::sweep(Nanos begin, Nanos length, std::span<const SweepEntry> entries) {
  if (!position_.count) position_ = begin;
  std::vector<uint8_t> record;
  size_t next = 0;
  do {
    if (!make_room(kLongRecord + 5 * kLongestVarint)) return;
    record.assign(sizeof(RecordHeader), 0);
    add_varint(record, saturating_sub(begin, chunks_.first_time()).count);
    add_varint(record, length.count);
    for (; next < entries.size() && record.size() < kLongRecord; ++next) {
      const SweepEntry& entry = entries[next];
      for (uint64_t value : {uint64_t(entry.track), entry.ran.count, entry.ready.count, entry.switched_in,
                             uint64_t(entry.processor)})
        add_varint(record, value);
    }
    put_header(record, RecordKind::kSweep);
    add(record.data(), record.size());
  } while (next < entries.size());
  position_ = begin + length;
}

void ObserverWriter::flush(Nanos now) {
  close_switches();
  if (!error_ && !chunks_.commit(now)) error_ = errno;
}

void ObserverWriter::finish(Nanos now) {
  flush(now);
  if (error_) return;
  chunks_.seal();
  uint64_t end = chunks_.end_of_records();
  if (end && ftruncate(descriptor_, off_t(end)) != 0) error_ = errno;
}

}  // namespace varve::record::observe
