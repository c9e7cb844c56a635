// SPDX-License-Identifier: MIT
// The time that counts of a wait, shared among the stretches that it is divided into by who let go of its
// object. Context: viewer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "viewer/analyze/counted_waits.h"

namespace varve::analyze {

/// ns of `counted` for each stretch, from `begin_ns` or the end of the stretch before to each of `ends_ns`,
/// which go up. Its time in a band goes to those that lie in the band, the first first: what does not count
/// of a wait is most often its end, another wait or one for a processor. What no stretch has in that band
/// goes to those with time left. Of the bands only those of `chosen` are in the result, so results of several
/// sets add up to that of all; the rest of counted.time_ns is in no stretch.
std::vector<uint64_t> wait_shares(const BandTimes& bands, const CountedWait& counted, const BandSet& chosen,
                                  uint64_t begin_ns, std::span<const uint64_t> ends_ns);

}  // namespace varve::analyze
