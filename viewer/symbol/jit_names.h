// SPDX-License-Identifier: MIT
// JitNames: the perf map of one process of a profile. The recorder keeps it in the profile directory; for a
// profile that was never finished, the one in /tmp is used if it is of this machine and this run. Context:
// viewer, any thread.
#pragma once

#include <optional>
#include <string>

#include "viewer/load/profile.h"
#include "viewer/symbol/perf_map.h"

namespace varve::symbol {

struct JitNames {
  std::optional<PerfMap> map;
  std::string note;  // why there is none, and what the user can do
};

JitNames find_jit_names(const load::Profile& profile, const load::Process& process);

}  // namespace varve::symbol
