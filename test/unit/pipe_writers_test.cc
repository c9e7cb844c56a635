// SPDX-License-Identifier: MIT
// Who ended the wait for a pipe that nobody was seen to write to: the only process that had it as its output
// then, and nobody where there may be several. Context: tests.
#include <criterion/criterion.h>

#include <algorithm>

#include "test/unit/time_units.h"
#include "viewer/analyze/releasers.h"

namespace varve {
namespace {

using format::ObjectKind;

constexpr uint32_t kPipe = 3, kOtherPipe = 4;
constexpr ProcessId kReader{0}, kWriter{1}, kSecondWriter{2};

/// Three processes of a thread each; the thread of the first waits for the pipe from 10 to 40 ms.
struct Pipeline {
  load::Profile profile;

  Pipeline() {
    for (uint32_t i = 0; i < 3; ++i) {
      load::Process process;
      process.pid = int32_t(100 + i);
      process.start_time = {(i + 1) * kMs};
      profile.processes.push_back(process);
      load::Thread thread;
      thread.process = {i};
      thread.tid = process.pid;
      thread.is_main = true;
      profile.threads.push_back(thread);
    }
    profile.paths = {{}};
    profile.waits.waits = {{40 * kMs, 30 * kMs, 5, {0}, {0}, 1, ObjectKind::kDescriptor, 0, kPipe}};
  }

  load::Process& process(ProcessId id) { return profile.processes[id.index()]; }
  /// The process whose thread ended the wait; none: nobody knows.
  ProcessId writer() const {
    const auto releaser = analyze::Releasers(profile).of(profile.waits.waits[0]);
    return releaser ? profile.threads[releaser->thread.index()].process : ProcessId::none();
  }
};

Test(pipe_writers, the_only_one) {
  Pipeline made;
  cr_expect(made.writer() == ProcessId::none(), "nobody is known to have the pipe");
  made.profile.waits.pipe_ends = {{kOtherPipe, false, kWriter}};
  cr_expect(made.writer() == ProcessId::none());
  made.profile.waits.pipe_ends = {{kPipe, false, kWriter}, {kOtherPipe, false, kSecondWriter}};
  cr_assert(made.writer() == kWriter);
  const auto releaser = analyze::Releasers(made.profile).of(made.profile.waits.waits[0]);
  cr_expect_eq(releaser->time_ns, 40 * kMs, "when is not known: at the latest when the reader goes on");
}

Test(pipe_writers, of_several_nobody_knows_which) {
  Pipeline made;
  made.profile.waits.pipe_ends = {{kPipe, false, kWriter}, {kPipe, false, kSecondWriter}};
  cr_expect(made.writer() == ProcessId::none());
  made.process(kWriter).end_time = {35 * kMs};
  cr_expect(made.writer() == ProcessId::none(), "its end may be what the reader saw: the clocks differ");
  made.process(kWriter).end_time = {20 * kMs};
  cr_expect(made.writer() == kSecondWriter, "what had ended writes nothing");
  made.process(kWriter).end_time = {};
  made.process(kSecondWriter).start_time = {41 * kMs};
  cr_expect(made.writer() == kWriter, "and what had not begun neither");
}

/// A profile may say anything, and whoever reads it must come to an end.
Test(pipe_writers, of_too_many_waits_nobody_knows) {
  Pipeline made;
  constexpr uint32_t kWriters = 50, kThreadsOfEach = 16;  // none of which ran
  for (uint32_t i = 0; i < kWriters; ++i) {
    const ProcessId process{uint32_t(made.profile.processes.size())};
    made.profile.processes.emplace_back();
    made.profile.waits.pipe_ends.push_back({kPipe, false, process});
    for (uint32_t j = 0; j < kThreadsOfEach; ++j) {
      load::Thread thread;
      thread.process = process;
      thread.is_main = j == 0;
      thread.track = {uint32_t(made.profile.run_states.tracks.size())};
      made.profile.run_states.tracks.emplace_back();
      made.profile.threads.push_back(thread);
    }
  }
  const analyze::PipePartners partners(made.profile);
  const auto known = [&] { return partners.who_ended({kPipe, false}, kReader, 40 * kMs, false).has_value(); };
  uint64_t waits = 0;
  while (waits < analyze::PipePartners::kMostLooks && known()) ++waits;
  cr_expect_eq(waits, analyze::PipePartners::kMostLooks / (kWriters * kThreadsOfEach));
}

/// A processor is needed to write.
Test(pipe_writers, of_several_the_only_one_that_ran) {
  Pipeline made;
  made.profile.waits.pipe_ends = {{kPipe, false, kWriter}, {kPipe, false, kSecondWriter}};
  load::RunStates& states = made.profile.run_states;
  states.source = load::RunStates::Source::kSwitches;
  states.tracks.resize(3);
  for (uint32_t i = 0; i < 3; ++i) made.profile.threads[i].track = {i};
  const auto add = [&](uint64_t time_ns, uint32_t track, bool runs) {
    load::RunEvent event;
    event.time_ns = time_ns;
    event.track = {track};
    event.running = runs ? load::RunEvent::kWhole : uint16_t(0);
    states.events.push_back(event);
  };
  add(20 * kMs, 1, true), add(30 * kMs, 1, false);
  add(35 * kMs, 2, true);
  cr_expect(made.writer() == kSecondWriter, "the other stopped 10 ms before");
  add(40 * kMs - 20'000, 2, false);
  cr_expect(made.writer() == kSecondWriter, "it takes a while until the reader runs");
  states.events[1].time_ns = 40 * kMs + 1;
  std::ranges::stable_sort(states.events, {}, &load::RunEvent::time_ns);
  cr_expect(made.writer() == ProcessId::none(), "both ran");
  for (load::RunEvent& event : states.events) event.running = 0;
  cr_expect(made.writer() == ProcessId::none(), "neither");
}

/// As where the main thread only waits for those that work.
Test(pipe_writers, of_one_process_the_thread_that_ran) {
  Pipeline made;
  made.profile.waits.pipe_ends = {{kPipe, false, kWriter}};
  load::Thread worker = made.profile.threads[1];
  worker.is_main = false;
  made.profile.threads.push_back(worker);
  load::RunStates& states = made.profile.run_states;
  states.source = load::RunStates::Source::kSwitches;
  states.tracks.resize(4);
  for (uint32_t i = 0; i < 4; ++i) made.profile.threads[i].track = {i};
  const auto ended_by = [&] {
    return analyze::Releasers(made.profile).of(made.profile.waits.waits[0])->thread.index();
  };
  cr_expect_eq(ended_by(), 1, "nobody was seen to run");
  load::RunEvent runs;
  runs.time_ns = 35 * kMs;
  runs.track = {3};
  runs.running = load::RunEvent::kWhole;
  states.events.push_back(runs);
  cr_expect_eq(ended_by(), 3);
  runs.track = {1};
  states.events.push_back(runs);
  cr_expect_eq(ended_by(), 1, "either may have written");
}

Test(pipe_writers, nobody_writes_to_itself) {
  Pipeline made;
  made.profile.waits.pipe_ends = {{kPipe, false, kReader}};
  cr_expect(made.writer() == ProcessId::none());
  made.profile.waits.pipe_ends = {{kPipe, false, kReader}, {kPipe, false, kWriter}};
  cr_expect(made.writer() == kWriter);
}

Test(pipe_writers, who_was_seen_to_write_did) {
  Pipeline made;
  made.profile.waits.pipe_ends = {{kPipe, false, kWriter}};
  made.profile.waits.releases = {{39 * kMs, 0, 9, {2}, {0}, 1, ObjectKind::kDescriptor, kPipe}};
  cr_expect(made.writer() == kSecondWriter);
  made.profile.waits.releases[0].time_ns = 9 * kMs;
  cr_expect(made.writer() == kWriter, "that was before the reader waited");
}

Test(pipe_writers, who_waits_to_write_waits_for_the_only_reader) {
  Pipeline made;
  made.profile.waits.pipe_ends = {{kPipe, false, kWriter}};
  made.profile.waits.waits[0].object |= format::kToSend;
  cr_expect(made.writer() == ProcessId::none(), "another writer is no reader");
  made.profile.waits.pipe_ends = {{kPipe, false, kWriter}, {kPipe, true, kSecondWriter}};
  cr_expect(made.writer() == kSecondWriter);
  made.profile.waits.pipe_ends = {{kPipe, true, kWriter}, {kPipe, true, kSecondWriter}};
  cr_expect(made.writer() == ProcessId::none(), "of several nobody knows which");
  made.process(kSecondWriter).end_time = {20 * kMs};
  cr_expect(made.writer() == kWriter);
}

Test(pipe_writers, only_of_single_waits) {
  Pipeline made;
  made.profile.waits.pipe_ends = {{kPipe, false, kWriter}};
  made.profile.waits.waits[0].count = 7;
  cr_expect(made.writer() == ProcessId::none(), "when a sum of waits was nobody knows");
}

}  // namespace
}  // namespace varve
