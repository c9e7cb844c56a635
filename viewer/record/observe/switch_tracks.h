// SPDX-License-Identifier: MIT
// SwitchTracks: threads by the kernel's events about them, told to the observer file: which begin, run, wait,
// change their name and end. Also looks at what those wait for that have been blocked for a while. Not where
// the events come from: switch_rings.h.
// Context: viewer, the observer's thread.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/units.h"
#include "viewer/record/observe/cpu_budget.h"
#include "viewer/record/observe/observer_writer.h"
#include "viewer/record/observe/perf_ring.h"
#include "viewer/record/observe/source.h"
#include "viewer/record/observe/stack_looks.h"
#include "viewer/record/observe/stack_pace.h"

namespace varve::record::observe {

class SwitchTracks {
 public:
  SwitchTracks(ObserverWriter& writer, Subject subject)
      : writer_(writer), subject_(subject), stacks_(writer, subject.wait_stacks) {}

  /// The command's first thread, which is blocked since `start`.
  void begin(Nanos start);

  /// What an event asks for; a later one of these for more.
  enum class News { kNone, kToldWait, kChange };
  /// `told`: a thread begins to wait whose waits are told. `lively`: something changed a short while ago.
  static News news_of(RingEvent::Kind kind, bool told, bool lively);

  /// Events in the order of time.
  News take(const RingEvent& event);

  /// Looks at threads that are still blocked as far as the events tell. Returns whether one that told its
  /// waits waits elsewhere now, so that its stack is to be looked at soon. `clock` is CLOCK_MONOTONIC: a look
  /// holds if nothing happened until it was over.
  using Clock = Nanos (*)();
  bool look_at_blocked(Clock clock, Allowance looks, Allowance stacks);
  /// All events up to `time` were taken: what looks until then saw is certain.
  void settle(Nanos time);

  /// That live.
  std::vector<pid_t> threads() const;
  uint64_t lost() const { return lost_; }
  uint64_t refused_looks() const { return refused_looks_; }
  const StackLooks& stacks() const { return stacks_; }
  /// "NAME (PID)" of processes that the kernel stopped showing while they went on.
  const std::vector<std::string>& hidden() const { return hidden_; }

 private:
  struct Track {
    uint32_t index = 0;
    int32_t pid = 0, tid = 0, parent_pid = 0;
    Nanos start;
    bool start_seen = false;
    bool blocked = false;
    uint32_t voluntary = 0, involuntary = 0;
    uint32_t stretch = 0;  // counts the events: a look holds while it stays
    StackPace pace;        // of looks at its stack, in any stretch
    Nanos look_time;       // of a look in this stretch that is not settled; 0: none
    WaitKind look_kind = WaitKind::kOther;
    char name[16] = {};
  };
  /// A stretch of a thread, which may be over by now.
  struct Stretch {
    int32_t tid = 0;
    uint32_t index = 0, number = 0;
    Nanos look_time;
    bool gone = false;
    bool kind_known = false;  // only its stack is still to be looked at
  };

  bool wanted(const RingEvent& event) const;
  Track& begin_track(int32_t pid, int32_t tid, int32_t parent_pid, Nanos start, bool start_seen,
                     std::string_view name);
  Track* find(int32_t tid);
  Track* find(const Stretch& stretch);
  Track& find_or_begin(const RingEvent& event);
  void write_track(const Track& track);
  void end_track(Track& track, Nanos time);
  void settle_look(Track& track, Nanos until);
  void look_at(Track& track, Clock clock, bool stack_too);
  void forget_past_stretches();

  void take_in(const RingEvent& event);
  void take_out(const RingEvent& event);
  void take_fork(const RingEvent& event);
  void take_exit(const RingEvent& event);
  void note_hidden(Nanos until);
  void take_name(const RingEvent& event);
  void take_exec(const RingEvent& event);
  std::vector<int32_t> others_of(const RingEvent& event);
  void take_lost(const RingEvent& event);

  ObserverWriter& writer_;
  Subject subject_;
  StackLooks stacks_;
  std::unordered_map<int32_t, Track> live_;           // by tid
  std::unordered_map<int32_t, uint32_t> threads_of_;  // how many of these a process has, by pid
  Track* last_ = nullptr;                             // of the event before: often the same thread's
  uint32_t tracks_ = 0;
  std::vector<Stretch> blocked_;  // not looked at yet, in no order
  size_t next_blocked_ = 0;
  std::vector<Stretch> looked_;  // not settled yet
  Nanos lively_until_;
  uint64_t lost_ = 0;
  uint64_t refused_looks_ = 0;
  struct EndedAlive {
    int32_t pid = 0;
    Nanos time;
  };
  std::vector<EndedAlive> ended_alive_;  // processes that were there when their end was read
  std::vector<std::string> hidden_;
};

}  // namespace varve::record::observe
