// SPDX-License-Identifier: MIT
// Small files of /proc, read into a buffer of the caller's, without allocation: the observer reads thousands
// a second. What is in them is proc_text.h.
// Context: viewer, any thread.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>
#include <string_view>

namespace varve::record::observe {

/// Text of a file, in the caller's buffer, or why there is none.
struct ProcRead {
  std::string_view text;
  int error = 0;  // errno; ENOENT and ESRCH: the thread has ended

  bool gone() const { return error == ENOENT || error == ESRCH; }
};

/// From the begin of an open file.
inline ProcRead read_open(int descriptor, std::span<char> buffer) {
  ssize_t got = pread(descriptor, buffer.data(), buffer.size(), 0);
  if (got < 0) return {{}, errno};
  return {{buffer.data(), size_t(got)}, 0};
}

inline ProcRead read_path(const char* path, std::span<char> buffer) {
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {{}, errno};
  ProcRead read = read_open(descriptor, buffer);
  close(descriptor);
  return read;
}

/// "/proc/PID/task/TID/NAME"
class TaskPath {
 public:
  TaskPath(pid_t process, pid_t thread, std::string_view name) {
    auto end = fmt::format_to_n(text_.data(), text_.size() - 1, "/proc/{}/task/{}/{}", process, thread, name);
    *end.out = '\0';
  }
  const char* c_str() const { return text_.data(); }

 private:
  std::array<char, 64> text_;
};

inline ProcRead read_task(pid_t process, pid_t thread, std::string_view name, std::span<char> buffer) {
  return read_path(TaskPath(process, thread, name).c_str(), buffer);
}

}  // namespace varve::record::observe
