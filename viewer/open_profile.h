// SPDX-License-Identifier: MIT
// The start of every command that shows a profile: which one, loaded, with its names. Context: viewer.
#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "viewer/load/load.h"
#include "viewer/load/profile.h"
#include "viewer/report_options.h"
#include "viewer/stored_views.h"
#include "viewer/symbol/symbols_for.h"

namespace varve {

struct OpenProfile {
  std::string path;
  load::Profile profile;
  symbol::FoundSymbols names;
  std::optional<view::StoredViews> views;  // then the profile is without samples and names
};

/// `word`: the profile as typed; empty: the newest here. A line on the terminal tells of symbols that take
/// longer than a second. The error is a sentence. This is the three steps below, one after the other.
tl::expected<OpenProfile, std::string> open_profile(const std::string& word, ReportOptions& options);

/// For FUNCTION [PROFILE] of a command, of which one word was given: which of the two is missing, as a
/// sentence with `usage` ("varve annotate") before the words; empty: none.
std::string missing_word(const std::string& usage, const std::string& function);

/// The profile without names.
tl::expected<OpenProfile, std::string> load_profile(const std::string& word,
                                                    const load::LoadProgress& progress = {});
/// The profile without samples, and the views that were made of it in advance. Nothing where there are none,
/// or where other names are asked for than those of its recording.
std::optional<OpenProfile> load_views(const std::string& word, const symbol::ResolveOptions& names = {});
/// Those views as far as they hold for the profile with its samples and names, too: null where there are
/// none, it has changed since, or names are known that they do not have.
const view::StoredViews* views_for(const OpenProfile& with_views, const OpenProfile& with_samples);
/// Fills in what of the request depends on the profile: its marks, how it is called, and whether it is still
/// written. The error is a sentence.
tl::expected<void, std::string> fit_request(const OpenProfile& open, const std::string& word,
                                            view::Request& request);

}  // namespace varve
