// SPDX-License-Identifier: MIT
// Trim: gives back the space that agents reserved and did not use. Only for a run none of whose processes
// lives: a file that is still mapped must be neither cut nor replaced. And, for any run, how long its files
// are. Context: viewer.
#pragma once

#include <vector>

#include "viewer/load/session_file.h"

namespace varve::record {

/// What goes: the unused tail of a file, or also the unused rest of each chunk. The second changes the
/// headers of chunks, so what finalization has stored of them would no longer belong to them.
enum class Trim { kTail, kAll };

/// Makes every agent file in the directory (a descriptor) as short as that.
void trim_agent_files(int directory, Trim trim);

/// Of every agent's file in the directory (a descriptor) up to the end of the last record that is there now,
/// and of the observer's. A file that is cut off later has fewer bytes, of which a cut between two chunks
/// leaves no other trace. Files that do not look like ours are left out.
std::vector<load::FileLength> file_lengths(int directory);

}  // namespace varve::record
