// SPDX-License-Identifier: MIT
// See task_origin.h.
// Context: viewer.
#include "viewer/analyze/task_origin.h"

#include <algorithm>
#include <tuple>

#include "common/session_keys.h"

namespace varve::analyze {
namespace {

/// From a thread's exit() to its end.
constexpr uint64_t kExitTime = kNanosPerMilli.count;

}  // namespace

std::vector<ThreadId> main_threads(const load::Profile& profile) {
  std::vector<ThreadId> threads(profile.processes.size());
  for (uint32_t i = 0; i < profile.threads.size(); ++i) {
    ThreadId& of_process = threads[profile.threads[i].process.index()];
    if (!of_process.valid() || profile.threads[i].is_main) of_process = {i};
  }
  return threads;
}

uint64_t end_of_process(const load::Process& process) {
  return process.end_time.count ? process.end_time.count : process.reaped_time.count;
}

Origins::Origins(const load::Profile& profile) : profile_(profile), mains_(main_threads(profile)) {
  for (uint32_t i = 0; i < profile.processes.size(); ++i)
    by_start_.emplace(std::pair(profile.processes[i].pid, profile.processes[i].start_time.count), i);
  command_ = int32_t(profile.session.number(session_key::kMainPid));
  if (command_ == 0 && !profile.processes.empty())
    command_ = std::ranges::min_element(profile.processes, {}, &load::Process::start_time)->pid;
}

bool Origins::is_command(ThreadId thread) const {
  return profile_.processes[profile_.threads[thread.index()].process.index()].pid == command_;
}

/// The main thread of the last image of the same process that began earlier.
ThreadId Origins::image_before(const load::Process& process) const {
  auto at = by_start_.lower_bound({process.pid, process.start_time.count});
  if (process.image == 0 || at == by_start_.begin()) return {};
  --at;
  const load::Process& before = profile_.processes[at->second];
  return before.pid == process.pid && before.image < process.image ? mains_[at->second] : ThreadId{};
}

ThreadId Origins::parent_at(const load::Process& process, uint64_t time) const {
  auto at = by_start_.upper_bound({process.ppid, time});
  if (at == by_start_.begin() || process.ppid == process.pid) return {};
  --at;
  return at->first.first == process.ppid ? mains_[at->second] : ThreadId{};
}

Origin Origins::of(ThreadId id) const {
  const load::Thread& thread = profile_.threads[id.index()];
  const load::Process& process = profile_.processes[thread.process.index()];
  if (thread.creator.valid() && thread.creator != id)
    return {thread.creator, thread.created.count ? thread.created.count : thread.start_time.count, false};
  const uint64_t start = thread.start_time.count;
  if (mains_[thread.process.index()] != id) return {};
  if (const ThreadId before = image_before(process); before.valid()) return {before, start, true};
  return {parent_at(process, start), start, false};
}

namespace {

/// By row of Profile::processes.
std::vector<uint64_t> ends_of_processes(const load::Profile& profile, const ThreadActivity& activity) {
  std::vector<uint64_t> ends(profile.processes.size());
  for (size_t i = 0; i < ends.size(); ++i) ends[i] = end_of_process(profile.processes[i]);
  for (uint32_t i = 0; i < profile.threads.size(); ++i) {
    const size_t process = profile.threads[i].process.index();
    if (profile.processes[process].end_time.count == 0)
      ends[process] = std::max({ends[process], activity.last_known({i}), activity.last_active({i})});
  }
  return ends;
}

/// Whether the thread waited when its process ended, or the recording: it was blocked shortly before, and no
/// wait of it ended. One that was seen until the last moment has that as its end. What ends a process that
/// says no good-bye, a crash, ends the waits of all its threads.
bool waited_at_end(const load::Profile& profile, const ThreadActivity& activity, ThreadId thread,
                   uint64_t end) {
  const uint64_t look = end - std::min(end, kExitTime);
  const bool blocked = look > 0 && activity.observed_blocked(thread, look);
  const auto& waits = profile.waits.waits;
  const auto key = [](const load::Wait& wait) { return std::pair(wait.thread, wait.end_ns); };
  const auto next = std::ranges::lower_bound(waits, std::pair(thread, look), {}, key);
  const bool crashed = profile.processes[profile.threads[thread.index()].process.index()].end_time.count == 0;
  const uint64_t life_end = profile.threads[thread.index()].end_time.count,
                 seen_end = profile.run_states.end.count;
  const bool none_ended = next == waits.end() || next->thread != thread ||
                          next->end_ns >= (life_end ? std::min(life_end, seen_end) : seen_end);
  return blocked && (crashed || none_ended);
}

}  // namespace

ThreadId last_thread(const load::Profile& profile, const ThreadActivity& activity) {
  const std::vector<uint64_t> ends = ends_of_processes(profile, activity);
  ThreadId last;
  std::tuple<uint64_t, bool, bool, uint64_t> best;
  for (uint32_t i = 0; i < profile.threads.size(); ++i) {
    const load::Thread& thread = profile.threads[i];
    const uint64_t end = ends[thread.process.index()];
    if (last.valid() && end < std::get<0>(best)) continue;
    const uint64_t known = std::max(activity.last_known({i}), activity.last_active({i}));
    const bool until_end = known + kExitTime >= end && !waited_at_end(profile, activity, {i}, end);
    const std::tuple mine(end, until_end, thread.is_main, known);
    if (last.valid() && mine <= best) continue;
    best = mine;
    last = {i};
  }
  return last;
}

}  // namespace varve::analyze
