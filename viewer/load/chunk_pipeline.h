// SPDX-License-Identifier: MIT
// Decodes sample chunks on several threads and hands them on in their order, so that the result does not
// depend on how many threads there are. Only so many chunks are decoded ahead that memory stays small.
// Context: viewer.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "viewer/load/sample_decoder.h"

namespace varve::load {

struct ChunkTask {
  const SampleSource* source;
  const Chunk* chunk;
};

/// Calls `use` in the caller's thread with each chunk, in the order of `tasks`. `threads` counts the
/// caller's, too.
void decode_in_order(std::span<const ChunkTask> tasks, std::span<const Mapping> mappings,
                     const FileSource& files, unsigned threads,
                     const std::function<void(DecodedChunk&&)>& use);

}  // namespace varve::load
