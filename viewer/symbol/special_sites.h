// SPDX-License-Identifier: MIT
// Names of the rows that stand for CPU time without a code address, and for frames not known.
// Context: viewer.
#pragma once

#include <string_view>

#include "viewer/load/profile.h"

namespace varve::symbol {

/// As the documents define them; "[Unknown frame(s)]" for a kind of a newer format.
std::string_view special_name(load::SpecialSite kind);

}  // namespace varve::symbol
