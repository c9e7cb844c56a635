// SPDX-License-Identifier: MIT
// See reaped.h.
// Context: viewer.
#include "viewer/load/reaped.h"

#include <algorithm>
#include <map>
#include <set>

namespace varve::load {
namespace {

using format::ControlState;
using format::ProcessExitRecord;

bool recorded_at(const std::vector<format::ControlChange>& changes, uint64_t time_ns) {
  auto state = uint32_t(ControlState::kRecording);
  for (const format::ControlChange& change : changes)
    if (change.time_ns != 0 && change.time_ns <= time_ns) state = change.state;
  return state == uint32_t(ControlState::kRecording) || state == uint32_t(ControlState::kStopped);
}

/// Nothing ends after the run; a damaged file may say so.
Nanos end_or_never(const Session& session) {
  return session.elapsed == Nanos{} ? Nanos{INT64_MAX} : session.start_time + session.elapsed;
}

Nanos charged(const ProcessExitRecord& exit) {
  return Nanos{std::min<uint64_t>(exit.user_ns, INT64_MAX)} +
         Nanos{std::min<uint64_t>(exit.system_ns, INT64_MAX)};
}

/// By pid, when processes without an agent were seen to begin. The next program of a process is none.
using Begins = std::set<std::pair<int32_t, Nanos>>;

Begins begins_of(const Profile& profile) {
  Begins begins;
  for (const Thread& thread : profile.threads) {
    const Process& process = profile.processes[thread.process.index()];
    if (process.seen_only && process.image == 0 && thread.is_main)
      begins.emplace(process.pid, thread.start_time);
  }
  return begins;
}

/// Whether the pid was such a process's between the end of this one, or the begin of one that was killed, and
/// the exit that is told of.
bool used_again(const Begins& begins, const Process& process, uint64_t time_ns) {
  const auto next = begins.upper_bound({process.pid, std::max(process.start_time, process.end_time)});
  return next != begins.end() && next->first == process.pid && next->second.count < time_ns;
}

}  // namespace

void add_reaped(Profile& profile, std::vector<ProcessExitRecord> exits,
                const std::vector<format::ControlChange>& changes) {
  std::map<std::pair<int32_t, uint64_t>, ProcessId> begun;  // by pid and time
  for (uint32_t i = 0; i < profile.processes.size(); ++i)
    begun[{profile.processes[i].pid, profile.processes[i].start_time.count}] = {i};
  const Begins begins = begins_of(profile);
  std::ranges::stable_sort(exits, {}, &ProcessExitRecord::time_ns);
  for (const ProcessExitRecord& exit : exits) {
    if (exit.status == format::kStatusRunning || !recorded_at(changes, exit.time_ns)) continue;
    auto next = begun.upper_bound({exit.pid, exit.time_ns});
    if (next == begun.begin()) continue;
    const auto& [key, id] = *std::prev(next);
    Process& process = profile.processes[id.index()];
    // Who is told of twice is two processes, of which the later had no agent.
    if (key.first != exit.pid || process.reaped_time != Nanos{}) continue;
    if (used_again(begins, process, exit.time_ns)) continue;
    process.reaped_time = std::min(Nanos{exit.time_ns}, end_or_never(profile.session));
    process.reaped_cpu = charged(exit);
  }
}

}  // namespace varve::load
