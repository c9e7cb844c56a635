// SPDX-License-Identifier: MIT
// The loader: a profile directory, or one agent file, becomes a Profile. The same bytes give the same
// Profile, to the order of its rows, whatever the number of threads that decode them. Not a resolver of
// names: symbol/ is, from the sites of the Profile. Context: viewer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tl/expected.hpp"
#include "viewer/load/file_source.h"
#include "viewer/load/profile.h"

namespace varve::load {

/// Bytes of samples that were decoded so far, and of all. Called by the thread that called load().
using LoadProgress = std::function<void(uint64_t done, uint64_t total)>;

struct LoadOptions {
  unsigned threads = 0;  // that decode samples, the caller's included; 0: as many as there are processors
  LoadProgress progress = {};
  bool samples = true;  // false: all but the samples, which a report of the run as a whole can do without
  bool dated = true;    // false: samples have the times of their records (see tick_moments.h)
};

/// Reads the profile at `path`: its directory, or one .agent file. What is damaged is left out and listed in
/// Profile::damages. The error, a whole sentence, says why nothing at all could be read.
tl::expected<Profile, std::string> load(const std::string& path, const LoadOptions& options = {});

/// The same from any source; `path` only names it in messages.
tl::expected<Profile, std::string> load(const FileSource& source, const std::string& path,
                                        const LoadOptions& options = {});

/// The profile begun last among `directory` itself and the directories in it. The error is a whole sentence.
tl::expected<std::string, std::string> find_newest_profile(const std::string& directory);

}  // namespace varve::load
