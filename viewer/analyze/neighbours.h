// SPDX-License-Identifier: MIT
// Neighbours: one function, or several of one name, with who calls it and whom it calls.
// A stack counts once, however often the function is in it: callers are those of its outermost occurrence,
// callees those of its innermost. So both sides add up, callers = total = self + callees, and self is that of
// every other view. Context: viewer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "viewer/analyze/filter.h"

namespace varve::analyze {

struct Neighbour {
  FunctionId function;  // none: no caller, the function is the root of the stack
  std::vector<uint64_t> metrics;
};

struct Neighbours {
  std::vector<FunctionId> functions;         // in the middle
  std::vector<uint64_t> total;               // time with any of them in the stack
  std::vector<uint64_t> self;                // time in them
  std::vector<uint64_t> repeated;            // time with more than one of them in the stack
  std::vector<uint64_t> elsewhere;           // time of all other stacks
  std::vector<Neighbour> callers, callees;   // by CPU time, largest first
  std::vector<Neighbour> recursive_callers;  // of inner occurrences: inside the time above, in no sum
};

/// Whether a function of the profile, with time in a selection or not, has exactly this full, short or
/// linkage name, or the name before an "@" and the place behind it (function_place.h).
bool is_function(const load::Profile& profile, const symbol::SymbolTable& symbols, std::string_view name);

/// The functions that a user means by `name`: those of which is_function() holds, and where it holds of none,
/// those whose full name the regular expression is found in. Only functions with time in the selection.
/// Empty: none.
std::vector<FunctionId> functions_named(const load::Profile& profile, const symbol::SymbolTable& symbols,
                                        const PathTimes& by_path, bool inlines, std::string_view name,
                                        const Pattern& pattern);

/// The short names of all functions with time in the selection, each also without its scope ("push" of
/// "Queue::push"): what a user may have meant.
std::vector<std::string> function_names(const load::Profile& profile, const symbol::SymbolTable& symbols,
                                        const PathTimes& by_path, bool inlines);

Neighbours neighbours(const load::Profile& profile, const symbol::SymbolTable& symbols,
                      const PathTimes& by_path, bool inlines, std::vector<FunctionId> functions);

}  // namespace varve::analyze
