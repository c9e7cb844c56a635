// SPDX-License-Identifier: MIT
// Observer: sees the run state of every thread of the run over time, from outside: running, ready, blocked
// and on what. It is one thread of the recorder, from just before the command executes to the end of
// recording, and writes the observer file. Where the states come from is a source's business (source.h); the
// agent takes no part. What goes wrong ends the observation, never the run.
// Context: viewer; one thread of its own, begun and ended by the recorder's main thread.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <tl/expected.hpp>
#include <vector>

#include "viewer/record/observe/affinity_watch.h"
#include "viewer/record/observe/observer_writer.h"
#include "viewer/record/observe/source.h"
#include "viewer/record/session_writer.h"

namespace varve::record::observe {

/// --run-states
enum class RunStates { kAuto, kSwitches, kSweeps, kOff };

class Observer {
 public:
  explicit Observer(RunStates wanted) : wanted_(wanted) {}
  /// Stops it.
  ~Observer();
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  /// Observes `subject`, which has been forked and waits to execute. `start`: from when on its states count.
  /// The error, a sentence, is only possible with kSwitches: otherwise there is another way, or none and the
  /// run goes on without.
  tl::expected<void, std::string> begin(Subject subject, int directory, const format::FileHeader& session);
  void let_go(Nanos start);

  /// Ends observation, and says in the session what it was. May be called again, which does nothing.
  void stop(SessionWriter& session);

  /// A sentence without its end: why there are no run states, or none from some moment on. Once stopped.
  const std::string& trouble() const { return trouble_; }

 private:
  void choose_source(Subject subject);
  void run();
  void join();

  RunStates wanted_;
  std::string reason_;   // why not switches
  std::string trouble_;  // why run states are missing, or end early
  std::unique_ptr<ObserverWriter> writer_;
  std::unique_ptr<Source> source_;
  AffinityWatch affinity_;
  int stop_event_ = -1;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
  Nanos cpu_;  // of the thread
  bool told_ = false;
};

}  // namespace varve::record::observe
