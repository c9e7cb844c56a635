// SPDX-License-Identifier: MIT
// GroupWitness: tells a signal that was sent to the recorder's process group, as `kill %1` does, from one
// that was sent to the recorder alone: the command has got the first by itself. Nothing in a signal says
// which it is, so a small process waits in the group, blocks everything, and is asked. Context: viewer.
#pragma once

#include <sys/types.h>

#include <array>

#include "common/units.h"

namespace varve::record {

class GroupWitness {
 public:
  /// Where there can be none, every signal counts as sent to the recorder. It has no descriptor of the
  /// command.
  GroupWitness();
  ~GroupWitness();
  GroupWitness(const GroupWitness&) = delete;
  GroupWitness& operator=(const GroupWitness&) = delete;

  /// Whether a signal that has just come went to the group. To be asked once for each.
  bool has_got(int number);

 private:
  static constexpr int kSignals = 65;

  bool answers(int number);
  void end();

  pid_t pid_ = -1;
  int questions_ = -1;                 // and answers
  std::array<Nanos, kSignals> got_{};  // when it last had each
};

}  // namespace varve::record
