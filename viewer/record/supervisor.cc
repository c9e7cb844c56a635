// SPDX-License-Identifier: MIT
// The recorder's one loop. See supervisor.h.
// Context: viewer.
#include "viewer/record/supervisor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <string_view>

#include "common/process_usage.h"
#include "common/session_keys.h"
#include "viewer/record/clock.h"
#include "viewer/record/controlling_terminal.h"
#include "viewer/record/process_tree.h"

namespace varve::record {
namespace {

using format::ControlState;

/// Between looks for followed descendants once the command has ended.
constexpr Nanos kTreeLook{500 * kNanosPerMilli.count};
/// A command that makes a group of its own mostly does so when it begins, and nobody tells of it.
constexpr Nanos kGroupLook{100 * kNanosPerMilli.count};
constexpr int kGroupLooks = 10;
/// Without a followed process for this long there will be none; one that starts on a busy machine has longer.
constexpr Nanos kNoneFollowed{400 * kNanosPerMilli.count}, kLongestStart{2 * kNanosPerSecond.count};

bool sent_by_a_process(const signalfd_siginfo& info) {
  return info.ssi_code == SI_USER || info.ssi_code == SI_QUEUE || info.ssi_code == SI_TKILL;
}

/// Who stops now would stay stopped: the signal that ends it has come.
bool continued_meanwhile() {
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, SIGCONT) == 1;
}

/// As the terminal would: where nobody is there to make a job go on, the kernel lets it be.
void stop_by_terminal() {
  sigset_t stop, before;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  raise(SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &stop, &before);
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

/// Whether a shell in our session began us, which may make us go on.
bool has_job_control() { return getppid() > 0 && getsid(getppid()) == getsid(0); }

bool ends_programs(int number) {
  return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

class Supervisor {
 public:
  Supervisor(pid_t command, Nanos start, const SupervisorPlan& plan, const InheritedSignals& signals,
             GroupWitness& group, SessionWriter& session, PerfMapKeeper& perf_maps)
      : command_(command),
        start_(start),
        plan_(plan),
        inherited_(signals),
        session_(session),
        perf_maps_(perf_maps),
        group_(group) {
    signals_ = signalfd(-1, &signals.handled(), SFD_CLOEXEC | SFD_NONBLOCK);
    Nanos begin = start + plan.delay.value_or(Nanos{});
    if (plan.delay) begin_at_ = begin;
    if (plan.duration) stop_at_ = begin + *plan.duration;
    if (getpgrp() == getpid() && ControllingTerminal().has(getpgrp())) look_at_group_ = start + kGroupLook;
  }
  ~Supervisor() {
    if (signals_ >= 0) close(signals_);
  }
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  RunEnd run();

 private:
  bool over();
  void wait_for_something();
  void take_signals();
  void take_signal(const signalfd_siginfo& info);
  bool command_has_left() const;
  void pass_to_group(int number);
  bool give_terminal();
  void look_at_group(Nanos now);
  void relay(const signalfd_siginfo& info) const;
  void reap();
  void take_exit(pid_t process, int status, const rusage& usage);
  void mirror_stop(int number);
  void account_for_living(Nanos now);
  void keep_times();
  void stop(RunEnd::Stop why);
  bool followed_live();
  unsigned count_followed() const;

  pid_t command_;
  pid_t own_child_ = 0;  // of on_early_stop: 0 none
  Nanos start_;
  const SupervisorPlan& plan_;
  const InheritedSignals& inherited_;
  SessionWriter& session_;
  PerfMapKeeper& perf_maps_;
  GroupWitness& group_;
  int signals_ = -1;
  std::optional<Nanos> begin_at_, stop_at_, look_at_group_;
  int group_looks_ = 0;
  bool gave_terminal_ = false;
  bool command_ended_ = false;
  bool children_live_ = true;
  bool recording_ended_ = false;  // stop() was called
  bool said_descendants_ = false;
  std::optional<Nanos> followed_seen_;  // when a look last found followed processes; none: it found none
  std::optional<Nanos> none_followed_since_;
  Nanos last_exit_;
  RunEnd end_;
};

RunEnd Supervisor::run() {
  while (!over()) {
    wait_for_something();
    take_signals();
    reap();
    keep_times();
  }
  end_.all_ended = !children_live_;
  if (!recording_ended_) stop(RunEnd::Stop::kEnd);
  return end_;
}

/// The run is over when the command has ended and, if descendants are followed, none of those lives.
bool Supervisor::over() {
  if (!command_ended_) return false;
  if (!plan_.follow || !children_live_ || recording_ended_) return true;
  return !followed_live();
}

/// From an exec until the dynamic loader has mapped the agent a process looks as if it had none, so a look
/// without a followed process does not count by itself. One without an agent that sleeps for longer and then
/// becomes a program with one is not waited for.
bool Supervisor::followed_live() {
  const Nanos now = clock_now(CLOCK_MONOTONIC);
  // Each process that comes or goes wakes us, and a look reads the memory maps of all of them.
  if (followed_seen_ && now - *followed_seen_ < kTreeLook) return true;
  const std::vector<pid_t> all = descendants();
  const bool starting =
      std::ranges::any_of(all, is_busy);  // first: it may be followed, and asleep, a moment later
  const auto count = std::ranges::count_if(all, is_followed);
  if (count && !said_descendants_) {
    said_descendants_ = true;
    plan_.say(fmt::format("the command has ended, {} of its processes {}; recording until the end{}^C", count,
                          count == 1 ? "goes on" : "go on", stop_at_ ? ", --duration or " : " or "));
  }
  followed_seen_ = count ? std::optional(now) : std::nullopt;
  if (count)
    none_followed_since_.reset();
  else if (!none_followed_since_)
    none_followed_since_ = now;
  if (!none_followed_since_) return true;
  return now - *none_followed_since_ < (starting ? kLongestStart : kNoneFollowed);
}

unsigned Supervisor::count_followed() const {
  std::vector<pid_t> all = descendants();
  return unsigned(std::count_if(all.begin(), all.end(), is_followed));
}

void Supervisor::wait_for_something() {
  std::optional<Nanos> until;
  auto sooner = [&until](std::optional<Nanos> time) {
    if (time && (!until || *time < *until)) until = time;
  };
  Nanos now = clock_now(CLOCK_MONOTONIC);
  sooner(begin_at_);
  sooner(stop_at_);
  sooner(look_at_group_);
  // Without a descriptor for signals nobody would tell of the end of the command.
  if (command_ended_ || signals_ < 0) sooner(now + kTreeLook);
  timespec timeout{};
  if (until) {
    Nanos rest = saturating_sub(*until, now);
    timeout = {time_t(rest.count / kNanosPerSecond.count), long(rest.count % kNanosPerSecond.count)};
  }
  pollfd wake[] = {{signals_, POLLIN, 0}, {perf_maps_.descriptor(), POLLIN, 0}};
  if (ppoll(wake, 2, until ? &timeout : nullptr, nullptr) > 0 && (wake[1].revents & POLLIN))
    perf_maps_.look([this](const std::string& file, pid_t pid) {
      session_.text(session_key::kOutsidePid, fmt::format("{} {}", file, pid));
    });
}

void Supervisor::take_signals() {
  signalfd_siginfo info;
  while (read(signals_, &info, sizeof info) == ssize_t(sizeof info)) take_signal(info);
}

/// A key press in the terminal reaches the target by itself, which is in the same process group, and so does
/// what a process sent to that group; to one that has left it that is passed on. What a process sent to us
/// was meant for the command, unless the command sent it.
void Supervisor::take_signal(const signalfd_siginfo& info) {
  int number = int(info.ssi_signo);
  const bool ours = pid_t(info.ssi_pid) == getpid();  // of a write to where there is no reader, or no room
  const bool to_resume = number == SIGCONT && pid_t(info.ssi_pid) == group_.pid();
  if (number == SIGCHLD || to_resume || (ours && sent_by_a_process(info))) return;
  const SentSignal signal{number, info.ssi_code, int32_t(info.ssi_pid)};
  const bool to_group = group_.has_got(signal);
  if (to_group && getpgid(command_) == getpgrp() && !command_ended_) return;
  if (to_group && command_has_left() && !command_ended_) return pass_to_group(number);
  if (number == SIGTSTP && continued_meanwhile()) return;
  if (command_ended_) {
    if (ends_programs(number) && !inherited_.ignores(number)) stop(RunEnd::Stop::kInterrupt);
    if (number == SIGTSTP && !inherited_.ignores(number)) stop_by_terminal();
    return;
  }
  bool from_outside = sent_by_a_process(info) && pid_t(info.ssi_pid) != command_;
  // An alarm set before varve was started would have been the command's; a hang-up goes to the session's
  // leader alone.
  bool only_to_us = number == SIGALRM || (number == SIGHUP && getsid(0) == getpid());
  if (from_outside || only_to_us) relay(info);
}

/// The command has made a group of its own, as timeout(1) does. Where a shell made one for us that would have
/// been a call without effect: the command would be in the foreground still. In a session of its own it is
/// where it wants to be.
bool Supervisor::command_has_left() const {
  return getpgrp() == getpid() && getpgid(command_) == command_ && getsid(command_) == getsid(0);
}

/// What went to our group would have gone to the command's; where it is to go on in the foreground, it is put
/// there. Where no shell could make it go on, the kernel would have stopped nobody.
void Supervisor::pass_to_group(int number) {
  if (number == SIGTSTP && !has_job_control()) return;
  if (number == SIGCONT && ControllingTerminal().has(getpgrp())) give_terminal();
  kill(-command_, number);
}

/// With the value that it was queued with, where there is room in the queue.
void Supervisor::relay(const signalfd_siginfo& info) const {
  siginfo_t queued{};
  queued.si_signo = int(info.ssi_signo);
  queued.si_code = SI_QUEUE;
  queued.si_pid = pid_t(info.ssi_pid);
  queued.si_uid = info.ssi_uid;
  queued.si_ptr = reinterpret_cast<void*>(info.ssi_ptr);
  if (info.ssi_code != SI_QUEUE || syscall(SYS_rt_sigqueueinfo, command_, queued.si_signo, &queued) != 0)
    kill(command_, queued.si_signo);
}

void Supervisor::reap() {
  for (;;) {
    int status = 0;
    rusage usage{};
    pid_t process = wait4(-1, &status, WNOHANG | WUNTRACED, &usage);
    if (process < 0 && errno == EINTR) continue;
    if (process < 0) children_live_ = false;
    if (process <= 0) return;
    if (WIFSTOPPED(status)) {
      // One that asked its parent to trace it, so that no debugger can, waits at each signal for our word.
      if (is_traced_by_us(process))
        ptrace(PTRACE_DETACH, process, 0, WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status));
      else if (process == command_)
        mirror_stop(WSTOPSIG(status));
    } else if (process == own_child_) {
      end_.own_child_status = status;
    } else {
      take_exit(process, status, usage);
    }
  }
}

void Supervisor::take_exit(pid_t process, int status, const rusage& usage) {
  if (process == command_) {
    command_ended_ = true;
    end_.status = status;
    if (const ControllingTerminal terminal; gave_terminal_ && terminal.has(command_))
      terminal.give_to(getpgrp());
  }
  last_exit_ = clock_now(CLOCK_MONOTONIC);
  if (recording_ended_) return;  // its CPU time includes what was not to be recorded
  session_.process_exit(format::exit_record(process, status, usage, last_exit_.count));
}

/// What the kernel charges until now to those that go on: the run's CPU time is this and that of the reaped.
void Supervisor::account_for_living(Nanos now) {
  for (pid_t process : descendants()) {
    auto cpu = cpu_of(process);
    if (!cpu) continue;
    format::ProcessExitRecord record{};
    record.pid = process;
    record.status = format::kStatusRunning;
    record.user_ns = cpu->user.count;
    record.system_ns = cpu->system.count;
    record.time_ns = now.count;
    session_.process_exit(record);
  }
}

/// The shell sees only us, so where the terminal stopped the command (^Z, reading in the background) we stop
/// as well, and the shell shows its job as stopped. A SIGSTOP from elsewhere is nobody's job control, except
/// in the foreground, where programs that handle ^Z stop themselves like that.
void Supervisor::mirror_stop(int number) {
  const bool wants_terminal = number == SIGTTIN || number == SIGTTOU;
  const ControllingTerminal terminal;
  const bool foreground = terminal.has(getpgrp());
  if (wants_terminal && foreground && give_terminal()) {
    kill(-command_, SIGCONT);
  } else if (number == SIGTSTP && command_has_left() && !has_job_control()) {
    kill(-command_, SIGCONT);  // nobody could: bare, the kernel would not have stopped it
  } else if ((number == SIGTSTP || wants_terminal || foreground) && !continued_meanwhile()) {
    group_.resume_us_with(command_);
    raise(SIGSTOP);
  }
}

/// Not where others are in our group, the rest of a pipeline: they need the keys, too.
bool Supervisor::give_terminal() {
  const bool given = command_has_left() && is_alone_in_group() && ControllingTerminal().give_to(command_);
  gave_terminal_ |= given;
  return given;
}

/// What it started may have been stopped by the terminal meanwhile.
void Supervisor::look_at_group(Nanos now) {
  look_at_group_.reset();
  if (command_ended_ || !ControllingTerminal().has(getpgrp())) return;
  if (give_terminal())
    kill(-command_, SIGCONT);
  else if (++group_looks_ < kGroupLooks)
    look_at_group_ = now + kGroupLook;
}

void Supervisor::keep_times() {
  Nanos now = clock_now(CLOCK_MONOTONIC);
  if (look_at_group_ && now >= *look_at_group_) look_at_group(now);
  if (recording_ended_) return;
  if (begin_at_ && now >= *begin_at_) {
    begin_at_.reset();
    // What the user said meanwhile by varve pause or resume holds.
    session_.control().change({ControlState::kDelayed}, ControlState::kRecording, now);
  }
  if (stop_at_ && now >= *stop_at_) {
    stop(RunEnd::Stop::kDuration);
    own_child_ = plan_.on_early_stop();
  }
}

void Supervisor::stop(RunEnd::Stop why) {
  recording_ended_ = true;
  stop_at_.reset();
  Nanos now = clock_now(CLOCK_MONOTONIC);
  const auto going = {ControlState::kRecording, ControlState::kDelayed, ControlState::kPaused};
  end_.never_began = session_.control().change(going, ControlState::kStopped, now) == ControlState::kDelayed;
  end_.elapsed = (why == RunEnd::Stop::kEnd ? last_exit_ : now) - start_;
  end_.stop = why;
  if (why == RunEnd::Stop::kEnd) return;
  account_for_living(now);
  end_.still_running = count_followed();
  session_.text(session_key::kStopReason, why == RunEnd::Stop::kDuration ? "duration" : "interrupt");
  session_.text(session_key::kStopMonotonicNs, fmt::format("{}", now.count));
  session_.text(session_key::kStillRunning, fmt::format("{}", end_.still_running));
}

}  // namespace

RunEnd supervise(pid_t command, Nanos start, const SupervisorPlan& plan, const InheritedSignals& signals,
                 GroupWitness& group, SessionWriter& session, PerfMapKeeper& perf_maps) {
  return Supervisor(command, start, plan, signals, group, session, perf_maps).run();
}

}  // namespace varve::record
