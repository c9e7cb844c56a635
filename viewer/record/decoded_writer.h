// SPDX-License-Identifier: MIT
// Writes the file "decoded" of a large profile, so that reports need not decode its samples again.
// Context: viewer.
#pragma once

#include <string>

#include "tl/expected.hpp"
#include "viewer/load/profile.h"

namespace varve::record {

/// Whether there are so many samples that decoding them takes longer than somebody likes to wait for a first
/// screen, and all of them could be read.
bool worth_decoding(const load::Profile& profile);

/// Writes profile.directory/decoded. The error is a sentence.
tl::expected<void, std::string> write_decoded_file(const load::Profile& profile);

}  // namespace varve::record
