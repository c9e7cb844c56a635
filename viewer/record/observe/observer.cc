// SPDX-License-Identifier: MIT
// The observer's thread and the choice of its source. See observer.h.
// Context: viewer.
#include "viewer/record/observe/observer.h"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <system_error>

#include "common/session_keys.h"
#include "viewer/record/clock.h"
#include "viewer/record/observe/proc_file.h"
#include "viewer/record/observe/switch_rings.h"
#include "viewer/record/observe/thread_sweeps.h"

namespace varve::record::observe {
namespace {

/// A recorder that is killed loses at most what happened in this time.
constexpr Nanos kFlushPeriod{500 * kNanosPerMilli.count};

timespec time_until(Nanos when) {
  Nanos rest = saturating_sub(when, clock_now(CLOCK_MONOTONIC));
  return {time_t(rest.count / kNanosPerSecond.count), long(rest.count % kNanosPerSecond.count)};
}

/// While it lives, new threads begin with all signals blocked that are the supervisor's. Faults are a
/// thread's own.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&all, number);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

/// Where hundreds of threads want to run, this one would see that only when it is its turn. It takes no more
/// time for being earlier. Ordinary users may not ask for it.
void prefer_this_thread() {
  constexpr int kNice = -10;
  setpriority(PRIO_PROCESS, id_t(gettid()), std::min(kNice, getpriority(PRIO_PROCESS, 0)));
}

}  // namespace

Observer::~Observer() { join(); }

void Observer::choose_source(Subject subject) {
  if (wanted_ != RunStates::kSweeps) {
    auto rings = SwitchRings::open(subject, *writer_);
    if (rings) source_ = std::move(*rings);
    if (rings) return;
    reason_ = rings.error();
    if (wanted_ == RunStates::kSwitches) return;
  }
  if (access(TaskPath(subject.command, subject.command, "schedstat").c_str(), R_OK) == 0)
    source_ = std::make_unique<ThreadSweeps>(subject, *writer_);
  else
    trouble_ = fmt::format("/proc does not show what threads do ({})", std::strerror(errno));
}

tl::expected<void, std::string> Observer::begin(Subject subject, int directory,
                                                const format::FileHeader& session) {
  if (wanted_ == RunStates::kOff) return {};
  if (auto writer = ObserverWriter::create(directory, session))
    writer_ = std::move(*writer);
  else
    trouble_ = writer.error();
  stop_event_ = eventfd(0, EFD_CLOEXEC);
  if (writer_ && stop_event_ < 0)
    trouble_ = fmt::format("run states cannot be recorded: {}", std::strerror(errno));
  if (writer_ && stop_event_ >= 0) choose_source(subject);
  if (wanted_ == RunStates::kSwitches && !source_)
    return tl::unexpected(reason_.empty() ? trouble_ : reason_);
  return {};
}

void Observer::let_go(Nanos start) {
  if (!source_) return;
  source_->begin(start);
  affinity_.begin(start);
  try {
    SignalsBlocked blocked;
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    trouble_ = fmt::format("run states could not be recorded: {}", error.what());
    source_.reset();
  }
}

/// Wakes when a source's descriptor is ready, its time has come, or the end.
void Observer::run() {
  prefer_this_thread();
  std::vector<pollfd> wakes = {{stop_event_, POLLIN, 0}};
  source_->add_wakes(wakes);
  Nanos now = clock_now(CLOCK_MONOTONIC), flushed = now;
  while (!stopping_ && !writer_->failed()) {
    Nanos next = source_->look(now);
    if (affinity_.due(now)) affinity_.look(now, source_->threads());
    if (next - flushed >= kFlushPeriod) {
      writer_->flush(now);
      flushed = now;
    }
    timespec timeout = time_until(next);
    ppoll(wakes.data(), wakes.size(), &timeout, nullptr);
    for (pollfd& wake : wakes)
      if (wake.revents & (POLLHUP | POLLERR | POLLNVAL)) wake.fd = -1;  // nobody is left to wake us
    now = clock_now(CLOCK_MONOTONIC);
  }
  source_->finish(now);
  writer_->finish(now);
  cpu_ = clock_now(CLOCK_THREAD_CPUTIME_ID);
}

void Observer::join() {
  if (thread_.joinable()) {
    stopping_ = true;
    uint64_t one = 1;  // so that it looks at once; where that is refused, when its next look is due
    while (write(stop_event_, &one, sizeof one) < 0 && errno == EINTR) continue;
    thread_.join();
  }
  if (stop_event_ >= 0) close(stop_event_);
  stop_event_ = -1;
}

void Observer::stop(SessionWriter& session) {
  if (told_) return;
  told_ = true;
  join();
  if (writer_ && writer_->failed())
    trouble_ = fmt::format("run states could not be written: {}", std::strerror(writer_->error()));
  if (!source_) session.text(session_key::kObserver, "off");
  auto facts = source_ ? source_->facts() : std::vector<std::pair<std::string, std::string>>();
  affinity_.add_facts(facts);
  for (const auto& [key, value] : facts) session.text(key, value);
  if (source_) session.text(session_key::kObserverCpuNs, fmt::format("{}", cpu_.count));
  if (!reason_.empty()) session.text(session_key::kObserverReason, reason_);
  if (!trouble_.empty()) session.text(session_key::kObserverTrouble, trouble_);
  source_.reset();  // descriptors and memory
  writer_.reset();
}

}  // namespace varve::record::observe
