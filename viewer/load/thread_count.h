// SPDX-License-Identifier: MIT
// How many threads a run had. Context: viewer.
#pragma once

#include <cstddef>
#include <vector>

#include "viewer/load/profile.h"

namespace varve::load {

/// Threads of the run: an exec gives a thread a row in the next image, but makes no new one.
size_t count_threads(const Profile& profile);
/// Only those with a row that passes, a row each of Profile::threads.
size_t count_threads(const Profile& profile, const std::vector<bool>& pass);

}  // namespace varve::load
