// SPDX-License-Identifier: MIT
// An empty profile is never silent: why it has no samples, in sentences with a way out.
// Context: viewer.
#pragma once

#include <string>
#include <vector>

#include "viewer/load/profile.h"

namespace varve::view {

/// Nothing if the profile has samples.
std::vector<std::string> why_empty(const load::Profile& profile);

}  // namespace varve::view
