// SPDX-License-Identifier: MIT
// See pipe_partners.h.
// Context: viewer.
#include "viewer/analyze/pipe_partners.h"

#include <algorithm>
#include <tuple>

#include "viewer/analyze/task_origin.h"

namespace varve::analyze {
namespace {

using load::RunEvent;

/// Of the processes that had a pipe as their output, or their input, those that began last are looked at, and
/// so many that live; threads of a process, and events of a thread. Of more nobody knows.
constexpr int kMostProcesses = 1024;
constexpr size_t kMostPartners = 64, kMostThreads = 16;
constexpr int kMostEvents = 64;

/// From the write until the reader runs, on a processor that slept.
constexpr uint64_t kWakeNs = 100'000;

/// An event tells of its thread from then on; what is of no interest has a key beyond all.
load::RowGroups events_of_partners(const load::Profile& profile) {
  const auto& states = profile.run_states;
  std::vector<bool> has_pipe(profile.processes.size()), wanted(states.tracks.size());
  for (const load::PipeEnd& end : profile.waits.pipe_ends) has_pipe[end.process.index()] = true;
  for (const load::Thread& thread : profile.threads)
    if (thread.track.valid() && has_pipe[thread.process.index()]) wanted[thread.track.index()] = true;
  const bool any = !profile.waits.pipe_ends.empty();
  return {wanted.size(), any ? states.events.size() : 0, [&](size_t row) {
            const size_t track = states.events[row].track.index();
            return wanted[track] ? track : wanted.size();
          }};
}

}  // namespace

PipePartners::PipePartners(const load::Profile& profile)
    : profile_(profile),
      mains_(empty() ? std::vector<ThreadId>() : main_threads(profile)),
      threads_(profile.processes.size(), empty() ? 0 : profile.threads.size(),
               [&](size_t row) { return profile.threads[row].process.index(); }),
      events_(events_of_partners(profile)) {}

PipePartners::End PipePartners::end_of(const load::Wait& wait) {
  return {wait.flow, (wait.object & format::kToSend) != 0};
}

std::optional<PipePartners::Partner> PipePartners::who_ended(End end, ProcessId own, uint64_t time_ns,
                                                             bool must_have_run) const {
  const auto processes = partners(end, own, time_ns);
  if (!processes) return {};
  if (processes->size() == 1 && !must_have_run) {
    const auto ran = ran_until(processes->front(), time_ns);
    const bool known = ran && ran->last.thread.valid() && !ran->several;
    return known ? ran->last : Partner{mains_[processes->front().index()]};
  }
  Partner found;
  for (const ProcessId process : *processes) {
    const auto ran = ran_until(process, time_ns);
    if (!ran || (ran->last.thread.valid() && found.thread.valid())) return {};
    if (!ran->last.thread.valid()) continue;
    if (ran->several && must_have_run) return {};
    found = ran->several ? Partner{mains_[process.index()]} : ran->last;
  }
  return found;
}

/// Processes are in the order of their begins: back from those that began last. Nothing: too many.
std::optional<std::vector<ProcessId>> PipePartners::partners(End end, ProcessId own, uint64_t time_ns) const {
  const auto& ends = profile_.waits.pipe_ends;
  auto each = std::partition_point(ends.begin(), ends.end(), [&](const load::PipeEnd& row) {
    const bool began = profile_.processes[row.process.index()].start_time.count < time_ns;
    return std::tuple(row.flow, row.reads, !began) < std::tuple(end.flow, end.reads, true);
  });
  const auto is_end = [&](const load::PipeEnd& row) {
    return row.flow == end.flow && row.reads == end.reads;
  };
  std::vector<ProcessId> found;
  for (int looks = 0; each != ends.begin() && is_end(*(each - 1)); ++looks) {
    if (looks == kMostProcesses || found.size() > kMostPartners) return {};
    const ProcessId process = (--each)->process;
    const uint64_t ended = end_of_process(profile_.processes[process.index()]);
    const bool lived = ended == 0 || ended + kEndTolerance >= time_ns;
    if (lived && process != own && mains_[process.index()].valid()) found.push_back(process);
  }
  return found;
}

/// The thread that ran last, none where none did; nothing where nobody knows.
std::optional<PipePartners::Ran> PipePartners::ran_until(ProcessId process, uint64_t time_ns) const {
  const auto threads = threads_.of(process.index());
  if (threads.size() > kMostThreads) return {};
  Ran ran;
  for (const uint32_t row : threads) {
    const TrackId track = profile_.threads[row].track;
    const auto until = track.valid() && look() ? ran_until(track, time_ns) : std::nullopt;
    if (!until) return {};
    if (*until == 0) continue;
    ran.several = ran.last.thread.valid();
    if (*until > ran.last.ran_until_ns) ran.last = {{row}, *until};
  }
  return ran;
}

/// 0: not within the time that it takes to wake who reads; nothing where nobody knows, as of a sweep in which
/// it ran for a part.
std::optional<uint64_t> PipePartners::ran_until(TrackId track, uint64_t time_ns) const {
  const std::vector<RunEvent>& events = profile_.run_states.events;
  const auto rows = events_.of(track.index());
  auto row = std::ranges::lower_bound(rows, time_ns, {}, [&](uint32_t each) { return events[each].time_ns; });
  uint64_t until = time_ns;
  for (int looks = 0; row != rows.begin(); ++looks) {
    const RunEvent& event = events[*--row];
    const bool in_part = event.running != 0 && event.running < RunEvent::kWhole / 2;
    if (looks == kMostEvents || in_part || !look()) return {};
    if (event.running != 0) return until;
    if (event.time_ns + kWakeNs < time_ns) return 0;
    until = event.time_ns;
  }
  return 0;
}

}  // namespace varve::analyze
