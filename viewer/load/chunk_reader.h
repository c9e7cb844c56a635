// SPDX-License-Identifier: MIT
// The frame of every file of a profile: header, chunks, records. Steps from chunk to chunk by `capacity`,
// trusts no byte beyond `used`, verifies sealed chunks, and turns what it cannot read into Damage. Not an
// interpreter of records: agent_file.h, session_file.h and the readers of symbols are. Context: viewer, any
// thread.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/bytes.h"
#include "common/file_format.h"
#include "tl/expected.hpp"
#include "viewer/load/file_source.h"
#include "viewer/load/profile.h"

namespace varve::load {

/// Reads and checks the header of a file of the given kind. The error is a clause: "is not a file of a varve
/// profile".
tl::expected<format::FileHeader, std::string> read_file_header(const File& file, format::FileKind kind);

/// One chunk of a file, its header as it was when it was listed.
struct Chunk {
  format::ChunkHeader header;
  uint64_t offset = 0;    // of its header in the file
  uint32_t number = 0;    // in the order of the file, from 0
  uint32_t readable = 0;  // bytes of records within `used`, the capacity and the file

  bool is(format::ChunkType type) const { return header.type == uint32_t(type); }
  bool sealed() const { return header.flags & format::kChunkSealed; }
};

/// All chunks begun so far that this reader knows. What cannot be stepped over is searched page by page for
/// the next chunk and reported.
std::vector<Chunk> list_chunks(const File& file, const std::string& name, const format::FileHeader& header,
                               std::vector<Damage>& damages);

/// The records of a chunk, read into `buffer`, which the view then refers to. The error is a clause.
tl::expected<ByteView, std::string> read_chunk(const File& file, const Chunk& chunk,
                                               std::vector<uint8_t>& buffer);

/// Damage of one chunk: "chunk 3 (SAMP) fails its checksum".
Damage chunk_damage(const std::string& name, const Chunk& chunk, std::string_view clause, uint64_t bytes);

/// Steps through the records of a chunk by their sizes. Throws ParseError, without moving on, at a record
/// that has no size or ends beyond the chunk.
class RecordStream {
 public:
  explicit RecordStream(ByteView records) : records_(records) {}

  bool empty() const { return records_.empty(); }
  size_t bytes_left() const { return records_.size(); }
  format::RecordHeader peek() const { return records_.peek<format::RecordHeader>(); }

  /// The whole record, header included.
  ByteView next() {
    auto header = peek();
    if (header.size < sizeof header) throw ParseError("has a record without a size");
    return records_.take(header.size);
  }

 private:
  ByteView records_;
};

using UseRecord = std::function<void(format::RecordHeader header, ByteView record)>;

/// Reads a chunk and calls `use` for each record. A record for which `use` throws ParseError is left out, the
/// rest of a chunk that cannot be stepped through likewise, and both are reported.
void read_records(const File& file, const std::string& name, const Chunk& chunk, std::vector<Damage>& damages,
                  const UseRecord& use);

}  // namespace varve::load
