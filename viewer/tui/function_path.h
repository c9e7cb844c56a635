// SPDX-License-Identifier: MIT
// FunctionPath: the functions that a screen about one function was led to, for the way back. Context: viewer.
#pragma once

#include <cstddef>
#include <vector>

#include "viewer/tui/row_words.h"
#include "viewer/tui/screen.h"

namespace varve::tui {

class FunctionPath {
 public:
  bool empty() const { return visits_.empty(); }
  /// The one that is shown. Only where there is one.
  const Subject& last() const { return visits_.back().function; }

  /// `steps`: filters and settings that there are now. False: it is shown already.
  bool go_to(const Subject& function, size_t steps) {
    if (!empty() && chosen(last()) == chosen(function)) return false;
    visits_.push_back({function, steps});
    return true;
  }
  /// Undoes the last way; false: there is none, or what was filtered or set since then is to be undone first.
  bool go_back(size_t steps) {
    if (visits_.size() < 2 || steps > visits_.back().steps) return false;
    visits_.pop_back();
    return true;
  }

 private:
  struct Visit {
    Subject function;
    size_t steps;
  };
  std::vector<Visit> visits_;
};

}  // namespace varve::tui
