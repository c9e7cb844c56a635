// SPDX-License-Identifier: MIT
// Creations: which call made the object that a thread waited for. An address may be one object after the
// other; a wait is for the last one made there before it ended, unless that was destroyed. Context: viewer.
#pragma once

#include "viewer/load/profile.h"

namespace varve::load {

/// Fills Wait::creation and Creation::life. `profile.waits` are sorted.
void find_creations(Profile& profile);

}  // namespace varve::load
