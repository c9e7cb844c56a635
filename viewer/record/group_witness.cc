// SPDX-License-Identifier: MIT
// A child that is asked by a pair of sockets. See group_witness.h.
// Context: viewer.
#include "viewer/record/group_witness.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "viewer/record/clock.h"
#include "viewer/record/host_facts.h"
#include "viewer/record/process_tree.h"

namespace varve::record {
namespace {

constexpr char kName[] = "group-witness";
/// Signals of one number that are this close count as one for whoever gets them.
constexpr Nanos kAtOnce{kNanosPerMilli.count};
constexpr int kPatienceMs = 1000;

/// Who kills by name means the recorder, so the words of its command line go; this process has a copy of its
/// own.
void take_name() {
  prctl(PR_SET_NAME, kName);
  const std::string stat = small_file("/proc/self/stat");
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return;
  // Fields 48 and 49 of proc(5), counted from the state, which is the third.
  constexpr int kArgumentsBegin = 48 - 3;
  const char* at = stat.c_str() + name_end + 1;
  for (int i = 0; i < kArgumentsBegin && at; ++i) at = std::strchr(at + 1, ' ');
  if (!at) return;
  char* next = nullptr;
  const uint64_t begin = std::strtoull(at, &next, 10), end = std::strtoull(next, nullptr, 10);
  if (begin == 0 || end < begin + sizeof kName) return;
  char* arguments = reinterpret_cast<char*>(begin);
  std::memset(arguments, 0, end - begin);
  std::memcpy(arguments, kName, sizeof kName);
}

/// None of the descriptors that the recorder was started with: they are the command's.
void keep_only(int socket) {
  constexpr int kKept = 3;
  const int nothing = open("/dev/null", O_RDWR);
  for (int number = 0; number < kKept; ++number) dup2(nothing, number);
  dup2(socket, kKept);
  close_range(kKept + 1, ~0u, 0);
}

/// Until the recorder is gone.
[[noreturn]] void answer(int socket) {
  unsigned char number = 0;
  while (read(socket, &number, 1) == 1) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    const timespec at_once{};
    const char got = sigtimedwait(&set, nullptr, &at_once) == number;
    if (write(socket, &got, 1) != 1) break;
  }
  _exit(0);
}

}  // namespace

/// The kernel gives a signal to the youngest of a group first, so what has come to us has come to the
/// witness. To be made while the recorder has one thread.
GroupWitness::GroupWitness() {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) return;
  const pid_t recorder = getpid();
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  pid_ = pid_t(syscall(SYS_clone, 0, 0, 0, 0,
                       0));  // fork, but no child that wait(-1) finds: without a signal at its end
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != recorder) _exit(1);
    take_name();
    keep_only(sockets[1]);
    answer(3);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  close(sockets[1]);
  questions_ = sockets[0];
  leave_out(pid_);
}

GroupWitness::~GroupWitness() { end(); }

void GroupWitness::end() {
  if (questions_ >= 0) close(questions_);
  questions_ = -1;
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, __WCLONE);
  leave_out(-1);
  pid_ = -1;
}

/// One that does not answer, because somebody has stopped or killed it, is not asked again.
bool GroupWitness::answers(int number) {
  const auto question = static_cast<unsigned char>(number);
  char got = 0;
  pollfd ready{questions_, POLLIN, 0};
  const bool answered = send(questions_, &question, 1, MSG_NOSIGNAL) == 1 &&
                        poll(&ready, 1, kPatienceMs) == 1 && read(questions_, &got, 1) == 1;
  if (!answered) end();
  return answered && got;
}

bool GroupWitness::has_got(int number) {
  if (pid_ <= 0 || number <= 0 || number >= kSignals) return false;
  const Nanos now = clock_now(CLOCK_MONOTONIC);
  if (!answers(number)) return got_[size_t(number)].count && now - got_[size_t(number)] < kAtOnce;
  got_[size_t(number)] = now;
  return true;
}

}  // namespace varve::record
