// SPDX-License-Identifier: MIT
// ProcessFile: the agent's file of this process image, and the allocator of its chunks. Space comes in
// extents that are fallocated before they are mapped (a sparse mapping on a full disk is SIGBUS) and unmapped
// when their last user is done. No descriptor is kept: a program may close or reuse any number it likes. A
// file is opened for growth by its path. Not a record format: callers write records; this hands out chunks,
// seals them and takes them back. Context: signal (allocate, release, seal), agent start and fork (open).
// Callers outside the handler have SIGPROF blocked.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "agent/signal/file_identity.h"
#include "agent/signal/spin_lock.h"
#include "common/file_format.h"

namespace varve::agent {

/// A chunk in mapped memory and the extent that keeps it mapped. Empty where there was no room.
struct Chunk {
  format::ChunkHeader* header = nullptr;
  uint32_t extent = 0;

  explicit operator bool() const { return header != nullptr; }
  uint8_t* payload() const { return reinterpret_cast<uint8_t*>(header + 1); }
  uint32_t room() const { return header->capacity - uint32_t(sizeof *header) - header->used; }
  uint8_t* end() const { return payload() + header->used; }
  /// Makes `bytes` more bytes visible to readers: everything stored before is seen with them.
  void commit(uint32_t bytes) {
    reinterpret_cast<std::atomic<uint32_t>&>(header->used)
        .store(header->used + bytes, std::memory_order_release);
  }
};

/// Bytes of a chunk to be, its header included, in multiples of kChunkUnit. What is left of an extent is
/// taken if it lies between the two.
struct ChunkSize {
  uint32_t wanted;
  uint32_t least;
};
constexpr ChunkSize exactly(uint32_t bytes) { return {bytes, bytes}; }

/// Of -errno: the disk is full, or the program's limits are reached.
constexpr bool no_room(long error) { return error == -ENOSPC || error == -EDQUOT || error == -EFBIG; }

class ProcessFile {
 public:
  /// Creates the file at `path` (which must not exist), its first extent and its header. Returns 0 or -errno.
  /// Where there is room for a page only, that is the first extent: it holds the process and its counters,
  /// which say that there was no more. Where there is none the file stays empty, and says so by that; of
  /// another failure no file is left.
  long open(const char* path, const format::FileHeader& header);

  /// After fork: forgets and unmaps what belongs to the parent's file.
  void forget();

  /// A chunk with its header written, or an empty one: no room, or the lock stayed taken. A disk that
  /// is full is final: error() tells why, and every later call fails at once. What passes, as a limit of
  /// descriptors, is refused() until a later call succeeds.
  Chunk allocate(format::ChunkType type, ChunkSize size, uint32_t thread, uint64_t time_ns);

  /// One more, or one less, user of the extent of a chunk; its memory stays while there is one.
  void retain(const Chunk& chunk) { extents_[chunk.extent].users.fetch_add(1, std::memory_order_relaxed); }
  void release(const Chunk& chunk);

  /// Marks a chunk complete: checksum and flag.
  static void seal(const Chunk& chunk);

  int error() const { return error_.load(std::memory_order_relaxed); }
  int refused() const { return refused_.load(std::memory_order_relaxed); }
  /// Of the two what holds: the errno for which the file does not grow; 0: it does.
  int why_not() const { return error() ? error() : refused(); }

 private:
  struct Extent {
    uint8_t* base;
    uint32_t size;
    uint32_t given;               // bytes handed out
    std::atomic<uint32_t> users;  // chunks and records in use, plus one while it is the current extent
  };
  static constexpr uint32_t kExtents = 4096;
  static constexpr uint32_t kFirstExtent = 32 * 1024;  // most processes are short
  static constexpr uint32_t kSmallestExtent = 64 * 1024;
  static constexpr uint32_t kLargestExtent = 256 * 1024;

  long grow(uint32_t bytes);
  long open_extent(uint32_t bytes);
  long map_extent(int fd, uint32_t bytes);
  uint32_t extent_size(uint32_t bytes) const;
  uint32_t free_slot() const;
  void drop_user(uint32_t extent);
  void close_current();

  SpinLock lock_;
  std::atomic<int> error_{0}, refused_{0};  // errno of the last growth
  uint64_t grow_again_ns_ = 0;              // after a refusal
  FileIdentity identity_;
  uint64_t file_size_ = 0;
  uint32_t current_ = 0;
  uint32_t sequence_ = 0;
  uint32_t slots_used_ = 0;  // of extents_: the others were never touched, and so cost no memory
  Extent extents_[kExtents] = {};
  char path_[4096 + 256] = {};
};

}  // namespace varve::agent
