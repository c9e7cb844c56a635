// SPDX-License-Identifier: MIT
// Ledger: where the kernel's CPU time of a run went, in the profile's own columns. It stands under every
// view. Context: viewer.
#pragma once

#include "viewer/analyze/filter.h"
#include "viewer/load/profile.h"

namespace varve::analyze {

/// cpu = sampled + residual + not_sampled, all of the run; shown + filtered_out = cpu, unless waits are
/// shown.
struct Ledger {
  Nanos cpu, sampled, residual, not_sampled;
  Nanos residual_placed;  // part of `residual`: not in a row of its own, but at functions of first ticks
  Nanos shown, filtered_out;
  /// What the agents saw beyond the kernel's own sum: clocks read at different moments. Inside `cpu`.
  Nanos beyond_kernel;

  /// What shares are of: the CPU time, or the Wait.
  Nanos whole() const { return shown + filtered_out; }
};

Ledger ledger(const load::Profile& profile, const Selection& selection);

}  // namespace varve::analyze
