// SPDX-License-Identifier: MIT
// See kernel_offers.h.
// Context: viewer.
#include "viewer/record/kernel_offers.h"

#include <fmt/format.h>

#include "viewer/record/observe/switch_rings.h"
#include "viewer/record/tick_choice.h"

namespace varve::record {
namespace {

Finding switches() {
  const std::string why = observe::why_no_switches();
  return {"switches", Severity::kOk,
          why.empty() ? "every context switch can be seen"
                      : "run states come from looks at /proc, every 10 ms or more: " + why,
          ""};
}

Finding ticks() {
  const Nanos tick = kernel_tick();
  const auto choice = TickChoice::make(Timer::kPerf, tick);
  const double ms = double(tick.count) / double(kNanosPerMilli.count);
  if (choice)
    return {"ticks", Severity::kOk, fmt::format("can come at less than the kernel's {:g} ms", ms), ""};
  return {"ticks", Severity::kOk,
          fmt::format("come no more often than every {:g} ms: {}", ms, choice.error()), ""};
}

}  // namespace

std::vector<Finding> kernel_offers() { return {switches(), ticks()}; }

}  // namespace varve::record
