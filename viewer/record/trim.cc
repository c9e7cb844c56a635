// SPDX-License-Identifier: MIT
// Finds the chunks of a file by stepping over them, and cuts behind the last record; where chunks have much
// unused space between them, moves them together: in a page of the file, or in a new one. See trim.h.
// Context: viewer.
#include "viewer/record/trim.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/file_format.h"
#include "viewer/load/replaced_file.h"

namespace varve::record {
namespace {

using namespace format;

/// Chunks are moved together where that saves such a part of a file, and at least one block of the disk.
constexpr uint64_t kWorthPart = 16;

bool read_at(int file, void* bytes, size_t size, uint64_t offset) {
  return pread(file, bytes, size, off_t(offset)) == ssize_t(size);
}

/// A chunk with records, and where it is.
struct Piece {
  ChunkHeader header;
  uint64_t at;

  uint32_t bytes() const { return uint32_t(sizeof header) + header.used; }
  uint32_t packed() const { return round_up(bytes(), kChunkUnit); }
};

struct Layout {
  FileHeader header;
  uint64_t size = 0;  // of the file
  std::vector<Piece> pieces;
  bool beyond = false;  // the last chunk says a capacity beyond the file's end: one that was cut, or damaged

  uint64_t end() const { return pieces.empty() ? sizeof header : pieces.back().at + pieces.back().bytes(); }
  uint64_t packed_end() const {
    uint64_t end = sizeof header;
    for (const Piece& piece : pieces) end += piece.packed();
    return end;
  }
};

bool holds_records(const ChunkHeader& chunk) {
  return chunk.type != uint32_t(ChunkType::kFree) && chunk.used != 0;
}

/// Nothing if anything looks unlike a file of ours, which is then left alone.
std::optional<Layout> layout_of(int file, uint64_t size) {
  Layout layout;
  layout.size = size;
  if (!read_at(file, &layout.header, sizeof layout.header, 0) ||
      std::memcmp(layout.header.magic, kMagic, sizeof kMagic) != 0)
    return {};
  for (uint64_t at = sizeof layout.header; at + sizeof(ChunkHeader) <= size;) {
    Piece piece{{}, at};
    const ChunkHeader& chunk = piece.header;
    if (!read_at(file, &piece.header, sizeof chunk, at)) return {};
    if (chunk.type == uint32_t(ChunkType::kEnd)) break;
    layout.beyond = chunk.capacity > size - at;
    const bool sound = chunk.capacity >= sizeof chunk && chunk.capacity % kChunkUnit == 0 &&
                       chunk.used <= std::min<uint64_t>(chunk.capacity, size - at) - sizeof chunk;
    if (!sound) return {};
    if (holds_records(chunk)) layout.pieces.push_back(piece);
    at += chunk.capacity;
  }
  return layout;
}

bool worth_packing(const Layout& layout) {
  const auto blocks = [](uint64_t bytes) { return (bytes + kPageSize - 1) / kPageSize; };
  const uint64_t end = layout.end(), packed = layout.packed_end();
  return blocks(packed) < blocks(end) && (end - packed) * kWorthPart >= end;
}

void cut(int file, uint64_t end) {
  if (ftruncate(file, off_t(end)) != 0) return;  // it stays as long as it was
}

/// Calls write(bytes) for the header and each chunk, as they are without space between them. False: a chunk
/// could not be read.
template <typename Write>
bool write_packed(int file, const Layout& layout, Write write) {
  write(std::span(reinterpret_cast<const uint8_t*>(&layout.header), sizeof layout.header));
  std::vector<uint8_t> bytes;
  for (const Piece& piece : layout.pieces) {
    bytes.assign(&piece == &layout.pieces.back() ? piece.bytes() : piece.packed(), 0);
    if (!read_at(file, bytes.data(), piece.bytes(), piece.at)) return false;
    reinterpret_cast<ChunkHeader*>(bytes.data())->capacity = piece.packed();
    write(std::span<const uint8_t>(bytes));
  }
  return true;
}

/// Most processes are short, and their records fit into a page. A page is written whole or not at all,
/// whatever ends the recorder meanwhile. A new file for each would cost as much as the agent's: where
/// thousands were removed just now, the file system looks at all their numbers before it takes one.
bool fits_into_page(const Layout& layout) {
  const uint64_t end = layout.packed_end();
  return end + kChunkUnit <= kPageSize && layout.size % kChunkUnit == 0 && layout.size - end <= UINT32_MAX;
}

/// The chunks as they were are behind the page until the file is cut. This one is of all that, and says that
/// it is full: in what a chunk has not used a reader looks for others.
ChunkHeader rest_of(const Layout& layout) {
  ChunkHeader rest{};
  rest.type = uint32_t(ChunkType::kFree);
  rest.version = chunk_version(ChunkType::kFree);
  rest.capacity = uint32_t(layout.size - layout.packed_end());
  rest.used = rest.capacity - uint32_t(sizeof rest);
  rest.thread = kNoThread;
  return rest;
}

/// False: the file is as it was.
bool pack_in_place(int file, const Layout& layout) {
  std::vector<uint8_t> page;
  const auto append = [&page](std::span<const uint8_t> bytes) {
    page.insert(page.end(), bytes.begin(), bytes.end());
  };
  if (!write_packed(file, layout, append)) return false;
  const size_t end = page.size();
  page.resize(kPageSize);
  const ChunkHeader rest = rest_of(layout);
  std::memcpy(page.data() + layout.packed_end(), &rest, sizeof rest);
  if (pwrite(file, page.data(), page.size(), 0) != ssize_t(page.size())) return false;
  cut(file, end);
  return true;
}

/// As a file that takes the place of this one. False: there was no room for it, and the file is as it was.
bool pack_anew(int file, const Layout& layout, const std::string& path) {
  load::ReplacedFile packed(path);
  return write_packed(file, layout, [&packed](std::span<const uint8_t> bytes) { packed.write(bytes); }) &&
         packed.finish().has_value();
}

bool pack(int file, const Layout& layout, const std::string& path) {
  return fits_into_page(layout) ? pack_in_place(file, layout) : pack_anew(file, layout, path);
}

void shorten(int file, const Layout& layout, const std::string& path, Trim trim) {
  if (layout.beyond) return;  // cut already, or not ours to judge
  if (trim == Trim::kAll && worth_packing(layout) && pack(file, layout, path)) return;
  cut(file, layout.end());
}

/// Calls `use` with the file's descriptor, good until it returns, and its layout, if it has one.
template <typename Use>
void with_layout(int directory, const std::string& name, int access, Use use) {
  const int file = openat(directory, name.c_str(), access | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return;
  struct stat status;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode))
    if (const auto layout = layout_of(file, uint64_t(status.st_size))) use(file, *layout);
  close(file);
}

/// All of them before the first is replaced: what a listing says of a new name is not told.
std::vector<std::string> agent_files(int directory) {
  std::vector<std::string> names;
  int listing = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (listing < 0) return names;
  std::unique_ptr<DIR, int (*)(DIR*)> entries(fdopendir(listing), closedir);
  while (dirent* entry = entries ? readdir(entries.get()) : nullptr)
    if (std::string_view(entry->d_name).ends_with(kAgentSuffix)) names.emplace_back(entry->d_name);
  return names;
}

}  // namespace

void trim_agent_files(int directory, Trim trim) {
  for (const std::string& name : agent_files(directory))
    with_layout(directory, name, O_RDWR, [&](int file, const Layout& layout) {
      shorten(file, layout, fmt::format("/proc/self/fd/{}/{}", directory, name), trim);
    });
}

std::vector<load::FileLength> file_lengths(int directory) {
  std::vector<load::FileLength> lengths;
  for (const std::string& name : agent_files(directory))
    with_layout(directory, name, O_RDONLY, [&](int, const Layout& layout) {
      lengths.push_back({name, layout.end()});
    });
  struct stat observer;  // nobody writes to it any more
  if (fstatat(directory, kObserverFile, &observer, AT_SYMLINK_NOFOLLOW) == 0)
    lengths.push_back({kObserverFile, uint64_t(observer.st_size)});
  return lengths;
}

}  // namespace varve::record
