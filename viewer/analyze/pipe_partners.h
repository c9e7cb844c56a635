// SPDX-License-Identifier: MIT
// PipePartners: who is at the other end of a pipe, where no hook saw anybody write or read: the C library's
// streams do that without one, and so does the end of a process. The only process that had the pipe then; of
// several the only one that ran when the wait ended, for who ends it has a processor. Context: viewer.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "viewer/load/profile.h"
#include "viewer/load/row_groups.h"

namespace varve::analyze {

class PipePartners {
 public:
  explicit PipePartners(const load::Profile& profile);

  /// One way of a pipe, and whether those who end waits for it are its readers, or its writers.
  struct End {
    uint32_t flow = 0;
    bool reads = false;
    constexpr auto operator<=>(const End&) const = default;
  };
  static End end_of(const load::Wait& wait);

  /// At threads and events of run states, for all waits together: a damaged profile may have a million waits
  /// and thousands of looks for each. Then nobody is known any more.
  static constexpr uint64_t kMostLooks = 20'000'000;

  bool empty() const { return profile_.waits.pipe_ends.empty(); }

  struct Partner {
    ThreadId thread;            // none: nobody did
    uint64_t ran_until_ns = 0;  // until that time or just before; 0: it was not seen to
  };
  /// Who ended a wait of `own` for it at that time: a thread that was seen to run just then; or, unless it
  /// `must_have_run`, of the only process the main one. Nothing: nobody knows.
  std::optional<Partner> who_ended(End end, ProcessId own, uint64_t time_ns, bool must_have_run) const;

 private:
  struct Ran {
    Partner last;
    bool several = false;  // threads did
  };
  std::optional<std::vector<ProcessId>> partners(End end, ProcessId own, uint64_t time_ns) const;
  std::optional<Ran> ran_until(ProcessId process, uint64_t time_ns) const;
  std::optional<uint64_t> ran_until(TrackId track, uint64_t time_ns) const;
  /// False: there were as many looks as there may be.
  bool look() const { return looks_left_ != 0 && looks_left_-- != 0; }

  const load::Profile& profile_;
  const std::vector<ThreadId> mains_;  // by process
  const load::RowGroups threads_;      // by process
  const load::RowGroups events_;       // by track, of those processes
  mutable uint64_t looks_left_ = kMostLooks;
};

}  // namespace varve::analyze
