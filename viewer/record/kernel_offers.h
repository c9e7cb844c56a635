// SPDX-License-Identifier: MIT
// What the kernel lets this user see beyond what a recording needs: context switches, and performance events
// for ticks. Not a part of the preflight: to ask takes milliseconds, and `varve record` finds out by using
// them. Context: viewer.
#pragma once

#include <vector>

#include "viewer/record/preflight.h"

namespace varve::record {

/// One finding each, none of them a problem; where it is refused, what is done instead, and why.
std::vector<Finding> kernel_offers();

}  // namespace varve::record
