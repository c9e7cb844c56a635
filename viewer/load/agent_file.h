// SPDX-License-Identifier: MIT
// One agent file: the process image, its modules and threads as recorded, and where its sample chunks are.
// Indexes are still those of the file; load.cc puts the files of a run together. Not the decoder of samples:
// sample_decoder.h is. Context: viewer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tl/expected.hpp"
#include "viewer/load/chunk_reader.h"
#include "viewer/load/profile.h"

namespace varve::load {

/// What is said of a file without a byte: its agent could not reserve one page.
inline constexpr std::string_view kNoRoomForFile =
    "is empty: there was no room for it on its disk, or within ulimit -f";

struct AgentModule {
  uint32_t index = 0;  // within the file
  std::string path;
  std::vector<uint8_t> build_id;
  uint64_t bias = 0;
  AddressRange span;
  std::vector<AddressRange> code;
  Nanos load_time;
  Nanos unload_time{UINT64_MAX};
};

struct AgentMark {
  format::MarkKind kind{};
  uint32_t thread = 0;  // index within the file
  Nanos time;
  std::string name;
};

/// What a descriptor was since a time.
struct AgentDescriptor {
  int32_t fd = 0;
  Nanos time;
  std::string name;
  std::string in, out;  // flows; empty: not known
};

struct AgentFile {
  std::string name;
  SessionId session_id{};
  Process process;
  std::vector<AgentModule> modules;
  std::vector<format::ThreadRecord> threads;
  std::vector<AgentMark> marks;                   // in the order of the file
  std::vector<format::ProcessExitRecord> reaped;  // children
  std::vector<AgentDescriptor> descriptors;       // in the order of the file, which is by time
  std::vector<Chunk> sample_chunks;               // in the order of the file
  uint64_t lost = 0;                              // samples that found no room
};

/// Reads all but the samples. The error is a clause about the file.
tl::expected<AgentFile, std::string> read_agent_file(const FileSource& source, const std::string& name,
                                                     std::vector<Damage>& damages);

}  // namespace varve::load
