// SPDX-License-Identifier: MIT
// The agents' counters as sentences.
// Context: viewer.
#pragma once

#include <string>
#include <vector>

#include "viewer/load/profile.h"

namespace varve::view {

struct CounterSentence {
  std::string text;
  bool trouble = false;  // something was lost or not done; else it is only worth knowing
};

/// One sentence a counter that is not zero, over all processes, the troubles first.
std::vector<CounterSentence> counter_sentences(const load::Profile& profile);

}  // namespace varve::view
