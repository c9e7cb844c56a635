// SPDX-License-Identifier: MIT
// Makes Profile::threads_by_tid: a million joined threads are a million objects whose names are asked for.
// Context: viewer.
#pragma once

#include "viewer/load/profile.h"

namespace varve::load {

/// Once all threads are known.
void index_threads(Profile& profile);

}  // namespace varve::load
