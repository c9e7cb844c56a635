// SPDX-License-Identifier: MIT
// Finalize: after a run, gives every address that occurs its name, file and lines, and stores them in the
// profile, so that it can be read where no binary is. Never fails the run: what goes wrong, a crash of the
// libraries that read debug information included, becomes a sentence. Context: viewer.
#pragma once

#include <functional>
#include <string>
#include <type_traits>

#include "common/units.h"
#include "tl/expected.hpp"
#include "viewer/load/profile.h"
#include "viewer/load/refusals.h"
#include "viewer/record/child_task.h"
#include "viewer/symbol/symbol_table.h"

namespace varve::record {

/// The run in numbers.
struct RunCounts {
  bool loaded = false;
  uint64_t samples = 0;
  Nanos cpu;                          // of the whole run: the ledger's sum
  Nanos unsampled;                    // of it: seen by no agent, paused or lost
  Nanos sampled, residual;            // residual: without what is at functions of first samples
  uint64_t ticks = 0, overruns = 0;   // signals, and timer expirations that came merged into them
  size_t threads = 0, processes = 0;  // by their ids: an exec makes no new one
  uint64_t agent_files = 0;
  uint64_t empty_files = 0;        // of processes that found no room for theirs
  uint64_t refused_processes = 0;  // whose agent could not begin
  load::Refusal first_refusal;
  uint64_t filtered = 0;           // processes that forbade themselves what the agent needs
  uint64_t threads_unsampled = 0;  // without a timer, or memory for it
  uint64_t small_stacks = 0;       // without ticks, for an alternate stack of theirs
  uint64_t samples_lost = 0;
  int last_errno = 0;         // of an agent that could not go on
  bool no_space = false;      // an agent could not make its file larger
  bool grow_refused = false;  // an agent could not for a while
  bool in_step = false;       // load::works_in_step()
  Nanos held_back;            // CPU time of threads that are load::held_back()
};
static_assert(std::is_trivially_copyable_v<RunCounts>);  // goes through a pipe

struct Finalized : RunCounts {
  std::string trouble;  // a sentence; empty if all went well
};

/// What is stored of a large profile beyond what recording knows of. The error is a sentence.
using StoreMore =
    std::function<tl::expected<void, std::string>(const load::Profile&, const symbol::SymbolTable&)>;

struct FinalizeOptions {
  bool resolve = true;    // names, code, and what large profiles need to be opened at once
  bool progress = false;  // a line on stderr, a terminal, when it takes longer than a second
  StoreMore store_more = {};
};

/// Loads the profile in `directory`, tells its numbers to `counted`, and writes its symbols file and others.
Finalized finalize(const std::string& directory, const FinalizeOptions& options,
                   const std::function<void(const RunCounts&)>& counted = {});

/// The same in a child process.
class Finalization {
 public:
  Finalization(const std::string& directory, const FinalizeOptions& options);

  ChildTask& task() { return task_; }
  /// Once the task has ended.
  Finalized result() const;

 private:
  ChildTask task_;
};

}  // namespace varve::record
