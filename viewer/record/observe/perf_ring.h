// SPDX-License-Identifier: MIT
// PerfRing: takes the records out of a ring buffer of perf_event_open, and says what they mean for the run
// state of a thread. The ring is the kernel's, but nothing in it is believed: sizes and positions are
// checked. Not the owner of the mapping: that is switch_rings.h.
// Context: viewer, one thread.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "common/units.h"

namespace varve::record::observe {

/// What the records of varve's events end with: PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU.
struct SampleId {
  int32_t pid, tid;
  uint64_t time;  // CLOCK_MONOTONIC
  uint32_t processor, reserved;
};
inline constexpr uint64_t kSampleIdType = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;

struct RingEvent {
  enum class Kind : uint8_t {
    kIn,          // the thread runs from now on
    kOutBlocked,  // it gave its processor up to wait
    kOutReady,    // it was preempted, or yielded
    kFork,        // it was made, by parent_tid
    kExit,        // it ended
    kName,        // it has another name
    kExec,        // the same, because it executes another program
    kLost,        // so many records found no room before this
  };
  Nanos time;
  Kind kind = Kind::kIn;
  uint32_t processor = 0;
  int32_t pid = 0, tid = 0;
  int32_t parent_pid = 0, parent_tid = 0;  // kFork
  uint64_t lost = 0;                       // kLost
  char name[16] = {};                      // kName, kExec: NUL-terminated
};

/// One record, its header included. Nothing: it is of another kind, or too short for its own.
std::optional<RingEvent> parse_ring_record(std::span<const uint8_t> record);

class PerfRing {
 public:
  /// `size`, a power of two, bytes of records at `data`; positions in `page`.
  PerfRing(perf_event_mmap_page* page, const uint8_t* data, size_t size)
      : page_(page), data_(data), size_(size) {}

  /// Calls `use` for each event in the ring, in its order, and gives their space back to the kernel. False:
  /// the ring made no sense, and what was in it is lost.
  bool drain(const std::function<void(const RingEvent&)>& use);

 private:
  std::span<const uint8_t> bytes_at(uint64_t position, size_t count);

  perf_event_mmap_page* page_;
  const uint8_t* data_;
  size_t size_;
  std::vector<uint8_t> unwrapped_;  // a record that goes on at the begin of the ring
};

}  // namespace varve::record::observe
