// SPDX-License-Identifier: MIT
// Process tree: the living descendants of this process, from /proc. The recorder is their subreaper, so a
// daemon's orphans are among them. Context: viewer.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string_view>
#include <vector>

#include "common/units.h"

namespace varve::record {

/// All living descendants, zombies included, parents before children. At most 100,000.
std::vector<pid_t> descendants();

/// The recorder's own helper, which is no process of the run; -1: none. One at a time.
void leave_out(pid_t helper);
bool is_left_out(pid_t process);

/// Adds the numbers in a text, such as /proc/PID/task/TID/children.
void add_numbers(std::string_view text, std::vector<pid_t>& list);

/// Whether this process is among the parents of `process`.
bool is_descendant(pid_t process);

/// CPU time of a living process and of the children it has waited for.
struct ProcessCpu {
  Nanos user, system;
};
std::optional<ProcessCpu> cpu_of(pid_t process);

/// Whether the agent is mapped into the process: it is being recorded.
bool is_followed(pid_t process);

/// Whether its first thread runs, wants to, or waits for a disk, as one does that is on its way to a new
/// program.
bool is_busy(pid_t process);

/// What the kernel says of a process, or of a thread by its number; zeros if it is gone.
struct ProcessNumbers {
  pid_t own = 0;  // by which it knows itself, in its innermost pid namespace
  pid_t parent = 0;
};
ProcessNumbers numbers_of(pid_t process);
/// Whether nobody is in this process's group but itself and its descendants.
bool is_alone_in_group();
/// Whether this process traces it, as a child may ask for by PTRACE_TRACEME.
bool is_traced_by_us(pid_t process);

}  // namespace varve::record
