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

/// Of the processes that had a pipe as their output, or their input, those that began last.
constexpr int kMostPartners = 64;

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
      mains_(main_threads(profile)),
      threads_(profile.processes.size(), profile.threads.size(),
               [&](size_t row) { return profile.threads[row].process.index(); }),
      events_(events_of_partners(profile)) {}

PipePartners::End PipePartners::end_of(const load::Wait& wait) {
  return {wait.flow, (wait.object & format::kToSend) != 0};
}

PipePartners::Partner PipePartners::who_ended(End end, ProcessId own, uint64_t time_ns) const {
  std::vector<Partner> all = partners(end, own, time_ns);
  if (all.size() > 1) std::erase_if(all, [](const Partner& each) { return each.ran_until_ns == 0; });
  return all.size() == 1 ? all.front() : Partner{};
}

/// Processes are in the order of their begins: back from those that began last.
std::vector<PipePartners::Partner> PipePartners::partners(End end, ProcessId own, uint64_t time_ns) const {
  const auto& ends = profile_.waits.pipe_ends;
  auto each = std::partition_point(ends.begin(), ends.end(), [&](const load::PipeEnd& row) {
    const bool began = profile_.processes[row.process.index()].start_time.count < time_ns;
    return std::tuple(row.flow, row.reads, !began) < std::tuple(end.flow, end.reads, true);
  });
  std::vector<Partner> partners;
  for (int looks = 0; looks < kMostPartners && each != ends.begin(); ++looks) {
    if ((--each)->flow != end.flow || each->reads != end.reads) break;
    const uint64_t ended = end_of_process(profile_.processes[each->process.index()]);
    const bool lived = ended == 0 || ended + kEndTolerance >= time_ns;
    const ThreadId main = mains_[each->process.index()];
    if (lived && each->process != own && main.valid())
      partners.push_back({main, ran_until(each->process, time_ns)});
  }
  return partners;
}

uint64_t PipePartners::ran_until(ProcessId process, uint64_t time_ns) const {
  uint64_t last = 0;
  for (const uint32_t row : threads_.of(process.index()))
    if (const TrackId track = profile_.threads[row].track; track.valid())
      last = std::max(last, ran_until(track, time_ns));
  return last;
}

uint64_t PipePartners::ran_until(TrackId track, uint64_t time_ns) const {
  const std::vector<RunEvent>& events = profile_.run_states.events;
  const auto rows = events_.of(track.index());
  auto row = std::ranges::lower_bound(rows, time_ns, {}, [&](uint32_t each) { return events[each].time_ns; });
  for (uint64_t until = time_ns; row != rows.begin();) {
    const RunEvent& event = events[*--row];
    if (event.running != 0) return until;
    if (event.time_ns + kWakeNs < time_ns) return 0;
    until = event.time_ns;
  }
  return 0;
}

}  // namespace varve::analyze
