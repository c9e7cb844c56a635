// SPDX-License-Identifier: MIT
// The layout of perf's records, from perf_event_open(2). See perf_ring.h.
// Context: viewer.
#include "viewer/record/observe/perf_ring.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace varve::record::observe {
namespace {

using EventKind = RingEvent::Kind;

struct TaskRecord {  // PERF_RECORD_FORK, PERF_RECORD_EXIT
  perf_event_header header;
  int32_t pid, parent_pid, tid, parent_tid;
  uint64_t time;
};

struct NameRecord {  // PERF_RECORD_COMM
  perf_event_header header;
  int32_t pid, tid;  // then the name, padded to 8 bytes
};

struct LostRecord {  // PERF_RECORD_LOST
  perf_event_header header;
  uint64_t id, lost;
};

template <typename Record>
std::optional<Record> read_as(std::span<const uint8_t> bytes) {
  if (bytes.size() < sizeof(Record) + sizeof(SampleId)) return {};
  Record record;
  std::memcpy(&record, bytes.data(), sizeof record);
  return record;
}

bool read_switch(std::span<const uint8_t>, uint16_t misc, RingEvent& event) {
  bool out = misc & PERF_RECORD_MISC_SWITCH_OUT, ready = misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
  event.kind = !out ? EventKind::kIn : ready ? EventKind::kOutReady : EventKind::kOutBlocked;
  return true;
}

bool read_task_record(std::span<const uint8_t> bytes, EventKind kind, RingEvent& event) {
  auto task = read_as<TaskRecord>(bytes);
  if (!task) return false;
  event.kind = kind;
  event.pid = task->pid;
  event.tid = task->tid;
  event.parent_pid = task->parent_pid;
  event.parent_tid = task->parent_tid;
  return true;
}
bool read_fork(std::span<const uint8_t> bytes, uint16_t, RingEvent& event) {
  return read_task_record(bytes, EventKind::kFork, event);
}
bool read_exit(std::span<const uint8_t> bytes, uint16_t, RingEvent& event) {
  return read_task_record(bytes, EventKind::kExit, event);
}

bool read_name(std::span<const uint8_t> bytes, uint16_t misc, RingEvent& event) {
  auto record = read_as<NameRecord>(bytes);
  if (!record) return false;
  event.kind = misc & PERF_RECORD_MISC_COMM_EXEC ? EventKind::kExec : EventKind::kName;
  event.pid = record->pid;
  event.tid = record->tid;
  size_t length = bytes.size() - sizeof(NameRecord) - sizeof(SampleId);
  std::memcpy(event.name, bytes.data() + sizeof(NameRecord), std::min(length, sizeof event.name - 1));
  return true;
}

bool read_lost(std::span<const uint8_t> bytes, uint16_t, RingEvent& event) {
  auto record = read_as<LostRecord>(bytes);
  if (!record) return false;
  event.kind = EventKind::kLost;
  event.lost = record->lost;
  return true;
}

struct Reader {
  uint32_t type;
  bool (*read)(std::span<const uint8_t> bytes, uint16_t misc, RingEvent& event);
};
constexpr Reader kReaders[] = {
    {PERF_RECORD_SWITCH, read_switch}, {PERF_RECORD_FORK, read_fork}, {PERF_RECORD_EXIT, read_exit},
    {PERF_RECORD_COMM, read_name},     {PERF_RECORD_LOST, read_lost},
};

}  // namespace

std::optional<RingEvent> parse_ring_record(std::span<const uint8_t> record) {
  perf_event_header header;
  SampleId id;
  if (record.size() < sizeof header + sizeof id) return {};
  std::memcpy(&header, record.data(), sizeof header);
  std::memcpy(&id, record.data() + record.size() - sizeof id, sizeof id);
  for (const Reader& reader : kReaders) {
    if (reader.type != header.type) continue;
    RingEvent event;
    event.time = {id.time};
    event.processor = id.processor;
    event.pid = id.pid;
    event.tid = id.tid;
    if (reader.read(record, header.misc, event)) return event;
  }
  return {};
}

std::span<const uint8_t> PerfRing::bytes_at(uint64_t position, size_t count) {
  size_t offset = size_t(position & (size_ - 1));
  size_t before_end = std::min(count, size_ - offset);
  if (before_end == count) return {data_ + offset, count};
  unwrapped_.assign(data_ + offset, data_ + size_);
  unwrapped_.insert(unwrapped_.end(), data_, data_ + (count - before_end));
  return unwrapped_;
}

bool PerfRing::drain(const std::function<void(const RingEvent&)>& use) {
  uint64_t head = std::atomic_ref(page_->data_head).load(std::memory_order_acquire);
  uint64_t tail = page_->data_tail;
  bool sound = head - tail <= size_;
  while (sound && tail != head) {
    perf_event_header header;
    sound = head - tail >= sizeof header;
    if (!sound) break;
    std::memcpy(&header, bytes_at(tail, sizeof header).data(), sizeof header);
    sound = header.size >= sizeof header && header.size <= head - tail;
    if (!sound) break;
    if (auto event = parse_ring_record(bytes_at(tail, header.size))) use(*event);
    tail += header.size;
  }
  std::atomic_ref(page_->data_tail).store(head, std::memory_order_release);
  return sound;
}

}  // namespace varve::record::observe
