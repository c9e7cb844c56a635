// SPDX-License-Identifier: MIT
// See metrics.h.
// Context: viewer.
#include "viewer/view/metrics.h"

#include <fmt/format.h>

#include <algorithm>

#include "viewer/view/band_words.h"
#include "viewer/view/waits_words.h"

namespace varve::view {
namespace {

/// They come with the samples.
bool no_waits(const load::Profile& profile) {
  return profile.without_samples ? waits_are_off(profile) : profile.waits.waits.empty();
}

}  // namespace

std::span<const MetricKind> metric_kinds() {
  static constexpr MetricKind kTable[] = {
      {"cpu", analyze::kCpu, "CPU time", "of all moments"},
      {"poor", analyze::kPoor, "Poor CPU time", "while far fewer threads than the target were active"},
      {"ok", analyze::kOk, "Ok CPU time", "while somewhat fewer threads than the target were active"},
      {"ideal", analyze::kIdeal, "Ideal CPU time", "while about as many threads as the target were active"},
      {"over", analyze::kOver, "Over CPU time", "while more threads than the target were active"},
      {"wait", analyze::kWait, "Wait time",
       "what threads spent waiting for locks, other threads, I/O or time"},
  };
  return kTable;
}

const MetricKind& metric_kind(analyze::Metric metric) {
  return *std::ranges::find(metric_kinds(), metric, &MetricKind::metric);
}

std::string metric_trouble(const load::Profile& profile, const Request& request) {
  const analyze::Metric metric = request.metric;
  if (metric != analyze::kWait && request.filter.object.given())
    return "CPU time is for no object: --object goes with --metric wait.";
  if (metric == analyze::kCpu || profile.run_states.known()) return "";
  if (metric == analyze::kWait)
    return no_waits(profile) ? "No metric wait: neither waits nor run states were recorded." : "";
  return fmt::format("No metric {}: run states were not recorded{}", metric_kind(metric).name,
                     unknown_states_words(profile));
}

}  // namespace varve::view
