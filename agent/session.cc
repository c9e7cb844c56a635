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

constexpr long kNoSession = 1;

/// The address, or -errno; kNoSession where the file is too short.
long map_session_file(const char* path) {
  long fd = raw_syscall(__NR_open, as_arg(path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (failed(fd)) return fd;
  long size = raw_syscall(__NR_lseek, fd, 0, SEEK_END);
  long memory = failed(size) ? size : kNoSession;
  if (size >= long(kMappedBytes))
    memory = raw_syscall(__NR_mmap, 0, kMappedBytes, PROT_READ, MAP_SHARED, fd, 0);
  raw_syscall(__NR_close, fd);
  return memory;
}

}  // namespace

const char* find_variable(char* const* environment, const char* name) {
  size_t length = std::strlen(name);
  for (; environment && *environment; ++environment)
    if (!std::strncmp(*environment, name, length) && (*environment)[length] == '=')
      return *environment + length + 1;
  return nullptr;
}

long open_session(Session& session) {
  const char* directory = find_variable(environ, kSessionVariable);
  if (!directory || *directory != '/') return kNoSession;
  TextBuilder keep(session.directory, sizeof session.directory);
  char path[sizeof session.directory + sizeof format::kSessionFile + 1];
  TextBuilder full(path, sizeof path);
  full.add(directory).add("/").add(format::kSessionFile);
  if (keep.add(directory).overflowed() || full.overflowed()) return kNoSession;
  const long mapped = map_session_file(path);
  if (failed(mapped) || mapped == kNoSession) return mapped;
  const auto* memory = reinterpret_cast<const uint8_t*>(mapped);
  std::memcpy(&session.header, memory, sizeof session.header);
  session.control = reinterpret_cast<const format::ControlBlock*>(memory + format::kControlOffset);
  if (is_session_header(session.header)) return 0;
  raw_syscall(__NR_munmap, as_arg(memory), kMappedBytes);
  return kNoSession;
}

}  // namespace varve::agent
