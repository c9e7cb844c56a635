// SPDX-License-Identifier: MIT
// The closing line of varve record: what was recorded, where it is, what to type next; and where there are
// few or no samples, why. Context: viewer.
#pragma once

#include <string>

#include "viewer/record/finalize.h"
#include "viewer/record/supervisor.h"

namespace varve::record {

/// "1,234 samples, 12.3 s of CPU time in 2 threads; profile in xz.varve; next: varve report xz.varve"
std::string closing_line(const Finalized& profile, const RunEnd& end, const std::string& directory);

/// Why there are so few samples, or they say so little; empty where there are enough (or no reason to expect
/// more).
std::string why_few_samples(const Finalized& profile, const RunEnd& end, Nanos interval);

/// 1234567 -> "1,234,567".
std::string with_commas(uint64_t number);

/// "12.3 s", "45.6 ms", "0 ms", "3 min 12 s".
std::string time_text(Nanos time);

}  // namespace varve::record
