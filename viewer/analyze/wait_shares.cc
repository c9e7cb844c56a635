// SPDX-License-Identifier: MIT
// See wait_shares.h.
// Context: viewer.
#include "viewer/analyze/wait_shares.h"

#include <algorithm>
#include <array>

namespace varve::analyze {
namespace {

/// By band; the last is of no band.
using BandParts = std::array<uint64_t, kBands + 1>;

BandParts with_rest(const BandTimes::Times& times, uint64_t rest) {
  BandParts parts{};
  std::ranges::copy(times, parts.begin());
  parts.back() = rest;
  return parts;
}

uint64_t left_of(uint64_t whole, uint64_t part) { return whole - std::min(whole, part); }

/// A stretch of the wait, and what it has of each part.
struct Stretch {
  uint64_t free_ns;
  BandParts lies{}, has{};

  void take(size_t part, uint64_t most, uint64_t& rest) {
    const uint64_t time = std::min({most, rest, free_ns});
    has[part] += time;
    rest -= time;
    free_ns -= time;
  }
};

Stretch stretch_of(const BandTimes& bands, TimeRange range) {
  const BandTimes::Times times = bands.of(range);
  uint64_t known = 0;
  for (const uint64_t each : times) known += each;
  return {range.length(), with_rest(times, left_of(range.length(), known)), {}};
}

}  // namespace

std::vector<uint64_t> wait_shares(const BandTimes& bands, const CountedWait& counted, const BandSet& chosen,
                                  uint64_t begin_ns, std::span<const uint64_t> ends_ns) {
  BandParts rest = with_rest(counted.bands, left_of(counted.time_ns, time_in(counted.bands, chosen)));
  std::vector<Stretch> stretches;
  for (const uint64_t end_ns : ends_ns) {
    stretches.push_back(stretch_of(bands, {begin_ns, end_ns}));
    begin_ns = end_ns;
  }
  for (Stretch& each : stretches)
    for (size_t part = 0; part < rest.size(); ++part) each.take(part, each.lies[part], rest[part]);
  for (Stretch& each : stretches)
    for (size_t part = 0; part < rest.size(); ++part) each.take(part, UINT64_MAX, rest[part]);
  std::vector<uint64_t> shares;
  for (const Stretch& each : stretches) {
    shares.push_back(each.has.back());
    for (size_t band = 0; band < kBands; ++band)
      if (chosen[band]) shares.back() += each.has[band];
  }
  return shares;
}

}  // namespace varve::analyze
