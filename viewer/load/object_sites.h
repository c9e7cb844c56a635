// SPDX-License-Identifier: MIT
// Sites of the objects that threads waited for, where those are variables of a module: as sites they get
// their names where code gets its own. Not the names: viewer/symbol. Context: viewer.
#pragma once

#include "viewer/load/path_tree.h"
#include "viewer/load/profile.h"

namespace varve::load {

/// Fills the places of `profile.waits`, and its sites through `tree`. An object is where its first wait found
/// it.
void find_object_sites(Profile& profile, PathTree& tree);

}  // namespace varve::load
