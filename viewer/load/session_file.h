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

struct SessionFile {
  SessionId id{};
  Session session;
  std::vector<format::ProcessExitRecord> exits;
  std::vector<format::ControlChange> changes;  // of the state of the recording
};

/// The error is a clause about the file.
tl::expected<SessionFile, std::string> read_session_file(const FileSource& source,
                                                         std::vector<Damage>& damages);

}  // namespace varve::load
