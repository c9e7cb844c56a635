// SPDX-License-Identifier: MIT
// See complete_session.h.
// Context: viewer.
#include "viewer/load/complete_session.h"

#include <algorithm>

#include "common/session_keys.h"

namespace varve::load {

void complete_session(Profile& profile) {
  Session& session = profile.session;
  if (profile.processes.empty()) return;
  const Process& first = profile.processes.front();
  if (session.command.empty()) {
    for (const std::string& word : first.argv) session.command += (session.command.empty() ? "" : " ") + word;
  }
  if (session.host.empty()) session.host = first.host;
  if (session.directory.empty()) session.directory = first.cwd;
  if (session.start_time == Nanos{}) session.start_time = first.start_time;
}

void forget_after_stop(Profile& profile) {
  Nanos stop{profile.session.number(session_key::kStopMonotonicNs)};
  if (stop == Nanos{}) return;
  for (Process& process : profile.processes)
    if (process.end_time > stop) process.end_time = stop, process.end_cpu = {};
  for (Thread& thread : profile.threads)
    if (thread.end_time > stop) thread.end_time = stop, thread.end_cpu = {};
}

void complete_elapsed(Profile& profile, const std::vector<ThreadFacts>& facts) {
  if (profile.session.elapsed != Nanos{}) return;
  Nanos last = std::max(profile.session.start_time, profile.run_states.end);
  for (const Process& process : profile.processes) last = std::max(last, process.end_time);
  for (const Thread& thread : profile.threads) last = std::max(last, thread.end_time);
  for (const ThreadFacts& each : facts) last = std::max(last, each.last_sample);
  profile.session.elapsed = last - profile.session.start_time;
}

void complete_processors(Profile& profile) {
  Session& session = profile.session;
  if (session.processors != 0) return;
  for (const RunEvent& event : profile.run_states.events)
    if (event.processor != RunEvent::kNoProcessor)
      session.processors = std::max(session.processors, event.processor + 1u);
  session.processors_seen = session.processors != 0;
}

}  // namespace varve::load
