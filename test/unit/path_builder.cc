// SPDX-License-Identifier: MIT
// See path_builder.h.
// Context: tests.
#include "test/unit/path_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace varve::test {
namespace {

uint64_t at(double ms) { return PathBuilder::kStart + uint64_t(std::llround(ms * 1e6)); }

}  // namespace

PathBuilder::PathBuilder(double elapsed_ms) {
  profile_.session.start_time = {kStart};
  profile_.session.elapsed = {at(elapsed_ms) - kStart};
  profile_.session.finished = true;
  profile_.session.processors = 2;
  profile_.session.texts.emplace_back("wait_min_ns", "50000");
  profile_.paths.push_back({PathId::none(), SiteId::none()});
  process(100, 1, 0, elapsed_ms);
}

ProcessId PathBuilder::process(int32_t pid, int32_t ppid, double start, double end) {
  load::Process process;
  process.pid = pid;
  process.ppid = ppid;
  process.start_time = {at(start)};
  process.end_time = {at(end)};
  process.end = format::ImageEnd::kExit;
  profile_.processes.push_back(process);
  return {uint32_t(profile_.processes.size() - 1)};
}

ThreadId PathBuilder::thread(const std::string& name, double start, double end, ThreadId creator,
                             double created, ProcessId process) {
  load::Thread thread;
  thread.process = process;
  thread.name = name;
  const auto is_other = [&](const load::Thread& other) { return other.process != process; };
  thread.is_main = std::ranges::all_of(profile_.threads, is_other);
  const int32_t pid = profile_.processes[process.index()].pid;
  thread.tid = thread.is_main ? pid : pid + int32_t(profile_.threads.size());
  thread.start_time = {at(start)};
  thread.end_time = {at(end)};
  thread.creator = creator;
  if (creator.valid()) thread.created = {at(created)};
  profile_.threads.push_back(thread);
  return {uint32_t(profile_.threads.size() - 1)};
}

void PathBuilder::wait(ThreadId thread, format::ObjectKind kind, uint64_t object, double begin, double end,
                       uint32_t count) {
  profile_.waits.waits.push_back({at(end), at(end) - at(begin), object, thread, {0}, count, kind});
  profile_.waits.sort();
}

void PathBuilder::release(ThreadId thread, format::ObjectKind kind, uint64_t object, double time) {
  profile_.waits.releases.push_back({at(time), 0, object, thread, {0}, 1, kind});
  profile_.waits.sort();
}

void PathBuilder::observe() {
  using load::RunEvent;
  load::RunStates& states = profile_.run_states;
  states = {};
  states.source = load::RunStates::Source::kSwitches;
  states.begin = profile_.session.start_time;
  states.end = profile_.session.start_time + profile_.session.elapsed;
  for (uint32_t i = 0; i < profile_.threads.size(); ++i) {
    load::Thread& thread = profile_.threads[i];
    thread.track = {i};
    states.tracks.push_back({profile_.processes[thread.process.index()].pid, thread.tid, 1, thread.name, true,
                             thread.start_time, thread.end_time, thread.end_time});
    const auto add = [&](uint64_t time, uint16_t running, bool ended = false) {
      RunEvent event;
      event.time_ns = time;
      event.track = thread.track;
      event.running = running;
      event.ended = ended;
      states.events.push_back(event);
    };
    add(thread.start_time.count, RunEvent::kWhole);
    for (const load::Wait& wait : profile_.waits.waits) {
      if (wait.thread.value != i || wait.count != 1) continue;
      add(wait.begin_ns(), 0);
      add(wait.end_ns, RunEvent::kWhole);
    }
    add(thread.end_time.count, 0, true);
  }
  std::ranges::stable_sort(states.events, {}, &RunEvent::time_ns);
}

analyze::CriticalPath PathBuilder::path() { return analyze::critical_path(profile_); }

std::string words(const load::Profile& profile, const analyze::CriticalPath& path) {
  static constexpr const char* kNames[] = {"Cruise", "Overhead", "Blocking", "Impact", "[not recorded]"};
  const auto ms = [](uint64_t time) { return double(time - PathBuilder::kStart) / 1e6; };
  const auto name = [&](ThreadId id) {
    return id.valid() ? profile.threads[id.index()].name : std::string("nobody");
  };
  std::string text;
  for (const analyze::PathSegment& segment : path.segments) {
    text += fmt::format("{}{:.6g}-{:.6g} {} ", text.empty() ? "" : ", ", ms(segment.range.begin),
                        ms(segment.range.end), kNames[size_t(segment.what)]);
    text += segment.from.valid() ? name(segment.from) + " to " + name(segment.thread) : name(segment.thread);
  }
  return text;
}

PathBuilder breshears_example() {
  using format::ObjectKind;
  constexpr uint64_t lock = 0x1000;
  PathBuilder built(120);
  const ThreadId t1 = built.thread("T1", 0, 120);
  const ThreadId t2 = built.thread("T2", 20, 90, t1, 10);
  const ThreadId t3 = built.thread("T3", 20, 100, t1, 10);
  built.wait(t1, ObjectKind::kThread, uint64_t(built.tid(t2)), 30, 90);
  built.wait(t1, ObjectKind::kThread, uint64_t(built.tid(t3)), 90, 110);
  built.wait(t3, ObjectKind::kMutex, lock, 40, 60);
  built.release(t2, ObjectKind::kMutex, lock, 50);
  built.wait(t3, ObjectKind::kDescriptor, 3, 70, 80);
  return built;
}

}  // namespace varve::test
