// SPDX-License-Identifier: MIT
// The recorder's clock. Not the agent's: agent/signal/clock.h. Context: viewer.
#pragma once

#include <ctime>

#include "common/units.h"

namespace varve::record {

/// Nanoseconds of `clock`, such as CLOCK_MONOTONIC.
inline Nanos clock_now(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return {uint64_t(now.tv_sec) * kNanosPerSecond.count + uint64_t(now.tv_nsec)};
}

}  // namespace varve::record
