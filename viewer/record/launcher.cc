// SPDX-License-Identifier: MIT
// fork, a wait for the go-ahead, exec; errors of exec come back through a pipe that a successful exec closes.
// See launcher.h. Context: viewer.
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

/// The number that the other side of a pipe writes, `closed` when it is closed without, or `failed` with
/// errno.
int read_number(int descriptor, int closed, int failed) {
  int number = 0;
  ssize_t got;
  do got = read(descriptor, &number, sizeof number);
  while (got < 0 && errno == EINTR);
  if (got < 0) return failed;
  return got == ssize_t(sizeof number) ? number : closed;
}

/// Both ends of a pipe, closed on exec and at the end of the scope.
struct Pipe {
  int ends[2] = {-1, -1};

  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() { close_end(0), close_end(1); }

  bool open() { return pipe2(ends, O_CLOEXEC) == 0; }
  void close_end(int which) {
    if (ends[which] >= 0) close(ends[which]);
    ends[which] = -1;
  }
  bool send(int number) const { return write(ends[1], &number, sizeof number) == ssize_t(sizeof number); }
};

/// In the child. The recorder says go, or nothing where it gives up or was killed.
[[noreturn]] void execute(const Launch& command, const InheritedSignals& signals, Pipe& go, Pipe& report) {
  constexpr int kGiveUp = 0, kUnread = -1;
  std::vector<char*> argv = pointers(command.argv), environment = pointers(command.environment);
  go.close_end(1);
  const int word = read_number(go.ends[0], kGiveUp, kUnread);
  if (word == kUnread) _exit(report.send(errno) ? 126 : 127);
  if (word == kGiveUp) _exit(0);
  signals.restore();
  execvpe(argv[0], argv.data(), environment.data());
  _exit(report.send(errno) ? 126 : 127);
}

}  // namespace

/// All but what faults raise, and what stops a program that uses its terminal from the background: those are
/// about this process. (abort() unblocks its signal.)
InheritedSignals::InheritedSignals() {
  sigfillset(&handled_);
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGTTIN, SIGTTOU})
    sigdelset(&handled_, number);
  sigprocmask(SIG_BLOCK, &handled_, &mask_);
  sigemptyset(&ignored_);
  struct sigaction action {};
  for (int number = 1; number < NSIG; ++number)
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN)
      sigaddset(&ignored_, number);
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &standard, &child_);
}

void InheritedSignals::restore() const {
  sigaction(SIGCHLD, &child_, nullptr);
  sigprocmask(SIG_SETMASK, &mask_, nullptr);
}

tl::expected<pid_t, int> launch(const Launch& command, const InheritedSignals& signals,
                                const std::function<bool(pid_t)>& before_exec) {
  Pipe go, report;
  if (!go.open() || !report.open()) return tl::unexpected(errno);
  pid_t child = fork();
  if (child < 0) return tl::unexpected(errno);
  if (child == 0) execute(command, signals, go, report);
  int error = before_exec && !before_exec(child) ? ECANCELED : 0;
  report.close_end(1);
  if (!error) error = go.send(1) ? read_number(report.ends[0], 0, 0) : errno;
  go.close_end(1);
  if (!error) return child;
  waitpid(child, nullptr, 0);
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
