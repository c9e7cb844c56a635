// SPDX-License-Identifier: MIT
// Code that is asked for, and code that came. See later_code.h.
// Context: viewer.
#include "viewer/tui/later_code.h"

#include <algorithm>
#include <span>
#include <utility>

namespace varve::tui {

view::CodeSource LaterCode::source() {
  return [this](const load::Profile&, std::span<const SiteId> sites) {
    if (sites.empty()) return std::make_shared<const symbol::FoundCode>();
    const bool here = code_ && std::ranges::equal(sites, sites_);
    wanted_ = here ? Sites() : Sites(sites.begin(), sites.end());
    return here ? code_ : nullptr;
  };
}

void LaterCode::put(Sites sites, symbol::FoundCode code) {
  if (sites == wanted_) wanted_.clear();
  sites_ = std::move(sites);
  code_ = std::make_shared<const symbol::FoundCode>(std::move(code));
  ++revision_;
}

}  // namespace varve::tui
