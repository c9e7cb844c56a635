// SPDX-License-Identifier: MIT
// GroupWitness: tells a signal that was sent to the recorder's process group, as `kill %1` does, from one
// that was sent to the recorder alone: the command has got the first by itself. Nothing in a signal says
// which it is, so a small process waits in the group, notes what it gets, and is asked. Context: viewer.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>

#include "common/units.h"

namespace varve::record {

/// What two processes know of a signal that both have got.
struct SentSignal {
  int32_t number = 0, code = 0;  // si_code
  int32_t sender = 0;            // si_pid

  bool operator==(const SentSignal&) const = default;
};

class GroupWitness {
 public:
  /// Where there can be none, every signal counts as sent to the recorder. It has no descriptor of the
  /// command.
  GroupWitness();
  ~GroupWitness();
  GroupWitness(const GroupWitness&) = delete;
  GroupWitness& operator=(const GroupWitness&) = delete;

  /// Whether a signal that has just come went to the group. To be asked once for each.
  bool has_got(const SentSignal& signal);

  /// This process stops now, as `command` has: it is resumed once that goes on, whoever told it to.
  void resume_us_with(pid_t command) const;

  pid_t pid() const { return pid_; }  // which resumes the recorder; -1: there is none

 private:
  static constexpr int kSignals = 65;

  bool answers(const SentSignal& signal);
  void end();

  pid_t pid_ = -1;
  int questions_ = -1, answers_ = -1;  // ends of pipes
  uint32_t asked_ = 0, unanswered_ = 0;
  std::array<Nanos, kSignals> got_{};  // when it last had each
};

}  // namespace varve::record
