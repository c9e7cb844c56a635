// SPDX-License-Identifier: MIT
// The session file: what the recorder knows of the run, as texts and ends of processes.
// Context: viewer.
#pragma once

#include <string>
#include <vector>

#include "tl/expected.hpp"
#include "viewer/load/chunk_reader.h"
#include "viewer/load/profile.h"

namespace varve::load {

/// What the recorder knew of another file at the end of recording.
struct FileLength {
  std::string name;
  uint64_t bytes = 0;  // up to its last record
};

struct SessionFile {
  SessionId id{};
  Session session;
  std::vector<format::ProcessExitRecord> exits;
  std::vector<format::ControlChange> changes;  // of the state of the recording
  std::vector<FileLength> lengths;             // as in the file: names may be anything
};

/// The error is a clause about the file.
tl::expected<SessionFile, std::string> read_session_file(const FileSource& source,
                                                         std::vector<Damage>& damages);

}  // namespace varve::load
