// SPDX-License-Identifier: MIT
// Wait slices: who waits with a short time limit, looks at something and at once waits on, waits once, in
// slices, for the thread that ends the last of them. So python waits for its interpreter lock, 5 ms at a
// time. Context: viewer.
#pragma once

#include <cstdint>
#include <vector>

#include "viewer/load/profile.h"

namespace varve::analyze {

/// By row of the profile's waits: the rows of the first and the last slice of the wait that it is a part of;
/// its own for a wait in one piece. Nobody need have ended the last, either.
struct WaitSlices {
  std::vector<uint32_t> first, last;
};

/// O(n).
WaitSlices wait_slices(const load::Profile& profile);

}  // namespace varve::analyze
