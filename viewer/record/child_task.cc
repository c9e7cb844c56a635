// SPDX-License-Identifier: MIT
// fork, a pipe, and a wait for exactly this child. See child_task.h.
// Context: viewer.
#include "viewer/record/child_task.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

namespace varve::record {
namespace {

constexpr int kExitOne = 1 << 8;  // as wait status

void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // the parent is gone
    bytes.remove_prefix(size_t(written));
  }
}

}  // namespace

ChildTask::ChildTask(const std::function<void(const Send&)>& work) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    status_ = kExitOne;
    return;
  }
  std::fflush(nullptr);  // or the child writes it once more
  pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    close(ends[0]);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    work([out = ends[1]](std::string_view bytes) { write_all(out, bytes); });
    std::fflush(nullptr);
    _exit(0);
  }
  close(ends[1]);
  pipe_ = ends[0];
  if (pid_ < 0) status_ = kExitOne;
}

ChildTask::~ChildTask() {
  if (!status_) kill(pid_, SIGKILL);
  reap();
  if (pipe_ >= 0) close(pipe_);
}

bool ChildTask::ended_within(int milliseconds) {
  while (pipe_ >= 0) {
    pollfd ready{pipe_, POLLIN, 0};
    if (poll(&ready, 1, milliseconds) <= 0) return false;
    char bytes[4096];
    ssize_t got = read(pipe_, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got > 0) {
      received_.append(bytes, size_t(got));
      continue;
    }
    close(pipe_);  // only the child's end closes the other side
    pipe_ = -1;
  }
  reap();
  return true;
}

void ChildTask::reap() {
  int status = 0;
  while (!status_) {
    pid_t got = waitpid(pid_, &status, 0);
    if (got == pid_ || errno != EINTR) status_ = got == pid_ ? status : 0;
  }
}

}  // namespace varve::record
