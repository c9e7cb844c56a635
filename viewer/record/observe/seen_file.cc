// SPDX-License-Identifier: MIT
// See seen_file.h.
// Context: viewer.
#include "viewer/record/observe/seen_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>

#include "viewer/load/call_objects.h"
#include "viewer/load/waits.h"

namespace varve::record::observe {
namespace {

std::optional<int32_t> awaited_descriptor(const SyscallLook& call) {
  const load::CallObject what =
      load::object_of_call(int32_t(call.number), {call.arguments[0], call.arguments[1]});
  if (!format::is_descriptor(what.kind) || what.object == format::kNoDescriptor) return {};
  return int32_t(what.object & ~format::kToSend);
}

/// Both ends of a pipe have its inode, which lies in memory. Empty: not known.
std::string flow_of_pipe(const std::string& link) {
  struct stat status {};
  if (stat(link.c_str(), &status) != 0 || !S_ISFIFO(status.st_mode)) return "";
  return fmt::format("pipe {} {}", uint64_t(status.st_dev), uint64_t(status.st_ino));
}

}  // namespace

std::optional<SeenFile> awaited_file(pid_t process, pid_t thread, const SyscallLook& call) {
  const auto fd = awaited_descriptor(call);
  if (!fd || *fd < 0) return {};
  // Of the thread: a main thread that has ended has none.
  const std::string link = fmt::format("/proc/{}/task/{}/fd/{}", process, thread, *fd);
  std::array<char, PATH_MAX> name;
  const ssize_t size = readlink(link.c_str(), name.data(), name.size());
  if (size <= 0) return {};
  SeenFile file{*fd, std::string(name.data(), size_t(size)), ""};
  if (file.name.starts_with("socket:")) return {};
  if (load::is_pipe_name(file.name)) file.flow = flow_of_pipe(link);
  return file;
}

}  // namespace varve::record::observe
