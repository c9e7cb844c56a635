// SPDX-License-Identifier: MIT
// The start of every command that shows a profile: which one, loaded, with its names. Context: viewer.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "viewer/load/profile.h"
#include "viewer/report_options.h"
#include "viewer/symbol/symbol_table.h"

namespace varve {

struct OpenProfile {
  std::string path;
  load::Profile profile;
  symbol::SymbolTable symbols;
  std::string trouble;  // a sentence if the symbols file could not be used
};

/// `word`: the profile as typed; empty: the newest here. Fills in what of the request depends on the profile:
/// its marks, how it is called, and whether it is still written. A line on the terminal tells of symbols that
/// take longer than a second. The error is a sentence.
tl::expected<OpenProfile, std::string> open_profile(const std::string& word, ReportOptions& options);

}  // namespace varve
