// SPDX-License-Identifier: MIT
// Finds the end of the last record of a file by stepping over its chunks, and cuts there. See trim.h.
// Context: viewer.
#include "viewer/record/trim.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string_view>

#include "common/file_format.h"

namespace varve::record {
namespace {

using namespace format;

bool read_at(int file, void* bytes, size_t size, uint64_t offset) {
  return pread(file, bytes, size, off_t(offset)) == ssize_t(size);
}

bool holds_records(const ChunkHeader& chunk) {
  return chunk.type != uint32_t(ChunkType::kEnd) && chunk.type != uint32_t(ChunkType::kFree);
}

/// Where the last record ends; 0 if anything looks unlike a file of ours, which is then left alone.
uint64_t end_of_records(int file, uint64_t size) {
  FileHeader header;
  if (!read_at(file, &header, sizeof header, 0) || std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    return 0;
  uint64_t end = sizeof header;
  for (uint64_t at = sizeof header; at + sizeof(ChunkHeader) <= size;) {
    ChunkHeader chunk;
    if (!read_at(file, &chunk, sizeof chunk, at)) return 0;
    if (chunk.type == uint32_t(ChunkType::kEnd)) break;
    bool sound = chunk.capacity >= sizeof chunk && chunk.capacity % kChunkUnit == 0 &&
                 chunk.capacity <= size - at && chunk.used <= chunk.capacity - sizeof chunk;
    if (!sound) return 0;
    if (holds_records(chunk)) end = at + sizeof chunk + chunk.used;
    at += chunk.capacity;
  }
  return end;
}

uint64_t trim_file(int directory, const char* name) {
  int file = openat(directory, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return 0;
  struct stat status;
  uint64_t saved = 0;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
    uint64_t size = uint64_t(status.st_size), end = end_of_records(file, size);
    if (end && end < size && ftruncate(file, off_t(end)) == 0) saved = size - end;
  }
  close(file);
  return saved;
}

}  // namespace

uint64_t trim_agent_files(int directory) {
  int listing = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (listing < 0) return 0;
  std::unique_ptr<DIR, int (*)(DIR*)> entries(fdopendir(listing), closedir);
  uint64_t saved = 0;
  while (dirent* entry = entries ? readdir(entries.get()) : nullptr)
    if (std::string_view(entry->d_name).ends_with(kAgentSuffix)) saved += trim_file(directory, entry->d_name);
  return saved;
}

}  // namespace varve::record
