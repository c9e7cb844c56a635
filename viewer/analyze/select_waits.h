// SPDX-License-Identifier: MIT
// The Selection of waits: the same as select() makes of CPU time, made of the time that threads waited, so
// that every view of a Selection shows waits, too. Context: viewer.
#pragma once

#include "viewer/analyze/concurrency.h"
#include "viewer/analyze/filter.h"

namespace varve::analyze {

/// Columns: kCpu is the Wait, kSamples the number of waits, then bands with kIdleWait. Waits that no hook saw
/// stand at path 0, so that the sum of a thread is its Wait.
Selection select_waits(const load::Profile& profile, const symbol::SymbolTable& symbols, const Filter& filter,
                       const Concurrency& concurrency);

}  // namespace varve::analyze
