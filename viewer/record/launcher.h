// SPDX-License-Identifier: MIT
// Launcher: starts the command as a shell would have, with two more environment variables. The target
// inherits exactly the descriptors, signal mask and dispositions that varve itself was given. Not what
// happens afterwards: that is the supervisor. Context: viewer.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <functional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace varve::record {

/// Signals as they were when varve began. The recorder blocks those that it relays and reads them from a
/// descriptor.
class InheritedSignals {
 public:
  /// Remembers, then blocks what the recorder handles, and makes SIGCHLD's disposition the default: a parent
  /// that ignores it would make the kernel reap our children for us.
  InheritedSignals();

  /// In the child, between fork and exec.
  void restore() const;

  const sigset_t& handled() const { return handled_; }
  /// Whether varve was begun with it ignored, as by nohup: it comes to the descriptor all the same.
  bool ignores(int number) const { return sigismember(&ignored_, number) == 1; }

 private:
  sigset_t mask_{};
  sigset_t handled_{};
  sigset_t ignored_{};
  struct sigaction child_ {};
};

struct Launch {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // "NAME=VALUE", whole
};

/// Forks and executes, searching PATH for a name without a slash. Returns the pid once exec has succeeded.
/// Between the two, while the child waits, `before_exec` is called with its pid; if that returns false the
/// child ends without a trace. The error is errno of exec or fork, or ECANCELED after that.
tl::expected<pid_t, int> launch(const Launch& command, const InheritedSignals& signals,
                                const std::function<bool(pid_t)>& before_exec = {});

/// The environment of this process with `preload` in front of LD_PRELOAD and VARVE_SESSION set to `session`.
std::vector<std::string> target_environment(const std::vector<std::string>& preload,
                                            const std::string& session);

}  // namespace varve::record
