// SPDX-License-Identifier: MIT
// Rows of waits in order, and found in it. See waits.h.
// Context: viewer.
#include "viewer/load/waits.h"

#include <algorithm>
#include <tuple>

namespace varve::load {

SiteId Waits::place_of(ProcessId process, uint64_t address) const {
  const auto place =
      std::ranges::lower_bound(places, std::tuple(process, address), {},
                               [](const ObjectPlace& p) { return std::tuple(p.process, p.address); });
  const bool known = place != places.end() && place->process == process && place->address == address;
  return known ? place->site : SiteId::none();
}

void Waits::sort() {
  std::ranges::stable_sort(waits, {}, [](const Wait& row) { return std::tuple(row.thread, row.end_ns); });
  std::ranges::stable_sort(releases, {},
                           [](const Release& row) { return std::tuple(row.thread, row.time_ns); });
  std::ranges::stable_sort(creations, {},
                           [](const Creation& row) { return std::tuple(row.thread, row.time_ns); });
}

}  // namespace varve::load
