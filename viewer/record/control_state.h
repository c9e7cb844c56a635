// SPDX-License-Identifier: MIT
// The state of a recording (recording, delayed, paused, stopped) as the control page has it, and its changes,
// by the recorder and by `varve pause` and `varve resume` in another process. Whoever changes it says from
// which states: a pause of the user's is never undone by the end of --delay, and nothing goes on after the
// stop. Not the rest of the session file: that is session_writer.h. Context: viewer.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "common/file_format.h"
#include "common/units.h"

namespace varve::record {

/// The first two pages of a session file in memory, which end with the control chunk.
struct ControlPages {
  void* memory;

  format::ChunkHeader& chunk() const;
  format::ControlBlock& block() const;

  format::ControlState state() const;
  /// Changes the state to `to` if it is one of `from`, and notes the change. The state that it had.
  format::ControlState change(std::initializer_list<format::ControlState> from, format::ControlState to,
                              Nanos now) const;
  /// Notes that the state is this since `now`.
  void note(format::ControlState state, Nanos now) const;
};

/// Pauses (or resumes) the recording in the directory `path`. How long after its start, or a sentence: no
/// profile, not ours to change, over, or already as wanted.
tl::expected<Nanos, std::string> set_paused(const std::string& path, bool paused);

}  // namespace varve::record
