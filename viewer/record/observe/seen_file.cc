// SPDX-License-Identifier: MIT
// See seen_file.h.
// Context: viewer.
#include "viewer/record/observe/seen_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <climits>

#include "viewer/load/call_objects.h"

namespace varve::record::observe {
namespace {

std::optional<int32_t> awaited_descriptor(const SyscallLook& call) {
  const load::CallObject what =
      load::object_of_call(int32_t(call.number), {call.arguments[0], call.arguments[1]});
  if (!format::is_descriptor(what.kind) || what.object == format::kNoDescriptor) return {};
  return int32_t(what.object & ~format::kToSend);
}

/// Type, device and inode of what a link leads to, as far as the kernel has them: a server that does not
/// answer, or a process that is its own file system, must not be waited for. False: not known.
bool look_at(const std::string& link, struct statx& status) {
  return statx(AT_FDCWD, link.c_str(), AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, &status) == 0;
}

/// Both ends of a pipe have its inode.
std::string flow_of_pipe(const struct statx& status) {
  return fmt::format("pipe {} {}", makedev(status.stx_dev_major, status.stx_dev_minor), status.stx_ino);
}

}  // namespace

std::optional<SeenFile> awaited_file(pid_t process, const SyscallLook& call) {
  const auto fd = awaited_descriptor(call);
  if (!fd || *fd < 0) return {};
  const std::string link = fmt::format("/proc/{}/fd/{}", process, *fd);
  std::array<char, PATH_MAX> name;
  const ssize_t size = readlink(link.c_str(), name.data(), name.size());
  if (size <= 0) return {};
  SeenFile file{*fd, std::string(name.data(), size_t(size)), ""};
  struct statx status {};
  if (!look_at(link, status)) return {};
  if (S_ISSOCK(status.stx_mode)) file.name.clear();
  if (S_ISFIFO(status.stx_mode)) file.flow = flow_of_pipe(status);
  return file;
}

}  // namespace varve::record::observe
