// SPDX-License-Identifier: MIT
// What a report asks for: the symbols of a profile, from its symbols file as far as that goes, else resolved
// here; where the options name other files, those are asked about what it lacks. Context: viewer.
#pragma once

#include <string>

#include "viewer/load/profile.h"
#include "viewer/symbol/resolve_options.h"
#include "viewer/symbol/symbol_table.h"

namespace varve::symbol {

struct FoundSymbols {
  SymbolTable table;
  bool looked_up = false;  // some were not in the symbols file, or better ones were looked for
  std::string trouble;     // a sentence when the symbols file could not be used
};
FoundSymbols symbols_for(const load::Profile& profile, const ResolveOptions& options = {},
                         const ProgressCallback& progress = {});

/// `base`, in which the sites that have no frames, and those whose names `more` knows better, get those of
/// `more`.
SymbolTable merge_symbols(SymbolTable base, const SymbolTable& more);

}  // namespace varve::symbol
