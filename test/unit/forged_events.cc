// SPDX-License-Identifier: MIT
// See forged_events.h.
// Context: tests.
#include "test/unit/forged_events.h"

#include "test/unit/built_bytes.h"
#include "test/unit/time_units.h"

namespace varve::test {
namespace {

using format::ObjectKind;
using format::RecordKind;

void append_all(Bytes& out, const Bytes& more) { out.insert(out.end(), more.begin(), more.end()); }

}  // namespace

std::vector<uint8_t> forged(const ForgedEvent& event) {
  Bytes body, out;
  const uint64_t object = zigzag(int64_t(event.object - event.object_before));
  for (const uint64_t number :
       {event.delta_ns, event.ago_ns, event.kind, object, event.duration_ns, event.count})
    append_varint(body, number);
  append_all(body, event.stack);
  append_event(out, event.record, event.flags, body);
  return out;
}

std::vector<uint8_t> forged_descriptor(int32_t fd, uint64_t time_ns, const std::vector<std::string>& texts) {
  Bytes record = record_of(format::DescriptorRecord{{}, fd, time_ns});
  for (const std::string& text : texts) append_text(record, text);
  record.resize((record.size() + 7) / 8 * 8);
  Bytes out;
  append_record(out, RecordKind::kDescriptor, 0, record);
  return out;
}

Files with_forged(const std::vector<uint8_t>& events, uint32_t thread, const std::vector<uint8_t>& marks) {
  ProfileBuilder builder;
  const size_t process = builder.add_process(100);
  builder.add_thread(process, 100);
  builder.add_thread(process, 101);
  builder.add_module(process, {.path = "/bin/a", .start = 0x1000, .end = 0x2000});
  for (uint64_t i = 0; i < kForgedSamples; ++i)
    builder.add_sample(process, uint32_t(i % 2), {0x1000, 0x1100 + i});
  builder.add_exit(100, kForgedSamples * 10 * kMs, 0);
  builder.close_accounts();
  Files files = builder.files();
  format::ChunkHeader header{};
  header.thread = thread;
  header.first_time_ns = header.last_time_ns = 30 * kMs;
  append_chunk(files[kAgent], header, format::ChunkType::kSamples, events, true);
  if (!marks.empty()) append_chunk(files[kAgent], threadless(), format::ChunkType::kMarks, marks, true);
  return files;
}

Files many_forged() {
  constexpr uint64_t kNumbers[] = {0,
                                   1,
                                   2,
                                   100,
                                   101,
                                   0x5000,
                                   INT32_MAX,
                                   format::kNoDescriptor,
                                   format::kToSend,
                                   format::kToSend | 1,
                                   INT64_MAX,
                                   UINT64_MAX};
  Bytes events, marks;
  uint64_t before = 0;
  for (const RecordKind record : {RecordKind::kCreation, RecordKind::kWaitEvent, RecordKind::kRelease})
    for (uint64_t kind = 1; kind < uint64_t(ObjectKind::kCount); ++kind)
      for (const uint64_t object : kNumbers)
        for (const uint64_t other : {uint64_t(0), uint64_t(1), 5 * kMs, UINT64_MAX}) {
          append_all(events, forged({.record = record,
                                     .kind = kind,
                                     .object = object,
                                     .duration_ns = other,
                                     .count = other,
                                     .ago_ns = other == 1 ? UINT64_MAX : 0,
                                     .object_before = before}));
          before = object;
        }
  for (const int32_t fd : {INT32_MIN, -1, 0, 1, 2, 100, INT32_MAX})
    for (const uint64_t time : {uint64_t(0), 30 * kMs, UINT64_MAX}) {
      append_all(marks, forged_descriptor(fd, time, {"pipe:[7]", "p7", "p7"}));  // both ends in one
      append_all(marks, forged_descriptor(fd, time, {"\x1b[31m\n", "p8"}));
      append_all(marks, forged_descriptor(fd, time, {std::string(5000, 'x'), "", std::string(5000, 'y')}));
    }
  for (const int32_t pid : {INT32_MIN, -1, 0, 100, 101, INT32_MAX})
    for (const uint64_t time : {uint64_t(0), 30 * kMs, UINT64_MAX}) {
      format::ProcessExitRecord end{};
      end.pid = pid;
      end.user_ns = end.system_ns = end.time_ns = time;
      append_record(marks, RecordKind::kProcessExit, 0, record_of(end));
    }
  return with_forged(events, 0, marks);
}

}  // namespace varve::test
