// SPDX-License-Identifier: MIT
// Supervisor: from the start of the command to the end of the run. It sleeps in poll; what wakes it is a
// signal, a child's end, a new agent file, or a time the user set. It relays signals, follows job control,
// reaps, and switches the control block between paused, recording and stopped. Not the launcher, and nothing
// here looks at samples. Context: viewer.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>

#include "common/units.h"
#include "viewer/record/group_witness.h"
#include "viewer/record/launcher.h"
#include "viewer/record/perf_map_keeper.h"
#include "viewer/record/session_writer.h"

namespace varve::record {

struct SupervisorPlan {
  bool follow = true;
  std::optional<Nanos> delay;                 // start paused, record after this
  std::optional<Nanos> duration;              // of recording
  std::function<void(std::string_view)> say;  // one sentence for the user
  /// Called once, when recording ends while the command goes on. It may start a child of the recorder's own,
  /// which is no part of the run, and returns its pid; 0: none.
  std::function<pid_t()> on_early_stop;
};

struct RunEnd {
  int status = 0;              // of the command, as of wait4
  Nanos elapsed;               // from the start to the end of recording
  bool all_ended = false;      // no descendant lives: nothing maps the agents' files
  unsigned still_running = 0;  // followed processes that go on without us
  enum class Stop { kEnd, kDuration, kInterrupt } stop = Stop::kEnd;
  bool never_began = false;             // the command ended before --delay was over
  std::optional<int> own_child_status;  // of on_early_stop's child, if it ended before the run
};

/// Watches over `command`, which launch() started at `start` (CLOCK_MONOTONIC), until it and, with `follow`,
/// all its followed descendants have ended, or until the user ends the recording of those.
RunEnd supervise(pid_t command, Nanos start, const SupervisorPlan& plan, const InheritedSignals& signals,
                 GroupWitness& group, SessionWriter& session, PerfMapKeeper& perf_maps);

}  // namespace varve::record
