// SPDX-License-Identifier: MIT
// SwitchRings: run states from the kernel's context switch records: exact, for every thread of the command
// and of what it starts. One ring a processor, opened on the command before it executes and inherited by what
// it makes; no rights are needed where perf_event_paranoid is 2 or less. What a ring cannot hold is counted
// by the kernel. Not the meaning of the records: that is perf_ring.h and switch_tracks.h.
// Context: viewer; opened by the recorder's main thread, then the observer's thread.
#pragma once

#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "viewer/record/observe/cpu_budget.h"
#include "viewer/record/observe/event_merge.h"
#include "viewer/record/observe/observer_writer.h"
#include "viewer/record/observe/perf_ring.h"
#include "viewer/record/observe/source.h"
#include "viewer/record/observe/switch_tracks.h"

namespace varve::record::observe {

/// Why this process may not see context switches, as a sentence; empty if it may.
std::string why_no_switches();

class SwitchRings : public Source {
 public:
  /// The command must not have begun to run its program. The error is a sentence.
  static tl::expected<std::unique_ptr<SwitchRings>, std::string> open(Subject subject,
                                                                      ObserverWriter& writer);
  ~SwitchRings() override;

  void begin(Nanos start) override { tracks_.begin(start); }
  void add_wakes(std::vector<pollfd>& wakes) const override;
  Nanos look(Nanos now) override;
  void finish(Nanos now) override;
  std::vector<pid_t> threads() override { return tracks_.threads(); }
  std::vector<std::pair<std::string, std::string>> facts() const override;

 private:
  struct Ring {
    int descriptor = -1;
    void* mapped = nullptr;
    size_t mapped_size = 0;
  };

  SwitchRings(Subject subject, ObserverWriter& writer);
  std::string open_ring(pid_t command, int processor, size_t& pages);
  size_t drain();

  std::vector<Ring> rings_;
  std::vector<PerfRing> readers_;  // beside rings_
  EventMerge merge_;
  SwitchTracks tracks_;
  CpuBudget budget_;
  Nanos used_;               // CPU time of this thread at the end of the last look
  bool nothing_yet_ = true;  // the command has not begun
  uint64_t unsound_ = 0;     // rings whose content made no sense
};

}  // namespace varve::record::observe
