// SPDX-License-Identifier: MIT
// The objects that the loader brought in before the program ran: they stay until its end, so their tables are
// read in place even while libraries are unloaded. Context: agent start (learn), signal.
#pragma once

#include <link.h>

#include <algorithm>
#include <cstdint>

namespace varve::agent {

class StartObjects {
 public:
  /// Those of the loader's list as it is now.
  void learn() {
    count_ = 0;
    for (const link_map* map = _r_debug.r_map; map && count_ < kMost; map = map->l_next)
      maps_[count_++] = map;
  }
  bool contain(const link_map* map) const { return std::find(maps_, maps_ + count_, map) != maps_ + count_; }

 private:
  static constexpr uint32_t kMost = 512;  // more are read as those that may go

  uint32_t count_ = 0;
  const link_map* maps_[kMost] = {};
};

}  // namespace varve::agent
