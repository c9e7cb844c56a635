// SPDX-License-Identifier: MIT
// Files that have lost their end, or that are not there, by what the recorder noted of them. A cut within a
// chunk is seen by the walk over chunks, too (chunk_reader.h); one between two chunks nowhere else.
// Context: viewer.
#pragma once

#include <string_view>
#include <vector>

#include "viewer/load/session_file.h"

namespace varve::load {

/// How the damage of files that are not there begins.
inline constexpr std::string_view kMissing = "is missing";

/// Adds a damage for each file that is shorter than `lengths` say and has none yet, one for all that are
/// missing, and one where the session noted more lengths than these. To be called last: `damages` are those
/// of the whole profile. Files without a length, as of a run whose recorder was killed, may have any.
void find_cut_files(const FileSource& source, const Session& session, std::vector<FileLength> lengths,
                    std::vector<Damage>& damages);

}  // namespace varve::load
