// SPDX-License-Identifier: MIT
// What the time columns of views can count: a row of one table each, for options, keys and screens.
// Context: viewer.
#pragma once

#include <span>
#include <string>

#include "viewer/view/request.h"

namespace varve::view {

struct MetricKind {
  const char* name;  // on the command line
  analyze::Metric metric;
  const char* title;    // where numbers stand: "Poor CPU time"
  const char* meaning;  // goes on after the title
};

/// In the order in which a key goes through them; the first is the default.
std::span<const MetricKind> metric_kinds();
const MetricKind& metric_kind(analyze::Metric metric);

/// A sentence on why this profile cannot have the metric, or not of what passes the filter; empty if it can.
std::string metric_trouble(const load::Profile& profile, const Request& request);

}  // namespace varve::view
