// SPDX-License-Identifier: MIT
// Profiles with symbols made up from a seed, in memory, small enough that a naive reference can recompute
// every number: recursion, inlined calls, special sites, several processes and threads, names that are hard
// to print. Context: tests.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "viewer/load/profile.h"
#include "viewer/symbol/symbol_table.h"

namespace varve::test {

struct RandomProfile {
  load::Profile profile;
  symbol::SymbolTable symbols;
};

/// Odd seeds have run states, of switches or of sweeps in turn.
RandomProfile random_profile(uint64_t seed, size_t samples = 300);

/// Gives every thread a track of its own with random events over one second, as `source` would tell them.
void add_run_states(load::Profile& profile, uint64_t seed, load::RunStates::Source source);

/// Fills the ledger's sums from the rows.
void settle(load::Profile& profile);

/// Waits and releases of its threads, in place of those it has: of all kinds, some of them sums of short
/// ones.
void add_waits(load::Profile& profile, uint64_t seed);

/// Functions of a row's stack, the root first; `inlines` as in the views. "inlined" frames get a mark of
/// their own.
struct StackFrame {
  FunctionId function;
  bool inlined;
  auto operator<=>(const StackFrame&) const = default;
};
std::vector<StackFrame> stack_of(const RandomProfile& made, PathId path, bool inlines);
/// Sites of the row's path, the root first.
std::vector<SiteId> sites_of(const load::Profile& profile, PathId path);

/// Splits RFC 4180 text into rows of fields.
std::vector<std::vector<std::string>> read_csv(const std::string& text);

}  // namespace varve::test
