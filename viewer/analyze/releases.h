// SPDX-License-Identifier: MIT
// Releases: who let threads go on that waited for an object, found by object and time. The end of a thread is
// a release of all who join it. Context: viewer.
#pragma once

#include <algorithm>
#include <compare>
#include <span>
#include <vector>

#include "viewer/load/profile.h"

namespace varve::analyze {

struct ObjectKey {
  ProcessId process;
  format::ObjectKind kind{};
  uint64_t address = 0;
  uint32_t name = 0;  // load::Wait::name
  constexpr auto operator<=>(const ObjectKey&) const = default;
};

inline ObjectKey key_of(const load::Profile& profile, const load::Wait& wait) {
  // A number may be one file after the other, and a file may have several.
  const ProcessId process = profile.threads[wait.thread.index()].process;
  return {process, wait.kind, wait.name != 0 ? 0 : wait.object, wait.name};
}

/// Of a lock one thread after the other has it; anything else is a message.
constexpr bool is_lock(format::ObjectKind kind) {
  return kind == format::ObjectKind::kMutex || kind == format::ObjectKind::kRwLock;
}

struct ReleaseAt {
  ObjectKey key;
  uint64_t time_ns = 0;
  ThreadId thread;
  PathId path;
  uint32_t waiters = 0;
};

class Releases {
 public:
  explicit Releases(const load::Profile& profile) {
    for (const load::Release& release : profile.waits.releases)
      rows_.push_back({{profile.threads[release.thread.index()].process, release.kind, release.object, 0},
                       release.time_ns,
                       release.thread,
                       release.path,
                       release.waiters});
    for (uint32_t i = 0; i < profile.threads.size(); ++i) {
      const load::Thread& thread = profile.threads[i];
      const ObjectKey end{thread.process, format::ObjectKind::kThread, uint64_t(uint32_t(thread.tid)), 0};
      if (thread.end_time.count != 0) rows_.push_back({end, thread.end_time.count, {i}, {0}, 1});
    }
    std::ranges::stable_sort(rows_, {}, [](const ReleaseAt& row) { return std::pair(row.key, row.time_ns); });
  }

  /// Releases by other threads of what `wait` is for, from its begin to its end, by time.
  std::span<const ReleaseAt> during(const ObjectKey& key, const load::Wait& wait) const {
    const auto at = [](const ReleaseAt& row) { return std::pair(row.key, row.time_ns); };
    const auto first = std::ranges::lower_bound(rows_, std::pair(key, wait.begin_ns()), {}, at);
    const auto last = std::ranges::upper_bound(first, rows_.end(), std::pair(key, wait.end_ns), {}, at);
    return {first, last};
  }

 private:
  std::vector<ReleaseAt> rows_;  // by object, then by time
};

}  // namespace varve::analyze
