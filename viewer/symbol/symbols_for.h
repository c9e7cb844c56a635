// SPDX-License-Identifier: MIT
// What a report asks for: the symbols of a profile, from its symbols file as far as that goes, else resolved
// here. Context: viewer.
#pragma once

#include <string>

#include "viewer/load/profile.h"
#include "viewer/symbol/resolve_options.h"
#include "viewer/symbol/symbol_table.h"

namespace varve::symbol {

/// `trouble`, if given, gets a sentence when the symbols file could not be used, else stays as it is.
SymbolTable symbols_for(const load::Profile& profile, const ResolveOptions& options = {},
                        const ProgressCallback& progress = {}, std::string* trouble = nullptr);

/// `base`, in which the sites that have no frames, and those whose names `more` knows better, get those of
/// `more`.
SymbolTable merge_symbols(SymbolTable base, const SymbolTable& more);

}  // namespace varve::symbol
