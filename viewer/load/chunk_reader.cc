// SPDX-License-Identifier: MIT
// Header check, chunk walk and checksum of a profile's files. Not an interpreter of records.
// Context: viewer, any thread.
#include "viewer/load/chunk_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace varve::load {
namespace {

using format::ChunkHeader;
using format::ChunkType;
using format::FileHeader;
using format::kChunkUnit;

template <typename T>
std::span<uint8_t> bytes_of(T& object) {
  return {reinterpret_cast<uint8_t*>(&object), sizeof object};
}

/// The four letters of a type, or its number where they are no letters.
std::string type_name(uint32_t type) {
  std::string name;
  for (int shift = 0; shift < 32; shift += 8) name += char(type >> shift & 0xff);
  bool letters = std::ranges::all_of(name, [](char c) { return c >= 'A' && c <= 'Z'; });
  return letters ? name : fmt::format("{:#x}", type);
}

/// Space that was allocated for the file, with no chunk begun in it yet.
bool unused(const ChunkHeader& header) {
  return header.type == 0 && header.capacity == 0 && header.used == 0;
}

bool can_step(const ChunkHeader& header) { return header.capacity != 0 && header.capacity % kChunkUnit == 0; }

bool known_type(uint32_t type) {
  using format::ChunkType;
  static constexpr std::array kKnown = {ChunkType::kFree,      ChunkType::kSchema,  ChunkType::kControl,
                                        ChunkType::kSession,   ChunkType::kProcess, ChunkType::kModules,
                                        ChunkType::kThreads,   ChunkType::kSamples, ChunkType::kStrings,
                                        ChunkType::kRunStates, ChunkType::kMarks};
  return std::ranges::find(kKnown, ChunkType(type)) != kKnown.end();
}

bool read_chunk_header(const File& file, uint64_t offset, ChunkHeader& header) {
  return file.read(offset, bytes_of(header)) == sizeof header;
}

bool looks_like_chunk(const ChunkHeader& header) {
  return can_step(header) && known_type(header.type) && header.used <= header.capacity - sizeof header;
}

/// The first offset in [offset, end), in steps of a chunk's unit, at which a header is as wanted, else `end`.
/// The file is read a page at a time: mostly there is nothing.
template <typename Wanted>
uint64_t find_header(const File& file, uint64_t offset, uint64_t end, Wanted wanted) {
  std::array<ChunkHeader, format::kPageSize / sizeof(ChunkHeader)> page;
  static_assert(sizeof(ChunkHeader) == kChunkUnit);
  while (offset < end) {
    size_t got = file.read(offset, bytes_of(page)) / sizeof(ChunkHeader);
    for (size_t i = 0; i < got && offset < end; ++i, offset += kChunkUnit)
      if (wanted(page[i])) return offset;
    if (got < page.size()) break;
  }
  return end;
}

/// Where the next chunk begins. What a chunk has not used is zero; a chunk header in it says that its
/// capacity is wrong.
uint64_t step(const File& file, const std::string& name, const Chunk& chunk, std::vector<Damage>& damages) {
  uint64_t used = (sizeof chunk.header + chunk.readable + kChunkUnit - 1) / kChunkUnit * kChunkUnit;
  uint64_t end = chunk.offset + chunk.header.capacity;
  uint64_t next = find_header(file, chunk.offset + used, end, looks_like_chunk);
  if (next != end)
    damages.push_back(chunk_damage(name, chunk, "has the wrong size: another begins within it", 0));
  return next;
}

Chunk make_chunk(const ChunkHeader& header, uint64_t offset, uint32_t number, uint64_t file_size) {
  uint64_t within_file = file_size - offset - sizeof header;
  uint64_t within_chunk = header.capacity - sizeof header;
  uint64_t readable = std::min({uint64_t(header.used), within_chunk, within_file});
  return {header, offset, number, uint32_t(readable)};
}

void report_short_chunk(const std::string& name, const Chunk& chunk, std::vector<Damage>& damages) {
  if (chunk.header.used <= chunk.readable) return;
  bool overfull = chunk.header.used > chunk.header.capacity - sizeof(ChunkHeader);
  auto clause = overfull ? "says that it holds more than fits into it" : "is cut off by the end of the file";
  damages.push_back(chunk_damage(name, chunk, clause, overfull ? 0 : chunk.header.used - chunk.readable));
}

/// Whether this reader knows what is in a chunk. A type it does not know comes from a newer minor version,
/// and then is no damage.
bool can_use(const Chunk& chunk, const std::string& name, const FileHeader& file,
             std::vector<Damage>& damages) {
  bool newer = file.minor > format::kMinor;
  if (!known_type(chunk.header.type)) {
    if (!newer) damages.push_back(chunk_damage(name, chunk, "is of an unknown type", chunk.readable));
    return false;
  }
  if (chunk.header.version <= format::chunk_version(ChunkType(chunk.header.type))) return true;
  damages.push_back(chunk_damage(name, chunk, "was written by a newer varve", chunk.readable));
  return false;
}

}  // namespace

tl::expected<FileHeader, std::string> read_file_header(const File& file, format::FileKind kind) {
  FileHeader header;
  size_t got = file.read(0, bytes_of(header));
  if (got == 0) return tl::unexpected(std::string("is empty"));
  bool foreign = std::memcmp(header.magic, format::kMagic, std::min(got, sizeof header.magic)) != 0;
  if (foreign) return tl::unexpected(std::string("is not a file of a varve profile"));
  if (got < sizeof header) return tl::unexpected(std::string("ends inside its header"));
  if (header.byte_order != format::kByteOrder)
    return tl::unexpected(std::string("was written with another byte order or is damaged in its header"));
  if (header.major != format::kMajor)
    return tl::unexpected(
        fmt::format("has format version {}.{}, and this varve reads version {}: use {}", header.major,
                    header.minor, format::kMajor,
                    header.major > format::kMajor ? "a newer varve" : "the older varve that recorded it"));
  if (header.checksum != format::header_checksum(header))
    return tl::unexpected(std::string("is damaged: its header fails its checksum"));
  if (header.kind != uint16_t(kind))
    return tl::unexpected(std::string("holds another kind of data than its name says"));
  return header;
}

Damage chunk_damage(const std::string& name, const Chunk& chunk, std::string_view clause, uint64_t bytes) {
  return {name, fmt::format("chunk {} ({}) {}", chunk.number, type_name(chunk.header.type), clause), bytes};
}

std::vector<Chunk> list_chunks(const File& file, const std::string& name, const FileHeader& file_header,
                               std::vector<Damage>& damages) {
  std::vector<Chunk> chunks;
  uint32_t number = 0;
  uint64_t offset = sizeof file_header;
  while (offset + sizeof(ChunkHeader) <= file.size()) {
    ChunkHeader header;
    if (!read_chunk_header(file, offset, header)) {
      damages.push_back({name, "became shorter while it was read", file.size() - offset});
      break;
    }
    if (unused(header)) {
      offset = find_header(file, offset + kChunkUnit, file.size(), std::not_fn(unused));
      continue;
    }
    if (!can_step(header)) {
      uint64_t next = find_header(file, offset + kChunkUnit, file.size(), looks_like_chunk);
      damages.push_back(
          {name, fmt::format("has no chunk where one must begin, at byte {}", offset), next - offset});
      offset = next;
      continue;
    }
    Chunk chunk = make_chunk(header, offset, number++, file.size());
    report_short_chunk(name, chunk, damages);
    if (can_use(chunk, name, file_header, damages)) chunks.push_back(chunk);
    offset = step(file, name, chunk, damages);
  }
  if (offset < file.size())
    damages.push_back({name, "ends inside the header of a chunk", file.size() - offset});
  if (number == 0) damages.push_back({name, "holds no chunk", 0});
  return chunks;
}

tl::expected<ByteView, std::string> read_chunk(const File& file, const Chunk& chunk,
                                               std::vector<uint8_t>& buffer) {
  buffer.resize(chunk.readable);
  size_t got = file.read(chunk.offset + sizeof(ChunkHeader), buffer);
  if (got < buffer.size()) return tl::unexpected(std::string("became shorter while it was read"));
  // The checksum covers all `used` bytes; of a chunk that is cut off, the records before the cut are still
  // good.
  bool overfull = chunk.header.used > chunk.header.capacity - sizeof(ChunkHeader);
  bool whole = chunk.readable == chunk.header.used;
  if (chunk.sealed() &&
      (overfull || (whole && XXH64(buffer.data(), buffer.size(), 0) != chunk.header.checksum)))
    return tl::unexpected(std::string("fails its checksum"));
  return ByteView(buffer);
}

void read_records(const File& file, const std::string& name, const Chunk& chunk, std::vector<Damage>& damages,
                  const UseRecord& use) {
  std::vector<uint8_t> buffer;
  auto records = read_chunk(file, chunk, buffer);
  if (!records) {
    damages.push_back(chunk_damage(name, chunk, records.error(), chunk.readable));
    return;
  }
  RecordStream stream(*records);
  while (!stream.empty()) {
    size_t before = stream.bytes_left();
    try {
      auto header = stream.peek();
      use(header, stream.next());
    } catch (const ParseError& error) {
      bool stuck = stream.bytes_left() == before;
      damages.push_back(
          chunk_damage(name, chunk, error.what(), stuck ? before : before - stream.bytes_left()));
      if (stuck) return;
    }
  }
}

}  // namespace varve::load
