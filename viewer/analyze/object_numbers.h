// SPDX-License-Identifier: MIT
// Numbers of what threads wait for: of one profile always the same, whatever is filtered, and different where
// names are not. Context: viewer.
#pragma once

#include <cstdint>
#include <vector>

#include "viewer/analyze/object_key.h"

namespace varve::analyze {

/// By row of Waits::waits the number of its object: 1 + the first row that has it.
std::vector<uint32_t> object_numbers(const load::Profile& profile);

}  // namespace varve::analyze
