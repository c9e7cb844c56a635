// SPDX-License-Identifier: MIT
// Records that no agent writes: waits, releases, creations, descriptors and ends of children with numbers
// that are not of this profile, or of no machine, in files that are whole otherwise. Context: tests.
#pragma once

#include <cstdint>
#include <vector>

#include "common/wait_format.h"
#include "test/unit/profile_builder.h"

namespace varve::test {

struct ForgedEvent {
  format::RecordKind record = format::RecordKind::kWaitEvent;
  uint64_t kind = uint64_t(format::ObjectKind::kMutex);  // any number
  uint64_t object = 0x5000, duration_ns = 1000, count = 1, ago_ns = 0, delta_ns = 1000;
  uint64_t object_before = 0;  // of the event before in the chunk: it is told by the difference
  uint8_t flags = uint8_t(format::StackEnd::kNotTaken);
  std::vector<uint8_t> stack = {};  // bytes
};

/// A record of it.
std::vector<uint8_t> forged(const ForgedEvent& event);

/// A descriptor as it would be noted.
std::vector<uint8_t> forged_descriptor(int32_t fd, uint64_t time_ns, const std::vector<std::string>& texts);

constexpr uint64_t kForgedSamples = 20;

/// One process of two threads with kForgedSamples samples of 10 ms, then a chunk of `events` of `thread`, and
/// one of `marks`. The bytes of either are records.
Files with_forged(const std::vector<uint8_t>& events, uint32_t thread = 0,
                  const std::vector<uint8_t>& marks = {});

/// All of the numbers that are read and refused by none.
Files many_forged();

}  // namespace varve::test
