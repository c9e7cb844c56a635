// SPDX-License-Identifier: MIT
// Trim: gives back the space that agents reserved and did not use. Only for a run none of whose processes
// lives: a file that is still mapped must be neither cut nor replaced. Context: viewer.
#pragma once

namespace varve::record {

/// What goes: the unused tail of a file, or also the unused rest of each chunk. The second changes the
/// headers of chunks, so what finalization has stored of them would no longer belong to them.
enum class Trim { kTail, kAll };

/// Makes every agent file in the directory (a descriptor) as short as that.
void trim_agent_files(int directory, Trim trim);

}  // namespace varve::record
