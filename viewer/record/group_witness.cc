// SPDX-License-Identifier: MIT
// A child that is asked by pipes. See group_witness.h.
// Context: viewer.
#include "viewer/record/group_witness.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "viewer/record/clock.h"
#include "viewer/record/descriptors.h"
#include "viewer/record/host_facts.h"
#include "viewer/record/process_tree.h"

namespace varve::record {
namespace {

constexpr char kName[] = "group-witness";

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

/// None of the descriptors of the recorder and the command but these.
void keep_only(int first, int second) {
  const int nothing = open("/dev/null", O_RDWR);
  for (const int number : open_descriptors())
    if (number <= STDERR_FILENO)
      dup2(nothing, number);
    else if (number != first && number != second)
      close(number);
}

/// Number 0: none; the recorder is about to stop until the process that `signal` names is no longer stopped.
struct Question {
  uint32_t id;
  SentSignal signal;
};

struct WitnessAnswer {
  uint32_t id;
  bool yes;
};

bool is_stopped(pid_t process) {
  const std::string stat = small_file(fmt::format("/proc/{}/stat", process));
  const size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.compare(name_end, 4, ") T ") == 0;
}

/// The life of the witness.
class Testimony {
 public:
  Testimony(int questions, int answers) : questions_(questions), answers_(answers) {
    sigset_t all;
    sigfillset(&all);
    signals_ = signalfd(-1, &all, SFD_NONBLOCK);
  }

  /// Until the recorder is gone.
  [[noreturn]] void give() {
    Question question{};
    for (;;) {
      note_for(resume_at_.count ? kResumeMs : looks_left_ ? kLookMs : -1, questions_);
      resume_recorder();
      look_at_command();
      if (!readable(questions_)) continue;
      if (read(questions_, &question, sizeof question) != ssize_t(sizeof question)) break;
      if (question.id == 0) {
        command_ = question.signal.sender;
        looks_left_ = kLooks;
        continue;
      }
      const WitnessAnswer answer{question.id, came(question.signal)};
      if (write(answers_, &answer, sizeof answer) != ssize_t(sizeof answer)) break;
    }
    _exit(0);
  }

 private:
  struct Note {
    SentSignal signal;
    Nanos at;
  };

  static bool readable(int descriptor) {
    pollfd ready{descriptor, POLLIN, 0};
    return poll(&ready, 1, 0) == 1;
  }

  /// Waits for a signal, or for something from `other`, and notes what has come.
  void note_for(int patience_ms, int other) {
    pollfd wake[] = {{signals_, POLLIN, 0}, {other, POLLIN, 0}};
    poll(wake, 2, patience_ms);
    const Nanos now = clock_now(CLOCK_MONOTONIC);
    std::erase_if(notes_, [&](const Note& note) { return now - note.at > kStale; });
    signalfd_siginfo info;
    while (read(signals_, &info, sizeof info) == ssize_t(sizeof info))
      note({{int32_t(info.ssi_signo), info.ssi_code, int32_t(info.ssi_pid)}, now});
  }

  void note(const Note& note) {
    if (notes_.size() < kMostNotes) notes_.push_back(note);
    if (note.signal.number == SIGTSTP) resume_at_ = {};
    if (note.signal.number != SIGCONT) return;
    looks_left_ = 0;
    resume_at_ = {note.at.count + kResumeMs * kNanosPerMilli.count};
  }

  /// The recorder may have been about to stop with the command when the group was told to go on: it would
  /// stay stopped.
  void resume_recorder() {
    if (resume_at_.count == 0 || clock_now(CLOCK_MONOTONIC) < resume_at_) return;
    resume_at_ = {};
    if (is_stopped(getppid())) kill(getppid(), SIGCONT);
  }

  /// Who made the command go on, and it alone, does not know of the recorder, which stopped with it.
  void look_at_command() {
    if (looks_left_ == 0 || is_stopped(command_)) return;
    --looks_left_;  // the recorder may not have stopped yet
    if (!is_stopped(getppid())) return;
    looks_left_ = 0;
    kill(getppid(), SIGCONT);
  }

  /// Who signals each process by itself may not have come to this one yet. Of several that are close the
  /// recorder may have seen one only, unless they are of those that queue.
  bool came(const SentSignal& signal) {
    const auto noted = [&] { return std::ranges::find(notes_, signal, &Note::signal); };
    note_for(0, -1);
    if (noted() == notes_.end()) note_for(kPatienceWithSenderMs, -1);
    const auto first = noted();
    if (first == notes_.end()) return false;
    if (signal.number >= SIGRTMIN)
      notes_.erase(first);
    else
      std::erase_if(notes_, [&](const Note& note) { return note.signal.number == signal.number; });
    return true;
  }

  static constexpr size_t kMostNotes = 1000;
  /// What nobody asked for by then came to this process and not to the recorder.
  static constexpr Nanos kStale{200 * kNanosPerMilli.count};
  static constexpr int kPatienceWithSenderMs = 3, kResumeMs = 20, kLookMs = 100, kLooks = 20;

  int questions_, answers_, signals_;
  std::vector<Note> notes_;
  Nanos resume_at_;  // zero: not
  pid_t command_ = 0;
  int looks_left_ = 0;  // at whether the command goes on
};

}  // namespace

/// To be made while the recorder has one thread.
GroupWitness::GroupWitness() {
  int questions[2], answers[2];
  if (pipe2(questions, O_CLOEXEC) != 0) return;
  if (pipe2(answers, O_CLOEXEC) != 0) {
    for (const int each : questions) close(each);
    return;
  }
  const pid_t recorder = getpid();
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  // A fork, but of no child that wait(-1) finds: without a signal at its end.
  pid_ = pid_t(syscall(SYS_clone, 0, 0, 0, 0, 0));
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != recorder) _exit(1);
    take_name();
    keep_only(questions[0], answers[1]);
    Testimony(questions[0], answers[1]).give();
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  close(questions[0]);
  close(answers[1]);
  questions_ = questions[1];
  answers_ = answers[0];
  leave_out(pid_);
}

GroupWitness::~GroupWitness() { end(); }

void GroupWitness::end() {
  for (int* each : {&questions_, &answers_})
    if (const int number = std::exchange(*each, -1); number >= 0) close(number);
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, __WCLONE);
  leave_out(-1);
  pid_ = -1;
}

/// One that does not answer, because somebody has stopped or killed it, is not asked much longer.
bool GroupWitness::answers(const SentSignal& signal) {
  constexpr int kAnswerMs = 200;
  constexpr uint32_t kMostUnanswered = 3;
  const Question question{++asked_, signal};
  WitnessAnswer answer{};
  pollfd ready{answers_, POLLIN, 0};
  if (write(questions_, &question, sizeof question) == ssize_t(sizeof question))
    while (answer.id != question.id && poll(&ready, 1, kAnswerMs) == 1 &&
           read(answers_, &answer, sizeof answer) == ssize_t(sizeof answer)) {
    }
  const bool answered = answer.id == question.id;
  unanswered_ = answered ? 0 : unanswered_ + 1;
  if (unanswered_ >= kMostUnanswered) end();
  return answered && answer.yes;
}

void GroupWitness::resume_us_with(pid_t command) const {
  const Question word{0, {SIGSTOP, 0, command}};
  if (pid_ > 0 && write(questions_, &word, sizeof word) < 0) return;  // then nobody does, as without it
}

bool GroupWitness::has_got(const SentSignal& signal) {
  const int number = signal.number;
  if (pid_ <= 0 || number <= 0 || number >= kSignals) return false;
  const bool yes = answers(signal);
  const Nanos now = clock_now(CLOCK_MONOTONIC);
  // Signals of one number that are this close count as one for whoever gets them.
  constexpr Nanos kAtOnce{10 * kNanosPerMilli.count};
  if (!yes) return got_[size_t(number)].count && now - got_[size_t(number)] < kAtOnce;
  got_[size_t(number)] = now;
  return true;
}

}  // namespace varve::record
