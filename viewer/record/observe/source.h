// SPDX-License-Identifier: MIT
// Source: what the observer gets run states from. Two exist: switch_rings.h and thread_sweeps.h. A source
// looks when a descriptor of its own is ready or its time has come, and writes what it sees.
// Context: viewer, the observer's thread.
#pragma once

#include <poll.h>

#include <string>
#include <utility>
#include <vector>

#include "common/units.h"

namespace varve::record::observe {

class Source {
 public:
  virtual ~Source() = default;
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// Immediately before the command is let go: from now on its states count.
  virtual void begin(Nanos start) = 0;
  /// Adds the descriptors that it wants to be woken by.
  virtual void add_wakes(std::vector<pollfd>&) const {}
  /// Looks. Returns when it wants to look again (CLOCK_MONOTONIC), whether a descriptor wakes it or not.
  virtual Nanos look(Nanos now) = 0;
  /// The last look, at all that happened until `now`.
  virtual void finish(Nanos now) = 0;

  /// The ids of all threads that live, as far as it knows.
  virtual std::vector<pid_t> threads() = 0;

  /// What the session is to say of it in the end: keys and values.
  virtual std::vector<std::pair<std::string, std::string>> facts() const = 0;
};

/// Which process it observes, whether also those that it starts, and whether it looks at the stacks of those
/// that wait.
struct Subject {
  pid_t command = 0;
  bool follow = true;
  bool wait_stacks = false;
};

}  // namespace varve::record::observe
