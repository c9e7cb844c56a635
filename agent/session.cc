// SPDX-License-Identifier: MIT
// See session.h.
// Context: agent start.
#include "agent/session.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "agent/signal/raw_syscall.h"
#include "agent/text.h"

namespace varve::agent {
namespace {

constexpr uint32_t kMappedBytes = 2 * format::kPageSize;
static_assert(format::kControlOffset + sizeof(format::ControlBlock) <= kMappedBytes);

bool is_session_header(const format::FileHeader& header) {
  return !std::memcmp(header.magic, format::kMagic, sizeof header.magic) && header.major == format::kMajor &&
         header.kind == uint16_t(format::FileKind::kSession) &&
         header.checksum == format::header_checksum(header);
}

const uint8_t* map_session_file(const char* path) {
  long fd = raw_syscall(__NR_open, as_arg(path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (failed(fd)) return nullptr;
  long size = raw_syscall(__NR_lseek, fd, 0, SEEK_END);
  long memory = -1;
  if (size >= long(kMappedBytes))
    memory = raw_syscall(__NR_mmap, 0, kMappedBytes, PROT_READ, MAP_SHARED, fd, 0);
  raw_syscall(__NR_close, fd);
  return failed(memory) ? nullptr : reinterpret_cast<const uint8_t*>(memory);
}

}  // namespace

const char* find_variable(char* const* environment, const char* name) {
  size_t length = std::strlen(name);
  for (; environment && *environment; ++environment)
    if (!std::strncmp(*environment, name, length) && (*environment)[length] == '=')
      return *environment + length + 1;
  return nullptr;
}

bool open_session(Session& session) {
  const char* directory = find_variable(environ, kSessionVariable);
  if (!directory || *directory != '/') return false;
  TextBuilder keep(session.directory, sizeof session.directory);
  char path[sizeof session.directory + sizeof format::kSessionFile + 1];
  TextBuilder full(path, sizeof path);
  full.add(directory).add("/").add(format::kSessionFile);
  if (keep.add(directory).overflowed() || full.overflowed()) return false;
  const uint8_t* memory = map_session_file(path);
  if (!memory) return false;
  std::memcpy(&session.header, memory, sizeof session.header);
  session.control = reinterpret_cast<const format::ControlBlock*>(memory + format::kControlOffset);
  if (is_session_header(session.header)) return true;
  raw_syscall(__NR_munmap, as_arg(memory), kMappedBytes);
  return false;
}

}  // namespace varve::agent
