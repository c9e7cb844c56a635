// SPDX-License-Identifier: MIT
// Trim: gives back the space that agents reserved and did not use. Only for a run none of whose processes
// lives: a file that is still mapped must not be cut. Context: viewer.
#pragma once

#include <cstdint>

namespace varve::record {

/// Cuts every agent file in the directory (a descriptor) behind its last record. Returns the bytes given
/// back.
uint64_t trim_agent_files(int directory);

}  // namespace varve::record
