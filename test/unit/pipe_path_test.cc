// SPDX-License-Identifier: MIT
// The critical path through pipes whose waits were only added up: to the thread that ran, once for each
// moment, and not for what was no wait for a pipe. Context: tests.
#include <criterion/criterion.h>

#include "test/unit/path_builder.h"
#include "test/unit/time_units.h"

using namespace varve;
using format::ObjectKind;
using load::RunEvent;
using test::PathBuilder;

namespace {

constexpr uint32_t kDown = 1, kUp = 2;  // pipes

/// Reader and writer, a process of two threads each; main of each writes to the other's input. The run is 100
/// ms.
struct Pipes {
  PathBuilder built{100};
  ThreadId reader, writer, worker;

  Pipes() {
    reader = built.thread("reader", 0, 100);
    const ProcessId process = built.process(200, 1, 0, 100);
    writer = built.thread("writer", 0, 100, {}, 0, process);
    worker = built.thread("worker", 0, 100, writer, 0, process);
    built.observe();
    profile().run_states.events.clear();
    profile().waits.names = {"", "pipe:[1]", "pipe:[2]", "/data"};
    profile().waits.pipe_ends = {
        {kDown, false, process}, {kDown, true, {0}}, {kUp, false, {0}}, {kUp, true, process}};
  }
  load::Profile& profile() { return built.profile(); }

  void event(ThreadId thread, double ms, uint16_t running, WaitKind wait = WaitKind::kOther) {
    RunEvent event;
    event.time_ns = PathBuilder::kStart + uint64_t(ms * kMs);
    event.track = profile().threads[thread.index()].track;
    event.running = running;
    event.wait = wait;
    profile().run_states.events.push_back(event);
  }
  /// A sum of two waits of the thread, 40 ms in all, that ends at 95 ms.
  void sum(ThreadId thread, uint32_t flow) {
    load::Wait wait;
    wait.thread = thread;
    wait.end_ns = PathBuilder::kStart + 95 * kMs;
    wait.duration_ns = 40 * kMs;
    wait.count = 2;
    wait.kind = ObjectKind::kDescriptor;
    wait.observed = true;
    wait.flow = flow;
    wait.name = flow == 0 ? 3 : flow;
    profile().waits.waits.push_back(wait);
  }
  void expect_path(const char* wanted) {
    std::ranges::stable_sort(profile().run_states.events, {}, &RunEvent::time_ns);
    const std::string got = test::words(profile(), built.path());
    cr_expect(got == wanted, "\n  got    %s\n  wanted %s", got.c_str(), wanted);
  }
};

constexpr uint16_t kRuns = RunEvent::kWhole, kPartly = RunEvent::kWhole / 10;

/// The reader waits from 20 to 60 ms, the worker computes meanwhile, and main waits for that.
Pipes with_worker() {
  Pipes pipes;
  pipes.event(pipes.reader, 0, kRuns), pipes.event(pipes.reader, 20, 0), pipes.event(pipes.reader, 60, kRuns);
  pipes.event(pipes.writer, 0, kRuns), pipes.event(pipes.writer, 10, 0);
  pipes.event(pipes.worker, 0, 0), pipes.event(pipes.worker, 10, kRuns), pipes.event(pipes.worker, 70, 0);
  return pipes;
}

Test(pipe_path, goes_to_the_thread_that_ran) {
  Pipes pipes = with_worker();
  pipes.sum(pipes.reader, kDown);
  pipes.expect_path(
      "0-10 Overhead writer to worker, 10-20 Cruise worker, 20-60 Impact worker, 60-100 Cruise reader");
}

Test(pipe_path, stays_where_it_waited_for_something_else) {
  Pipes pipes = with_worker();
  pipes.sum(pipes.reader, 0);
  pipes.expect_path("0-20 Cruise reader, 20-60 Blocking reader, 60-100 Cruise reader");
  pipes = with_worker();
  pipes.sum(pipes.reader, kDown);
  for (RunEvent& event : pipes.profile().run_states.events)
    if (event.active() == 0) event.wait = WaitKind::kSleep;
  pipes.expect_path("0-20 Cruise reader, 20-60 Blocking reader, 60-100 Cruise reader");
}

/// Two threads of the writer ran when the reader went on: either may have written.
Test(pipe_path, stays_where_two_may_have_written) {
  Pipes pipes = with_worker();
  pipes.event(pipes.writer, 50, kRuns);
  pipes.sum(pipes.reader, kDown);
  pipes.expect_path("0-20 Cruise reader, 20-60 Blocking reader, 60-100 Cruise reader");
}

/// By sweeps both run a little all the time, and each may have waited for the other.
Test(pipe_path, ends_where_each_may_have_waited_for_the_other) {
  Pipes pipes;
  for (const ThreadId thread : {pipes.reader, pipes.writer, pipes.worker}) pipes.event(thread, 0, kPartly);
  pipes.sum(pipes.reader, kDown), pipes.sum(pipes.writer, kUp);
  pipes.profile().run_states.source = load::RunStates::Source::kSweeps;
  const analyze::CriticalPath path = pipes.built.path();
  cr_assert(!path.segments.empty());
  cr_expect_eq(path.segments.front().range.begin, path.run.begin);
  cr_expect_eq(path.segments.back().range.end, path.run.end);
  cr_expect_leq(path.moves.size(), 3);
}

}  // namespace
