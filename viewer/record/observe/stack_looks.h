// SPDX-License-Identifier: MIT
// StackLooks: what a blocked thread waits for and where, for waits that no hook of an agent sees: a look from
// outside at the system call it is in and at its stack, told to the observer file. A look counts only if the
// thread was not switched in meanwhile. A process that the kernel does not let this user read is asked once.
// Not when to look: that is the sources' business, and what a look costs is in their budgets.
// Context: viewer, the observer's thread.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "viewer/record/observe/code_map.h"
#include "viewer/record/observe/observer_writer.h"
#include "viewer/record/observe/proc_text.h"
#include "viewer/record/observe/seen_file.h"

namespace varve::record::observe {

class StackLooks {
 public:
  /// `wanted`: whether stacks of waits are recorded at all.
  StackLooks(ObserverWriter& writer, bool wanted) : writer_(writer), wanted_(wanted) {}

  struct Thread {
    uint32_t track = 0;
    pid_t process = 0, thread = 0;
    int schedstat = -1;  // open; -1: it is opened for each look
  };

  /// How often the thread was switched in, to be asked before look_at_wait(). Nothing: no look is wanted.
  std::optional<uint64_t> turns(const Thread& thread) const;
  /// Looks at the stack of a thread that was in `call`, and tells it unless `turns` is no longer true.
  /// Whether a hook of the agent's stands around the call, and so tells the wait.
  bool look(const Thread& thread, const SyscallLook& call, uint64_t turns);
  /// The kernel did not let this user see the thread's system call.
  void refuse(pid_t process);
  /// The process executes another program, or has ended.
  void forget(pid_t process) { maps_.erase(process), refused_.erase(process); }

  void add_facts(std::vector<std::pair<std::string, std::string>>& facts) const;

 private:
  void tell_module(uint32_t index);
  void tell_file(const Thread& thread, Nanos now, const SeenFile& file);

  ObserverWriter& writer_;
  bool wanted_;
  CodeFiles files_;
  std::unordered_map<pid_t, CodeMap> maps_;
  std::unordered_set<uint32_t> told_;                         // rows of files_
  std::map<std::pair<pid_t, int32_t>, SeenFile> told_files_;  // the last of each number
  std::unordered_set<pid_t> refused_;                         // processes that live
  uint64_t refusals_ = 0;                                     // processes, the ended ones too
  uint64_t taken_ = 0, moved_ = 0;                            // looks; those during which the thread went on
};

}  // namespace varve::record::observe
