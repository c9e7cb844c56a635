// SPDX-License-Identifier: MIT
// WaitLooks: blocked threads as the observer saw them from outside, as they stand in its file: when, in which
// system call, with which stack. Not yet waits: observed_waits.h makes those, of looks at what no agent
// recorded. Context: viewer.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "common/ids.h"
#include "common/observer_format.h"

namespace varve::load {

struct WaitLook {
  uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  TrackId track;
  int32_t system_call = -1;
  std::array<uint64_t, 2> arguments{};
  format::StackEnd end = format::StackEnd::kRoot;
  uint32_t first_frame = 0, frames = 0;  // rows of WaitLooks::frames, from the leaf
};

class WaitLooks {
 public:
  static constexpr uint32_t kNoModule = UINT32_MAX;
  struct Module {
    std::string path;
    std::vector<uint8_t> build_id;
  };
  struct Frame {
    uint32_t module = kNoModule;  // row of `modules`; kNoModule: code of no file
    uint64_t address = 0;         // ELF virtual address, or that of the process
  };

  std::vector<Module> modules;
  std::vector<Frame> frames;
  std::vector<WaitLook> looks;

  /// Both throw ParseError, and then have added nothing.
  void add_module(ByteView record);
  void add_look(format::RecordHeader header, ByteView record, size_t tracks);
};

}  // namespace varve::load
