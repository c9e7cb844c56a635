// SPDX-License-Identifier: MIT
// Recording: one run of a command, from the profile directory over launch and supervision to finalization and
// the closing line. Context: viewer.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/units.h"
#include "common/wait_format.h"
#include "tl/expected.hpp"
#include "viewer/record/descriptors.h"
#include "viewer/record/finalize.h"
#include "viewer/record/observe/observer.h"
#include "viewer/record/preflight.h"
#include "viewer/record/tick_choice.h"

namespace varve::record {

/// varve's own failure, as env, nohup and timeout have it: not one of the command's usual codes.
constexpr int kExitOwnFailure = 125;

/// What the user asked for.
struct RecordOptions {
  std::string output;
  Nanos interval{10 * kNanosPerMilli.count};
  Timer timer = Timer::kAuto;
  Nanos delay;
  Nanos duration;
  uint64_t stack_depth = 1024;
  observe::RunStates run_states = observe::RunStates::kAuto;
  Nanos wait_min{format::kDefaultWaitMinNs};  // zero: waits are not recorded
  bool no_follow = false;
  bool no_finalize = false;
  bool quiet = false;
  std::vector<std::string> command;
};

/// Why a command was not run, with the exit code that says so.
struct NotRecorded {
  std::string sentence;
  int exit_code;
};

struct RecordingPlan {
  const RecordOptions& options;
  const Verdict& verdict;  // without a problem
  const TickChoice& ticks;
  InheritedDescriptors& descriptors;
  StoreMore store_more;                       // of a large profile
  std::function<void(std::string_view)> say;  // a sentence to the user
};

/// Runs and records the command to its end. Returns its wait status.
tl::expected<int, NotRecorded> record_command(const RecordingPlan& plan);

}  // namespace varve::record
