// SPDX-License-Identifier: MIT
// See replaced_file.h.
// Context: viewer.
#include "viewer/load/replaced_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace varve::load {

ReplacedFile::ReplacedFile(std::string path)
    : path_(std::move(path)),
      temporary_(path_ + ".XXXXXX"),
      fd_(mkostemp(temporary_.data(), O_CLOEXEC)),
      error_(fd_ < 0 ? errno : 0) {}

ReplacedFile::~ReplacedFile() {
  if (fd_ < 0) return;
  close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void ReplacedFile::write(std::span<const uint8_t> bytes) {
  while (error_ == 0 && !bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      error_ = written < 0 ? errno : ENOSPC;
    else
      bytes = bytes.subspan(size_t(written));
  }
}

void ReplacedFile::write_header(const format::FileHeader& header) {
  std::vector<uint8_t> page(format::kPageSize);
  std::memcpy(page.data(), &header, sizeof header);
  write(page);
}

void ReplacedFile::write_chunk(uint32_t type, std::span<const uint8_t> rows) {
  format::ChunkHeader header{};
  header.type = type;
  header.version = 1;
  header.flags = format::kChunkSealed | format::kChunkArray;
  header.used = uint32_t(rows.size());
  const uint32_t room = format::round_up(header.used, format::kChunkUnit);
  header.capacity = uint32_t(sizeof header) + room;
  header.thread = format::kNoThread;
  header.sequence = chunks_++;
  header.checksum = XXH64(rows.data(), rows.size(), 0);
  write({reinterpret_cast<const uint8_t*>(&header), sizeof header});
  write(rows);
  write(std::vector<uint8_t>(room - rows.size()));
}

tl::expected<void, std::string> ReplacedFile::finish() {
  if (error_ == 0 && rename(temporary_.c_str(), path_.c_str()) != 0) error_ = errno;
  if (error_ != 0)
    return tl::unexpected(fmt::format("{} cannot be written: {}", path_, std::strerror(error_)));
  temporary_.clear();
  return {};
}

}  // namespace varve::load
