// SPDX-License-Identifier: MIT
// Sleeper: a child process to look at. Context: tests.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "viewer/record/observe/wait_look.h"

namespace varve::test {

using record::observe::look_at_wait;
using record::observe::WaitLook;

inline bool nobody(pid_t) { return false; }

/// A child of the test that sleeps, with a look at it that is settled by what comes after.
struct Sleeper {
  pid_t pid = fork();
  Sleeper() {
    if (pid == 0) {
      sleep(60);
      _exit(0);
    }
    while (look_at_wait(pid, pid, nobody).kind != WaitKind::kSleep) usleep(1000);
  }
  ~Sleeper() {
    if (pid > 0) end();
  }
  void end() {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    pid = -1;
  }
};

}  // namespace varve::test
