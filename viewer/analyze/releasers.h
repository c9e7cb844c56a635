// SPDX-License-Identifier: MIT
// Releasers: which thread let another go on, and when: by a release of the object that it waited for, by its
// own end where that was joined, by the end of its process where a parent waited for that, by what it sent or
// received at the other end of a pipe or connection. Not who holds an object now, and not how long anybody
// waited. Context: viewer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "viewer/analyze/pipe_partners.h"
#include "viewer/load/profile.h"

namespace varve::analyze {

struct Releaser {
  ThreadId thread;
  uint64_t time_ns = 0;  // CLOCK_MONOTONIC, within the wait
};

/// An index over the releases and ends of a profile. Made once in O(n log n); a look is O(log n).
class Releasers {
  struct Key {
    uint32_t process;  // row; of the end of a process: its parent's pid; of a pipe: kAnyProcess
    format::ObjectKind kind;
    uint64_t object;  // of a pipe: Wait::name
    auto operator<=>(const Key&) const = default;
  };

 public:
  struct Row {
    Key key;
    uint64_t time_ns = 0;
    ThreadId thread;
    PathId path{0};          // of a release
    uint32_t waiters = 1;    // likewise
    uint64_t lasted_ns = 0;  // likewise, where it was at some time of that: of a barrier
  };

  explicit Releasers(const load::Profile& profile);

  /// Who ended the wait: the last to let go of its object, since the others that did so let somebody else
  /// have it. None for waits for no thread (a sleep, I/O), time-outs, and where nobody saw it.
  std::optional<Releaser> of(const load::Wait& wait) const;
  /// Likewise, with the place; its time may be a little off the wait. Null: none.
  const Row* row_of(const load::Wait& wait) const;
  /// The child process of the thread's that ended last before `end`, since `begin`: what a shell or a make
  /// waits for, by whatever call. Unless the thread is known to have waited for a process, just before `end`.
  std::optional<Releaser> ended_child(ThreadId thread, uint64_t begin, uint64_t end, bool waited) const;

  const PipePartners& partners() const { return partners_; }

  /// All that let go of what the wait is for, from its begin to its end, by time: of a lock each let somebody
  /// else have it.
  std::span<const Row> during(const load::Wait& wait) const;

 private:
  void add_thread_ends(const load::Profile& profile);
  void add_process_ends(const load::Profile& profile);
  void add_unseen_partners(const load::Profile& profile);
  void sort();
  const Row* last_to_come(const load::Wait& wait) const;
  bool may_have_ended(const Row& row, const load::Wait& wait) const;
  static Key key_of_flow(uint32_t flow, uint64_t object);
  Key key_of(const load::Wait& wait) const;
  Key key_of(const load::Release& release) const;

  const load::Profile& profile_;
  const PipePartners partners_;
  std::vector<Row> rows_;  // by key, then by time
};

}  // namespace varve::analyze
