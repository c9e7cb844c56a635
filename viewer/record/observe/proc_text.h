// SPDX-License-Identifier: MIT
// The texts of /proc/PID/task/TID that tell what a thread does: parsed, not read. A text that is not what
// proc(5) promises gives nothing.
// Context: viewer.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/units.h"

namespace varve::record::observe {

/// schedstat: the kernel's sums since the thread began. The first lags behind by up to a scheduler tick while
/// the thread runs, the second while it waits for a processor.
struct SchedSums {
  Nanos ran, ready;
  uint64_t switched_in = 0;

  bool operator==(const SchedSums&) const = default;
};
std::optional<SchedSums> parse_schedstat(std::string_view text);

/// Some of stat.
struct TaskStat {
  std::string_view name;  // into the text; may hold anything
  char state = 0;         // 'Z': a zombie, ...
  pid_t parent = 0;
  bool is_thread = false;  // one of a process that another began: it sends no signal at its end
  uint32_t processor = 0;  // it last ran on
};
std::optional<TaskStat> parse_stat(std::string_view text);

/// syscall: where a thread is that does not run.
struct SyscallLook {
  long number = -1;  // -1: in the kernel, but in no system call
  std::array<uint64_t, 6> arguments{};
  uint64_t stack_pointer = 0, program_counter = 0;
};
/// Nothing as well for a thread that is running or ready.
std::optional<SyscallLook> parse_syscall(std::string_view text);

/// The ends of status: how often the thread gave its processor up to wait, and how often it lost it.
struct SwitchCounts {
  uint64_t voluntary = 0, involuntary = 0;
};
std::optional<SwitchCounts> parse_switch_counts(std::string_view status);

/// The last field of /proc/loadavg: the pid made last, of a thread or a process.
std::optional<pid_t> parse_last_pid(std::string_view loadavg);

}  // namespace varve::record::observe
