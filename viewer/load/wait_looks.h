// SPDX-License-Identifier: MIT
// WaitLooks: blocked threads as the observer saw them from outside, as they stand in its file: when, in which
// system call, with which stack. Not yet waits: observed_waits.h makes those, of looks at what no agent
// recorded. Context: viewer.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/bytes.h"
#include "common/ids.h"
#include "common/observer_format.h"
#include "viewer/load/run_states.h"

namespace varve::load {

struct WaitLook {
  uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  TrackId track;
  int32_t system_call = -1;
  std::array<uint64_t, 2> arguments{};
  format::StackEnd end = format::StackEnd::kRoot;
  uint32_t first_frame = 0, frames = 0;  // rows of WaitLooks::frames, from the leaf
  uint32_t file = kNoFile;  // row of WaitLooks::files, of a wait for a descriptor that has a name
  static constexpr uint32_t kNoFile = UINT32_MAX;
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

  /// What looks saw threads wait for by a descriptor.
  struct File {
    std::string name, flow;
    uint32_t looks = 0;  // at waits that no hook saw, counted by add_observed_waits()
  };

  std::vector<Module> modules;
  std::vector<Frame> frames;
  std::vector<WaitLook> looks;
  std::vector<File> files;

  /// All throw ParseError, and then have added nothing.
  void add_module(ByteView record);
  void add_file(ByteView record, const std::vector<Track>& tracks);
  void add_look(format::RecordHeader header, ByteView record, const std::vector<Track>& tracks);

 private:
  uint32_t file_of(const WaitLook& look, const std::vector<Track>& tracks) const;

  // Rows of `files`.
  std::map<std::pair<int32_t, int32_t>, uint32_t> last_file_;                // by pid and descriptor
  std::map<std::tuple<int32_t, std::string, std::string>, uint32_t> known_;  // by pid, name and flow
};

}  // namespace varve::load
