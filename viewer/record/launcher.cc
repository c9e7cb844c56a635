// SPDX-License-Identifier: MIT
// fork, environment, exec; errors of exec come back through a pipe that a successful exec closes. See
// launcher.h. Context: viewer.
#include "viewer/record/launcher.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace varve::record {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> list;
  list.reserve(words.size() + 1);
  for (const std::string& word : words) list.push_back(const_cast<char*>(word.c_str()));
  list.push_back(nullptr);
  return list;
}

/// errno of the child's exec, or 0 when the pipe was closed by success.
int read_error(int descriptor) {
  int error = 0;
  ssize_t got;
  do got = read(descriptor, &error, sizeof error);
  while (got < 0 && errno == EINTR);
  return got == ssize_t(sizeof error) ? error : 0;
}

}  // namespace

InheritedSignals::InheritedSignals() {
  sigemptyset(&handled_);
  for (int number : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP,
                     SIGALRM, SIGPIPE, SIGXFSZ})
    sigaddset(&handled_, number);
  sigprocmask(SIG_BLOCK, &handled_, &mask_);
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &standard, &child_);
}

void InheritedSignals::restore() const {
  sigaction(SIGCHLD, &child_, nullptr);
  sigprocmask(SIG_SETMASK, &mask_, nullptr);
}

void guard_standard_descriptors() {
  for (int number = 0; number <= 2; ++number)
    if (fcntl(number, F_GETFD) < 0) {
      int opened = open("/dev/null", O_RDWR | O_CLOEXEC);  // the lowest free number: this one
      if (opened > number) close(opened);
    }
}

tl::expected<pid_t, int> launch(const Launch& command, const InheritedSignals& signals) {
  std::vector<char*> argv = pointers(command.argv), environment = pointers(command.environment);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return tl::unexpected(errno);
  pid_t child = fork();
  if (child == 0) {
    signals.restore();
    execvpe(argv[0], argv.data(), environment.data());
    int error = errno;
    ssize_t written = write(report[1], &error, sizeof error);
    _exit(written < 0 ? 127 : 126);
  }
  int error = child < 0 ? errno : 0;
  close(report[1]);
  if (child > 0) error = read_error(report[0]);
  close(report[0]);
  if (!error) return child;
  if (child > 0) waitpid(child, nullptr, 0);
  return tl::unexpected(error);
}

std::vector<std::string> target_environment(const std::vector<std::string>& preload,
                                            const std::string& session) {
  std::string list;
  for (const std::string& library : preload) list += (list.empty() ? "" : ":") + library;
  std::vector<std::string> environment;
  for (char** entry = environ; *entry; ++entry) {
    std::string_view text = *entry;
    if (text.starts_with("VARVE_SESSION=")) continue;
    if (text.starts_with("LD_PRELOAD=")) {
      std::string_view theirs = text.substr(sizeof "LD_PRELOAD=" - 1);
      if (!theirs.empty()) (list += ':') += theirs;
      continue;
    }
    environment.emplace_back(text);
  }
  environment.push_back("LD_PRELOAD=" + list);
  environment.push_back("VARVE_SESSION=" + session);
  return environment;
}

}  // namespace varve::record
