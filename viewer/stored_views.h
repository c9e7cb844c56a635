// SPDX-License-Identifier: MIT
// The file "views" of a large profile: what the screens of the viewer show of it before anybody filters
// anything, made once after the run. So its first screens are there at once and in little memory; what else
// is asked needs the samples. Context: viewer.
#pragma once

#include <optional>
#include <string>

#include "tl/expected.hpp"
#include "viewer/load/profile.h"
#include "viewer/symbol/symbol_table.h"
#include "viewer/view/view_bytes.h"

namespace varve {

/// Makes them and writes profile.directory/views. The error is a sentence.
tl::expected<void, std::string> store_views(const load::Profile& profile, const symbol::SymbolTable& symbols);

/// Whether the profile in this directory has such a file; whether it is of use read_stored_views() says.
bool has_stored_views(const std::string& directory);
/// Those of a profile, which may be without samples. Nothing where there are none, or they are of other files
/// than these, or damaged.
std::optional<view::StoredViews> read_stored_views(const load::Profile& profile);

}  // namespace varve
