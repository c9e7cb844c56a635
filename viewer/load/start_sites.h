// SPDX-License-Identifier: MIT
// The sites of the routines that threads were started with. Context: viewer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "viewer/load/ledger.h"
#include "viewer/load/path_tree.h"
#include "viewer/load/profile.h"
#include "viewer/load/sample_decoder.h"

namespace varve::load {

/// Fills ThreadFacts::start_routine, none where no file was mapped there, and ThreadFacts::above_start, so
/// that time without a stack stands in call trees where stacks do. `routines`: addresses by thread, 0
/// where not known; `sources` by process; `facts` has a row a thread.
void find_start_sites(const Profile& profile, std::span<const SampleSource> sources,
                      std::span<const uint64_t> routines, PathTree& tree, std::vector<ThreadFacts>& facts);

}  // namespace varve::load
