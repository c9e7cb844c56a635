// SPDX-License-Identifier: MIT
// LaterCode: machine code that annotations want and somebody else reads, since debug information of any size
// stands behind it; until it is there the screen says so and answers. Context: viewer.
#pragma once

#include <memory>
#include <vector>

#include "viewer/symbol/code_collect.h"
#include "viewer/view/request.h"

namespace varve::tui {

class LaterCode {
 public:
  using Sites = std::vector<SiteId>;

  /// For a request. It remembers what was asked for and not there.
  view::CodeSource source();
  /// The sites whose code was asked for last and is not there; empty: none.
  const Sites& wanted() const { return wanted_; }
  void put(Sites sites, symbol::FoundCode code);
  /// Of another profile from now on: its sites have other numbers.
  void forget() {
    wanted_.clear();
    code_ = nullptr;
  }
  /// Grows when code has come.
  uint64_t revision() const { return revision_; }

 private:
  Sites wanted_, sites_;
  std::shared_ptr<const symbol::FoundCode> code_;  // of sites_
  uint64_t revision_ = 0;
};

}  // namespace varve::tui
