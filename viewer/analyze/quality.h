// SPDX-License-Identifier: MIT
// Quality: how far the profile can be trusted. Which stacks are whole, why and where the others stopped,
// which modules lack names, what was lost. Facts only; the words and remedies are view/quality. Context:
// viewer.
#pragma once

#include <vector>

#include "viewer/analyze/filter.h"

namespace varve::analyze {

/// Stacks that stopped for one reason in one module: the module of the outermost frame that is known.
struct StoppedStacks {
  load::SpecialSite reason;
  ModuleId module;  // none: nothing of the stack is known
  std::vector<uint64_t> metrics;
};

struct ModuleTime {
  ModuleId module;
  std::vector<uint64_t> self;  // all of it
  uint64_t unnamed_ns = 0;     // of it in addresses without a name
};

struct Quality {
  uint64_t samples = 0;
  uint64_t whole_samples = 0;          // stacks that reach the root of their thread
  uint64_t whole_deep_samples = 0;     // of those, stacks without their middle
  uint64_t deep_samples = 0;           // stacks without their middle, whole or not
  std::vector<StoppedStacks> stopped;  // largest first
  std::vector<ModuleTime> modules;     // by self time, largest first
  std::vector<ThreadId> unsampled_threads;
  std::vector<ThreadId> held_back;   // had a timer and ran for long, but no signal of it came
  uint64_t ticks = 0, overruns = 0;  // of all threads, whatever the filter
  Nanos handler;
  uint32_t slowed_threads = 0;      // whose interval became longer, as samples of them took too much time
  uint32_t interval_doublings = 0;  // of the one whose interval became longest

  double whole_share() const { return samples == 0 ? 1.0 : double(whole_samples) / double(samples); }
};

Quality quality(const load::Profile& profile, const symbol::SymbolTable& symbols, const Selection& selection);

}  // namespace varve::analyze
