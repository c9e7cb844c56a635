// SPDX-License-Identifier: MIT
// Writes what ObserverBuilder was told as bytes of the format. Not the observer's writer.
// Context: tests.
#include <algorithm>
#include <cstring>

#include "test/unit/built_bytes.h"
#include "test/unit/profile_builder.h"

namespace varve::test {

ObserverBuilder::Chunk& ObserverBuilder::chunk(uint64_t time_ns) {
  if (fresh_) {
    chunks_.push_back({time_ns, {}});
    switch_time_ns_ = time_ns;  // what a chunk's first switch is relative to
  }
  fresh_ = false;
  return chunks_.back();
}

void ObserverBuilder::close_switches() {
  if (switches_.empty()) return;
  append_record(chunks_.back().records, format::RecordKind::kSwitches, 0, switches_);
  switches_.clear();
}

void ObserverBuilder::next_chunk() {
  close_switches();
  fresh_ = true;
}

void ObserverBuilder::track(uint32_t track, int32_t pid, int32_t tid, uint64_t time_ns, std::string name,
                            bool start_seen, int32_t ppid, int32_t own_tid) {
  close_switches();
  format::TrackRecord record{};
  record.track = track;
  record.pid = pid;
  record.tid = tid;
  record.ppid = ppid;
  record.own_tid = own_tid;
  record.time_ns = time_ns;
  name.copy(record.name, sizeof record.name - 1);
  append_record(chunk(time_ns).records, format::RecordKind::kTrack, start_seen ? format::kTrackStartSeen : 0,
                record_of(record));
}

void ObserverBuilder::track_end(uint32_t track, uint64_t time_ns, uint32_t voluntary, uint32_t involuntary) {
  close_switches();
  format::TrackEndRecord record{};
  record.track = track;
  record.time_ns = time_ns;
  record.voluntary_switches = voluntary;
  record.involuntary_switches = involuntary;
  append_record(chunk(time_ns).records, format::RecordKind::kTrackEnd, 0, record_of(record));
}

void ObserverBuilder::switched(uint64_t time_ns, uint32_t track, format::SwitchKind kind,
                               uint64_t processor) {
  chunk(time_ns);
  if (switches_.empty()) switches_.resize(sizeof(format::RecordHeader));
  append_varint(switches_, time_ns - switch_time_ns_);
  append_varint(switches_, uint64_t(track) << 2 | uint64_t(kind));
  if (kind == format::SwitchKind::kIn) append_varint(switches_, processor);
  switch_time_ns_ = time_ns;
  if (switches_.size() > 60'000) close_switches();  // a record has less than 64 KB
}

void ObserverBuilder::sweep(uint64_t begin_ns, uint64_t length_ns, const std::vector<Swept>& threads) {
  Chunk& open = chunk(begin_ns);
  Bytes record(sizeof(format::RecordHeader));
  append_varint(record, begin_ns - open.first_time_ns);
  append_varint(record, length_ns);
  for (const Swept& each : threads)
    for (uint64_t value : {each.track, each.run_ns, each.ready_ns, each.quanta, each.processor})
      append_varint(record, value);
  append_record(open.records, format::RecordKind::kSweep, 0, record);
}

void ObserverBuilder::wait(uint32_t track, uint64_t time_ns, WaitKind kind) {
  close_switches();
  format::WaitRecord record{};
  record.track = track;
  record.time_ns = time_ns;
  append_record(chunk(time_ns).records, format::RecordKind::kWait, uint8_t(kind), record_of(record));
}

void ObserverBuilder::lost(uint64_t time_ns, uint64_t count) {
  close_switches();
  format::SwitchesLostRecord record{};
  record.time_ns = time_ns;
  record.count = count;
  append_record(chunk(time_ns).records, format::RecordKind::kSwitchesLost, 0, record_of(record));
}

void ObserverBuilder::raw(std::vector<uint8_t> bytes) {
  close_switches();
  Bytes& records = chunk(start_time_ns).records;
  records.insert(records.end(), bytes.begin(), bytes.end());
}

std::vector<uint8_t> ObserverBuilder::file() const {
  BuiltProcess recorder;
  recorder.pid = 1;
  recorder.start_time_ns = start_time_ns;
  Bytes file = begin_file(format::FileKind::kObserver, recorder);
  format::FileHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  std::ranges::copy(session_id, header.session_id);
  header.checksum = format::header_checksum(header);
  std::memcpy(file.data(), &header, sizeof header);
  ObserverBuilder all = *this;
  all.close_switches();
  uint32_t sequence = 0;
  for (const Chunk& each : all.chunks_) {
    format::ChunkHeader chunk_header = threadless();
    chunk_header.sequence = sequence++;
    chunk_header.first_time_ns = each.first_time_ns;
    append_chunk(file, chunk_header, format::ChunkType::kRunStates, each.records, seal);
  }
  return file;
}

}  // namespace varve::test
