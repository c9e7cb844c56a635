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

tl::expected<void, std::string> ReplacedFile::finish() {
  if (error_ == 0 && rename(temporary_.c_str(), path_.c_str()) != 0) error_ = errno;
  if (error_ != 0)
    return tl::unexpected(fmt::format("{} cannot be written: {}", path_, std::strerror(error_)));
  temporary_.clear();
  return {};
}

}  // namespace varve::load
