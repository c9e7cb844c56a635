// SPDX-License-Identifier: MIT
// Fills the ledger.
// Context: viewer.
#include "viewer/analyze/ledger.h"

namespace varve::analyze {

Ledger ledger(const load::Profile& profile, const Selection& selection) {
  Ledger result;
  result.sampled = profile.sampled;
  result.residual = profile.residual;
  result.residual_placed = profile.residual_placed;
  result.not_sampled = profile.unsampled;
  result.cpu = profile.sampled + profile.residual + profile.unsampled;
  result.beyond_kernel = saturating_sub(result.cpu, profile.kernel_cpu);
  result.shown = {selection.kept[kCpu]};
  result.filtered_out = {selection.filtered_out[kCpu]};
  return result;
}

}  // namespace varve::analyze
