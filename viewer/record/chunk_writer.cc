// SPDX-License-Identifier: MIT
// Headers and the order of stores that keeps a file valid. See chunk_writer.h.
// Context: viewer.
#include "viewer/record/chunk_writer.h"

#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "viewer/record/clock.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace varve::record {

using namespace format;

FileHeader make_file_header(FileKind kind) {
  FileHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.major = kMajor;
  header.minor = kMinor;
  header.byte_order = kByteOrder;
  header.kind = uint16_t(kind);
  if (getrandom(header.session_id, sizeof header.session_id, 0) < 0) {
    uint64_t seed[2] = {clock_now(CLOCK_REALTIME).count, uint64_t(getpid())};
    std::memcpy(header.session_id, seed, sizeof seed);
  }
  header.pid = getpid();
  header.ppid = getppid();
  header.start_realtime_ns = clock_now(CLOCK_REALTIME).count;
  header.start_monotonic_ns = clock_now(CLOCK_MONOTONIC).count;
  header.checksum = header_checksum(header);
  return header;
}

FileHeader make_file_header(FileKind kind, const FileHeader& session) {
  FileHeader header = make_file_header(kind);
  std::memcpy(header.session_id, session.session_id, sizeof header.session_id);
  header.checksum = header_checksum(header);
  return header;
}

ChunkHeader make_chunk_header(ChunkType type, size_t capacity, uint32_t sequence, Nanos first_time) {
  ChunkHeader chunk{};
  chunk.type = uint32_t(type);
  chunk.version = format::chunk_version(type);
  chunk.capacity = uint32_t(capacity);
  chunk.thread = kNoThread;
  chunk.sequence = sequence;
  chunk.first_time_ns = chunk.last_time_ns = first_time.count;
  return chunk;
}

bool write_at(int descriptor, const void* bytes, size_t size, uint64_t offset) {
  const char* next = static_cast<const char*>(bytes);
  while (size) {
    ssize_t written = pwrite(descriptor, next, size, off_t(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    next += written, size -= size_t(written), offset += size_t(written);
  }
  return true;
}

bool ChunkWriter::begin(ChunkType type, size_t capacity, Nanos first_time) {
  if (offset_ && !(commit({header_.last_time_ns}) && seal())) return false;
  ChunkHeader chunk = make_chunk_header(type, capacity, next_sequence_, first_time);
  std::vector<uint8_t> bytes(capacity);
  std::memcpy(bytes.data(), &chunk, sizeof chunk);
  if (!write_at(descriptor_, bytes.data(), bytes.size(), next_offset_)) return false;
  header_ = chunk;
  offset_ = next_offset_;
  next_offset_ += capacity;
  ++next_sequence_;
  records_.clear();
  return true;
}

bool ChunkWriter::fits(size_t bytes) const {
  return offset_ && sizeof(ChunkHeader) + records_.size() + bytes <= header_.capacity;
}

void ChunkWriter::append(const void* records, size_t size) {
  const auto* first = static_cast<const uint8_t*>(records);
  records_.insert(records_.end(), first, first + size);
}

/// `field` is one of header_: it goes to its place in the file.
template <typename Field>
bool ChunkWriter::write_field(const Field& field) {
  auto inside = uint64_t(reinterpret_cast<const char*>(&field) - reinterpret_cast<const char*>(&header_));
  return write_at(descriptor_, &field, sizeof field, offset_ + inside);
}

bool ChunkWriter::commit(Nanos last_time) {
  if (!offset_) return true;
  const bool more = records_.size() != header_.used;
  if (more && !write_at(descriptor_, records_.data() + header_.used, records_.size() - header_.used,
                        offset_ + sizeof header_ + header_.used))
    return false;
  header_.used = uint32_t(records_.size());
  const bool later = header_.last_time_ns != last_time.count;  // also where nothing happened until then
  header_.last_time_ns = last_time.count;
  return (!later || write_field(header_.last_time_ns)) && (!more || write_field(header_.used));
}

bool ChunkWriter::seal() {
  if (!offset_) return true;
  header_.checksum = XXH64(records_.data(), header_.used, 0);
  header_.flags |= kChunkSealed;
  // The checksum first: the flag says that it holds.
  return write_field(header_.checksum) && write_field(header_.flags);
}

uint64_t ChunkWriter::end_of_records() const { return offset_ ? offset_ + sizeof header_ + header_.used : 0; }

}  // namespace varve::record
