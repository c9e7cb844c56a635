// SPDX-License-Identifier: MIT
// The resolver: every site of a profile becomes functions, files and lines. Only addresses that occur are
// looked up. Not the symbols file: symbols_for.h uses it where there is one. Context: viewer.
#pragma once

#include <span>

#include "viewer/load/profile.h"
#include "viewer/symbol/opened_modules.h"
#include "viewer/symbol/resolve_options.h"
#include "viewer/symbol/symbol_table.h"

namespace varve::symbol {

/// Names all sites. Never fails: what has no name gets "module+0x...". The same input gives the same table,
/// whatever the number of threads. `kept`: where modules are taken from and given back to; null: each is
/// opened and closed again.
SymbolTable resolve(const load::Profile& profile, const ResolveOptions& options = {},
                    const ProgressCallback& progress = {}, OpenedModules* kept = nullptr);

/// The same for some sites; the others get no frames. `wanted`: one flag a site.
SymbolTable resolve_some(const load::Profile& profile, const std::vector<bool>& wanted,
                         const ResolveOptions& options, const ProgressCallback& progress,
                         OpenedModules* kept = nullptr);

}  // namespace varve::symbol
