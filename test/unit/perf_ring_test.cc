// SPDX-License-Identifier: MIT
// Records of the kernel's rings, in memory instead of the kernel's: what they mean, where they are cut in
// two, and sizes that lie. Context: tests.
#include "viewer/record/observe/perf_ring.h"

#include <criterion/criterion.h>

#include <array>
#include <cstring>
#include <span>
#include <vector>

using namespace varve;
using namespace varve::record::observe;

namespace {

void add_bytes(std::vector<uint8_t>& bytes, const auto& value) {
  const auto* first = reinterpret_cast<const uint8_t*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof value);
}

/// A record as the kernel lays it out: header, body, sample id.
std::vector<uint8_t> ring_record(uint32_t type, uint16_t misc, std::span<const uint8_t> body, SampleId id) {
  std::vector<uint8_t> bytes;
  add_bytes(bytes,
            perf_event_header{type, misc, uint16_t(sizeof(perf_event_header) + body.size() + sizeof id)});
  bytes.insert(bytes.end(), body.begin(), body.end());
  add_bytes(bytes, id);
  return bytes;
}
std::vector<uint8_t> switch_record(uint64_t time, uint16_t misc, int32_t tid = 11) {
  return ring_record(PERF_RECORD_SWITCH, misc, {}, {10, tid, time, 3, 0});
}

/// A ring without a kernel.
struct FakeRing {
  perf_event_mmap_page page{};
  std::vector<uint8_t> data;

  explicit FakeRing(size_t size, uint64_t position = 0) : data(size, 0xee) {
    page.data_head = page.data_tail = position;
  }
  void put(std::span<const uint8_t> record) {
    for (uint8_t byte : record) data[page.data_head++ % data.size()] = byte;
  }
  bool drain(std::vector<RingEvent>& events) {
    PerfRing ring(&page, data.data(), data.size());
    bool sound = ring.drain([&](const RingEvent& event) { events.push_back(event); });
    cr_expect_eq(page.data_tail, page.data_head);
    return sound;
  }
};

}  // namespace

Test(perf_ring, records_of_a_ring_mean_something) {
  FakeRing ring(4096);
  ring.put(switch_record(100, 0));
  ring.put(switch_record(200, PERF_RECORD_MISC_SWITCH_OUT));
  ring.put(switch_record(300, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT));
  std::vector<uint8_t> task, name, lost;
  for (int32_t number : {21, 10, 22, 11}) add_bytes(task, number);
  add_bytes(task, uint64_t(350));
  ring.put(ring_record(PERF_RECORD_FORK, 0, task, {10, 11, 400, 1, 0}));
  ring.put(ring_record(PERF_RECORD_EXIT, 0, task, {10, 11, 500, 1, 0}));
  for (int32_t number : {10, 11}) add_bytes(name, number);
  add_bytes(name, std::to_array("fifteen letters"));
  ring.put(ring_record(PERF_RECORD_COMM, 0, name, {10, 11, 600, 1, 0}));
  ring.put(ring_record(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, name, {10, 11, 700, 1, 0}));
  for (uint64_t number : {uint64_t(5), uint64_t(1234)}) add_bytes(lost, number);
  ring.put(ring_record(PERF_RECORD_LOST, 0, lost, {10, 11, 800, 1, 0}));
  ring.put(ring_record(PERF_RECORD_THROTTLE, 0, lost, {10, 11, 900, 1, 0}));

  std::vector<RingEvent> events;
  cr_assert(ring.drain(events));
  using Told = RingEvent::Kind;
  const Told kinds[] = {Told::kIn,   Told::kOutBlocked, Told::kOutReady, Told::kFork,
                        Told::kExit, Told::kName,       Told::kExec,     Told::kLost};
  cr_assert_eq(events.size(), std::size(kinds));
  for (size_t i = 0; i < events.size(); ++i) {
    cr_expect_eq(events[i].kind, kinds[i]);
    cr_expect_eq(events[i].time.count, (i + 1) * 100);
  }
  cr_expect_eq(events[0].tid, 11);
  cr_expect_eq(events[0].processor, 3);
  cr_expect_eq(events[3].pid, 21);
  cr_expect_eq(events[3].tid, 22);
  cr_expect_eq(events[3].parent_tid, 11);
  cr_expect_str_eq(events[5].name, "fifteen letters");
  cr_expect_eq(events[7].lost, 1234);
}

/// Wherever in the ring the first record begins, and so wherever one is cut in two.
Test(perf_ring, records_go_on_at_the_begin_of_the_ring) {
  for (uint64_t position = 0; position < 256; position += 8) {
    FakeRing ring(256, position + (uint64_t(1) << 40));
    for (uint64_t time = 1; time <= 8; ++time) ring.put(switch_record(time, 0));
    std::vector<RingEvent> events;
    cr_assert(ring.drain(events));
    cr_assert_eq(events.size(), 8);
    for (uint64_t time = 1; time <= 8; ++time) cr_expect_eq(events[time - 1].time.count, time);
  }
}

Test(perf_ring, hostile_sizes_lose_the_ring_and_no_more) {
  struct {
    uint16_t size;
    uint64_t head;
  } const bad[] = {{0, 32}, {7, 32}, {40, 32}, {65535, 64}, {32, 4}, {32, 257}, {32, UINT64_MAX}};
  for (auto [size, head] : bad) {
    FakeRing ring(256);
    std::vector<uint8_t> record = switch_record(1, 0);
    ring.put(record);
    std::memcpy(ring.data.data() + offsetof(perf_event_header, size), &size, sizeof size);
    ring.page.data_head = head;
    std::vector<RingEvent> events;
    cr_expect(!ring.drain(events), "size %u head %llu", size, static_cast<unsigned long long>(head));
    cr_expect(events.empty());
    ring.put(record);  // and it goes on
    cr_expect(ring.drain(events) || head == UINT64_MAX);
  }
}

Test(perf_ring, records_too_short_for_their_kind_say_nothing) {
  for (uint32_t type : {PERF_RECORD_FORK, PERF_RECORD_EXIT, PERF_RECORD_COMM, PERF_RECORD_LOST}) {
    std::vector<uint8_t> record = ring_record(type, 0, {}, {10, 11, 1, 1, 0});
    cr_expect(!parse_ring_record(record), "type %u", type);
  }
  std::vector<uint8_t> record = switch_record(1, 0);
  for (size_t size = 0; size < record.size(); ++size)
    cr_expect(!parse_ring_record(std::span(record).first(size)));
}
