// SPDX-License-Identifier: MIT
// When ticks came. A CPU timer expires at a tick of the scheduler; its sample is taken when the thread
// goes on in the program, at the end of the system call in which it was: half of them 30 us later, one in
// ten 60. Who wakes another thread and then waits is seen when both run, whenever the tick meets it within
// the call. Of two threads that hand work to each other 22 % of the CPU time was Ideal so, most of it in
// futex_wake, where 1 % can be. Context: viewer.
#pragma once

#include "viewer/load/profile.h"

namespace varve::load {

/// Where switches were recorded: samples that came soon after a tick of the scheduler, a multiple of its
/// length on CLOCK_MONOTONIC, are of that tick's moment if their thread had its processor then already.
/// Samples of a thread stay in their order. Only where more samples come soon after a tick than by chance:
/// ticks of events come at any moment.
void date_samples_by_ticks(Profile& profile);

}  // namespace varve::load
