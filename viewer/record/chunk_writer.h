// SPDX-License-Identifier: MIT
// ChunkWriter: what the recorder's own files have in common: a header page, then chunks whose `used` counts a
// record only once its bytes are in the file. Records are collected in memory and committed when the owner
// wants them to outlive it. Not for files that agents map: those are agent/signal/process_file.
// Context: viewer, one thread an object.
#pragma once

#include <cstdint>
#include <vector>

#include "common/file_format.h"
#include "common/units.h"

namespace varve::record {

/// The header of a new file of this process, with a session id of its own.
format::FileHeader make_file_header(format::FileKind kind);
/// The header of another file of the run that `session` begins.
format::FileHeader make_file_header(format::FileKind kind, const format::FileHeader& session);

/// Where a chunk of this type, the first in its file or the `sequence`-th, begins at `first_time`.
format::ChunkHeader make_chunk_header(format::ChunkType type, size_t capacity, uint32_t sequence,
                                      Nanos first_time);

/// pwrite of all bytes. False: errno says why, and some of them may be there.
bool write_at(int descriptor, const void* bytes, size_t size, uint64_t offset);

class ChunkWriter {
 public:
  /// Chunks go to `descriptor`, which stays the caller's, from `offset` on.
  ChunkWriter(int descriptor, uint64_t offset, uint32_t first_sequence)
      : descriptor_(descriptor), next_offset_(offset), next_sequence_(first_sequence) {}

  /// Commits and seals the chunk before, and begins another one. The space of the whole chunk is taken at
  /// once, so that a full disk is noticed between chunks and not within one. False: errno says why.
  bool begin(format::ChunkType type, size_t capacity, Nanos first_time);

  /// Whether so many bytes of records still fit; false before the first begin().
  bool fits(size_t bytes) const;
  /// Adds a record, or several, that fit. They are not in the file yet.
  void append(const void* records, size_t size);
  /// Writes what was added since the last time. False: errno says why; what was committed before stays.
  bool commit(Nanos last_time);
  /// Gives the chunk its checksum; nothing is added to it after that.
  bool seal();

  Nanos first_time() const { return {header_.first_time_ns}; }
  uint64_t end_of_records() const;  // offset in the file; 0 before the first begin()

 private:
  template <typename Field>
  bool write_field(const Field& field);

  int descriptor_;
  uint64_t next_offset_;
  uint32_t next_sequence_;
  uint64_t offset_ = 0;  // of the chunk being filled; 0: none yet
  format::ChunkHeader header_{};
  std::vector<uint8_t> records_;  // all of the chunk, for the checksum
};

}  // namespace varve::record
