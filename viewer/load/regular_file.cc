// SPDX-License-Identifier: MIT
// See regular_file.h.
// Context: viewer, any thread.
#include "viewer/load/regular_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace varve::load {
namespace {

constexpr off_t kManyBytes = 64 << 20;
/// What file systems that compress may save is far less.
constexpr off_t kMostBytesPerByte = 64;
constexpr off_t kBlock = 512;  // of st_blocks, whatever the file system's is

}  // namespace

int open_regular_file(const std::string& path, bool follow_links) {
  // Opening a device can do things; so its kind is looked at first, and again on what was opened.
  struct stat info;
  int status = follow_links ? ::stat(path.c_str(), &info) : ::lstat(path.c_str(), &info);
  if (status != 0) return -1;
  if (!S_ISREG(info.st_mode)) return errno = EINVAL, -1;
  int fd =
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (follow_links ? 0 : O_NOFOLLOW));
  if (fd < 0) return -1;
  if (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) return fd;
  ::close(fd);
  return errno = EINVAL, -1;
}

bool is_mostly_holes(const struct stat& info) {
  // Some file systems do not tell, and say 0.
  return info.st_size > kManyBytes && info.st_blocks != 0 &&
         off_t(info.st_blocks) * kBlock < info.st_size / kMostBytesPerByte;
}

}  // namespace varve::load
