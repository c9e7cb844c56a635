// SPDX-License-Identifier: MIT
// ControllingTerminal: which process group is in the foreground of the terminal that controls this process.
// Context: viewer.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

namespace varve::record {

class ControllingTerminal {
 public:
  ControllingTerminal() : descriptor_(open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY)) {}
  ~ControllingTerminal() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  ControllingTerminal(const ControllingTerminal&) = delete;
  ControllingTerminal& operator=(const ControllingTerminal&) = delete;

  /// Whether the group is in its foreground; false where there is no terminal.
  bool has(pid_t group) const { return descriptor_ >= 0 && tcgetpgrp(descriptor_) == group; }

  /// Puts the group there; from the background, too, where the kernel asks by a signal whether that is meant.
  bool give_to(pid_t group) const {
    sigset_t asked, before;
    sigemptyset(&asked);
    sigaddset(&asked, SIGTTOU);
    sigprocmask(SIG_BLOCK, &asked, &before);
    const bool given = descriptor_ >= 0 && tcsetpgrp(descriptor_, group) == 0;
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return given;
  }

 private:
  const int descriptor_;
};

}  // namespace varve::record
