// SPDX-License-Identifier: MIT
// Collects the machine code of a profile's functions from the program files that ran, and the names and lines
// in it. Code that a runtime made has no file, so none is found. Context: viewer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "viewer/load/profile.h"
#include "viewer/symbol/code_table.h"
#include "viewer/symbol/opened_modules.h"
#include "viewer/symbol/resolve_options.h"

namespace varve::symbol {

/// A longer function is cut; what does not fit any more is left out. Together they bound the code file.
struct CodeLimits {
  uint64_t function = 256 << 10;
  uint64_t total = 4 << 20;
};

/// The functions around these sites, the first ones first. `kept`: as of resolve().
CodeTable collect_code(const load::Profile& profile, std::span<const SiteId> wanted,
                       const ResolveOptions& options = {}, const CodeLimits& limits = {},
                       OpenedModules* kept = nullptr);

/// The sites that code is worth keeping of: those where samples were taken, by their CPU time, the largest
/// first, then the calls with the most time below.
std::vector<SiteId> sites_by_time(const load::Profile& profile);

struct FoundCode {
  CodeTable table;
  std::string trouble;  // a sentence when the code file or the disassembler could not be used; else empty
};

/// For these sites, the profile's own code, else that of the program files: all of it that could be found.
FoundCode code_for(const load::Profile& profile, std::span<const SiteId> wanted,
                   const ResolveOptions& options);

}  // namespace varve::symbol
