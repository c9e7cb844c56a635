// SPDX-License-Identifier: MIT
// Preflight: what is known before the command is started about whether it can be recorded. A table of checks,
// each of which answers with one sentence and, where something is wrong, a way out. Nothing of the command
// runs. Context: viewer.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace varve::record {

enum class Severity { kOk, kWarning, kProblem };

struct Finding {
  std::string_view check;  // "command", "libraries", ...
  Severity severity = Severity::kOk;
  std::string sentence;  // without a full stop
  std::string remedy;    // empty where all is well
};

struct PreflightRequest {
  std::span<const std::string> argv;
  std::string agent;   // path of libvarve.so; empty: not found
  std::string output;  // where the profile goes
  bool output_may_exist = false;
};

struct Verdict {
  std::vector<Finding>
      findings;  // in the order of the table; checks that make no sense any more are left out
  std::vector<std::string>
      preload;          // what belongs in front of LD_PRELOAD: a sanitizer's runtime, then the agent
  std::string program;  // the file that will run, after scripts
  int exit_code = 0;  // 0: go on. 127: not found; 126: cannot be run or recorded; 125: varve's own; 2: usage

  const Finding* problem() const;  // the first one, or null
};

Verdict preflight(const PreflightRequest& request);

/// libvarve.so beside this executable (build trees), in ../lib/varve (installed), else in the folder it was
/// built for. Empty: none of them has it. Without `waits` the one that stands before no function that may
/// wait, where it is there.
std::string find_agent(bool waits);

}  // namespace varve::record
