// SPDX-License-Identifier: MIT
// Sets right what stands before and around the rows of a file of array chunks: magic, header checksum, chunk
// checksums; so that mutations reach the rows. Context: tests.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "common/file_format.h"

namespace varve::fuzz {

inline void repair(std::vector<uint8_t>& file, format::FileKind kind,
                   const std::array<uint8_t, 16>& session) {
  format::FileHeader header{};
  if (file.size() < format::kPageSize) return;
  std::memcpy(header.magic, format::kMagic, sizeof header.magic);
  header.major = format::kMajor;
  header.byte_order = format::kByteOrder;
  header.kind = uint16_t(kind);
  std::memcpy(header.session_id, session.data(), session.size());
  header.checksum = format::header_checksum(header);
  std::memcpy(file.data(), &header, sizeof header);
  for (size_t at = format::kPageSize; at + sizeof(format::ChunkHeader) <= file.size();) {
    format::ChunkHeader chunk;
    std::memcpy(&chunk, file.data() + at, sizeof chunk);
    size_t room = file.size() - at - sizeof chunk;
    if (chunk.used > room || chunk.capacity < sizeof chunk) return;
    chunk.flags |= format::kChunkSealed;
    chunk.checksum = XXH64(file.data() + at + sizeof chunk, chunk.used, 0);
    std::memcpy(file.data() + at, &chunk, sizeof chunk);
    at += chunk.capacity;
  }
}

}  // namespace varve::fuzz
