// SPDX-License-Identifier: MIT
// ChildTask: work that may crash, done in a forked child, which sends what it found through a pipe. Made for
// libraries that read files of strangers: their crash must not be the recorder's. Not for threads' company:
// the process that forks has only one. Context: viewer.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace varve::record {

class ChildTask {
 public:
  using Send = std::function<void(std::string_view bytes)>;

  /// Forks; `work` runs in the child, which ends with exit code 0 when it returns, and by SIGKILL when this
  /// process ends first. Where fork fails the task has ended at once, as if by exit code 1.
  explicit ChildTask(const std::function<void(const Send&)>& work);
  /// Kills the child if it has not ended.
  ~ChildTask();
  ChildTask(const ChildTask&) = delete;
  ChildTask& operator=(const ChildTask&) = delete;

  pid_t pid() const { return pid_; }
  /// Takes what was sent, and waits so long for more or the end. True once the child has ended.
  bool ended_within(int milliseconds);
  /// For a parent that reaps any child: this one was reaped, with this wait status.
  void reaped(int status) { status_ = status; }

  /// Once it has ended: its wait status, and all that it sent, even if it crashed after that.
  int status() const { return status_.value_or(0); }
  const std::string& received() const { return received_; }

 private:
  void reap();

  pid_t pid_ = -1;
  int pipe_ = -1;
  std::optional<int> status_;
  std::string received_;
};

}  // namespace varve::record
