// SPDX-License-Identifier: MIT
// Whether a program works in step with the ticks of the kernel's scheduler, at which CPU timers expire: then
// samples stand for some moments of its work only. Context: viewer.
#pragma once

#include "viewer/load/profile.h"

namespace varve::load {

/// True where timers expired far more or far less often than the CPU time of their threads makes due. Ticks
/// from events keep to no such beat.
bool works_in_step(const Profile& profile);

/// What to do then.
inline constexpr const char* kInStepAdvice =
    "the program works in step with the kernel's tick, so that samples see some moments of it only: record "
    "with --timer perf";

}  // namespace varve::load
