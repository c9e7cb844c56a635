// SPDX-License-Identifier: MIT
// See process_file.h.
// Context: signal, agent start, fork.
#include "agent/signal/process_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace varve::agent {
namespace {

/// fallocate() beyond RLIMIT_FSIZE would send the program SIGXFSZ, so the limit is asked first.
long check_size_limit(uint64_t size) {
  rlimit limit{};
  long result = raw_syscall(__NR_prlimit64, 0, RLIMIT_FSIZE, 0, as_arg(&limit));
  if (failed(result)) return result;
  return limit.rlim_cur != RLIM_INFINITY && size > limit.rlim_cur ? -EFBIG : 0;
}

/// A try takes seven system calls, and more where the file system cannot allocate.
constexpr uint64_t kGrowAgainNs = 10'000'000;

/// A server at its limit of descriptors or of memory is so for a moment, and recorded for hours.
bool may_pass(long result) {
  return result == -EMFILE || result == -ENFILE || result == -ENOMEM || result == -EAGAIN || result == -EINTR;
}

/// Real blocks for [offset, offset + bytes). File systems without fallocate get zeros written.
long reserve(int fd, uint64_t offset, uint32_t bytes) {
  long result;
  do result = raw_syscall(__NR_fallocate, fd, 0, long(offset), bytes);
  while (result == -EINTR);
  if (result != -EOPNOTSUPP && result != -ENOSYS) return result;
  static constexpr uint8_t kZeros[format::kPageSize] = {};
  for (uint32_t done = 0; done < bytes; done += sizeof kZeros) {
    result = raw_syscall(__NR_pwrite64, fd, as_arg(kZeros), sizeof kZeros, long(offset + done));
    if (result != long(sizeof kZeros)) return failed(result) ? result : -ENOSPC;
  }
  return 0;
}

}  // namespace

uint32_t ProcessFile::extent_size(uint32_t bytes) const {
  uint64_t wanted = file_size_ / 2;
  uint32_t size = wanted < kSmallestExtent  ? kSmallestExtent
                  : wanted > kLargestExtent ? kLargestExtent
                                            : uint32_t(wanted);
  return format::round_up(size > bytes ? size : bytes, format::kPageSize);
}

uint32_t ProcessFile::free_slot() const {
  for (uint32_t slot = 0; slot < slots_used_; ++slot)
    if (!extents_[slot].base) return slot;
  return slots_used_;
}

long ProcessFile::map_extent(int fd, uint32_t bytes) {
  uint32_t slot = free_slot();
  if (slot == kExtents) return -ENOMEM;
  if (!identity_.may_be_of(fd)) return -EBADF;
  long result = check_size_limit(file_size_ + bytes);
  if (!failed(result)) result = reserve(fd, file_size_, bytes);
  if (failed(result)) return result;
  result = raw_syscall(__NR_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, long(file_size_));
  if (failed(result)) return result;
  if (!identity_.may_be_of(fd)) return raw_syscall(__NR_munmap, result, bytes), -EBADF;
  Extent& extent = extents_[slot];
  if (slot == slots_used_) ++slots_used_;
  extent.base = reinterpret_cast<uint8_t*>(result);
  extent.size = bytes;
  extent.given = 0;
  extent.users.store(1, std::memory_order_relaxed);
  file_size_ += bytes;
  current_ = slot;
  return 0;
}

long ProcessFile::open(const char* path, const format::FileHeader& header) {
  std::strncpy(path_, path, sizeof path_ - 1);
  long fd = raw_syscall(__NR_open, as_arg(path_), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (failed(fd)) return fd;
  identity_ = FileIdentity(fd);
  long result = map_extent(int(fd), kFirstExtent);
  if (failed(result)) result = map_extent(int(fd), format::kPageSize);
  close_if(fd, identity_);
  if (failed(result) && !no_room(result)) raw_syscall(__NR_unlink, as_arg(path_));
  if (failed(result)) return result;
  std::memcpy(extents_[current_].base, &header, sizeof header);
  extents_[current_].given = sizeof header;
  return 0;
}

void ProcessFile::forget() {
  for (; slots_used_; --slots_used_) {
    Extent& extent = extents_[slots_used_ - 1];
    if (extent.base) raw_syscall(__NR_munmap, as_arg(extent.base), extent.size);
    extent.base = nullptr;
  }
  lock_.unlock();  // a thread that the fork did not copy may have held it
  error_.store(0, std::memory_order_relaxed);
  refused_.store(0, std::memory_order_relaxed);
  file_size_ = 0;
  sequence_ = 0;
}

/// What is left of the current extent becomes a chunk of its own kind, so that readers can step over it.
void ProcessFile::close_current() {
  Extent& extent = extents_[current_];
  if (uint32_t left = extent.size - extent.given) {
    auto* header = reinterpret_cast<format::ChunkHeader*>(extent.base + extent.given);
    header->capacity = left;
    header->type = uint32_t(format::ChunkType::kFree);
    extent.given = extent.size;
  }
  drop_user(current_);
}

/// -EBADF: the descriptor was another file's before the extent was mapped.
long ProcessFile::open_extent(uint32_t bytes) {
  const long fd = raw_syscall(__NR_open, as_arg(path_), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (failed(fd)) return fd;
  const long result = map_extent(int(fd), bytes);
  close_if(fd, identity_);
  return result;
}

long ProcessFile::grow(uint32_t bytes) {
  uint32_t previous = current_;
  long result = -EBADF;
  for (int i = 0; i < 3 && result == -EBADF; ++i) result = open_extent(extent_size(bytes));
  if (failed(result)) return result;
  uint32_t next = current_;
  current_ = previous;
  close_current();
  current_ = next;
  return 0;
}

Chunk ProcessFile::allocate(format::ChunkType type, ChunkSize size, uint32_t thread, uint64_t time_ns) {
  SpinGuard guard(lock_);
  if (!guard.owns() || error() != 0) return {};
  if (refused() != 0 && time_ns < grow_again_ns_) return {};
  uint32_t left = extents_[current_].size - extents_[current_].given;
  uint32_t bytes = left < size.wanted && left >= size.least ? left : size.wanted;
  if (left < bytes) {
    if (long result = grow(bytes); failed(result)) {
      (may_pass(result) ? refused_ : error_).store(int(-result), std::memory_order_relaxed);
      grow_again_ns_ = time_ns + kGrowAgainNs;
      return {};
    }
    refused_.store(0, std::memory_order_relaxed);
  }
  Extent& extent = extents_[current_];
  auto* header = reinterpret_cast<format::ChunkHeader*>(extent.base + extent.given);
  *header = {};
  header->version = format::chunk_version(type);
  header->capacity = bytes;
  header->thread = thread;
  header->sequence = sequence_++;
  header->first_time_ns = header->last_time_ns = time_ns;
  reinterpret_cast<std::atomic<uint32_t>&>(header->type).store(uint32_t(type), std::memory_order_release);
  extent.given += bytes;
  extent.users.fetch_add(1, std::memory_order_relaxed);
  return {header, current_};
}

void ProcessFile::drop_user(uint32_t index) {
  Extent& extent = extents_[index];
  if (extent.users.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // Forgotten before it is unmapped: a fork between the two must not find an address that may be somebody
  // else's by then.
  uint8_t* base = extent.base;
  uint32_t size = extent.size;
  extent.base = nullptr;
  raw_syscall(__NR_munmap, as_arg(base), size);
}

void ProcessFile::release(const Chunk& chunk) { drop_user(chunk.extent); }

void ProcessFile::seal(const Chunk& chunk) {
  chunk.header->checksum = XXH64(chunk.payload(), chunk.header->used, 0);
  chunk.header->flags |= format::kChunkSealed;
}

}  // namespace varve::agent
