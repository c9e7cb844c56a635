// SPDX-License-Identifier: MIT
// The observer file -> RunStates and WaitLooks. Whatever the file holds, the events come out in the order of
// time, one state a thread at a time. Context: viewer.
#pragma once

#include <vector>

#include "tl/expected.hpp"
#include "viewer/load/chunk_reader.h"
#include "viewer/load/run_states.h"
#include "viewer/load/wait_looks.h"

namespace varve::load {

struct ObserverFile {
  SessionId id{};
  RunStates states;
  WaitLooks looks;
};

/// The error is a clause about the file. What could not be read of it is in `damages`.
tl::expected<ObserverFile, std::string> read_observer_file(const FileSource& source,
                                                           std::vector<Damage>& damages);

}  // namespace varve::load
