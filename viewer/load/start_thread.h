// SPDX-License-Identifier: MIT
// A thread more, where the system has one to give: a limit on them (ulimit -u, a cgroup's pids.max) makes
// work take longer, and fails no report. Context: viewer.
#pragma once

#include <system_error>
#include <utility>

namespace varve::load {

/// Adds a thread to a list of std::thread or std::jthread. False: refused, and the caller does its work
/// itself.
template <typename Threads, typename... Arguments>
bool start_thread(Threads& threads, Arguments&&... arguments) {
  try {
    threads.emplace_back(std::forward<Arguments>(arguments)...);
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

}  // namespace varve::load
