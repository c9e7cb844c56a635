// SPDX-License-Identifier: MIT
// Files that have lost their end, or that are not there, by what the recorder noted of them. A cut within a
// chunk is seen by the walk over chunks, too (chunk_reader.h); one between two chunks nowhere else.
// Context: viewer.
#pragma once

#include <vector>

#include "viewer/load/session_file.h"

namespace varve::load {

/// Adds a damage for each file of `lengths` that is shorter than there, or missing. Files without a length,
/// of a run whose recorder was killed, for one, may have any.
void find_cut_files(const FileSource& source, std::vector<FileLength> lengths, std::vector<Damage>& damages);

}  // namespace varve::load
