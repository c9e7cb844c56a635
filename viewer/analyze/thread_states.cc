// SPDX-License-Identifier: MIT
// See thread_states.h. A track may be several threads of a profile, one after the other: an exec begins a new
// image.
// Context: viewer.
#include "viewer/analyze/thread_states.h"

#include <algorithm>
#include <numeric>

#include "viewer/analyze/track_threads.h"

namespace varve::analyze {
namespace {

using load::RunEvent;

void add_quanta(ThreadStates& states, const RunEvent& event, uint16_t& last_processor) {
  states.quanta += event.quanta;
  if (event.processor == RunEvent::kNoProcessor) return;  // a sweep that found no time to look
  // What that would have seen the next one may tell, with nothing switched in since.
  if (event.quanta != 0 && last_processor != RunEvent::kNoProcessor) {
    // Of several quanta in one sweep only the last one's processor is known.
    ++states.compared;
    states.same_processor += event.processor == last_processor;
  }
  last_processor = event.processor;
  auto at = std::ranges::lower_bound(states.processors, event.processor);
  if (at == states.processors.end() || *at != event.processor) states.processors.insert(at, event.processor);
}

void add_time(ThreadStates& states, const RunEvent& event, uint64_t length) {
  uint64_t running = part_of(length, event.running);
  uint64_t ready = std::min(part_of(length, event.ready), length - running);
  states.running_ns += running;
  states.ready_ns += ready;
  states.wait_ns[size_t(event.wait)] += length - running - ready;
}

/// CPU time of each thread's samples and of what else its clock counted, while it was observed. The end of a
/// thread comes a moment after the observer's; one that ran on for longer, because its recorder was killed,
/// counts until then.
std::vector<uint64_t> clocked_within(const load::Profile& profile, TimeRange range) {
  const uint64_t observed = profile.run_states.end.count;
  std::vector<uint64_t> time(profile.threads.size()), after(time.size());
  std::vector<bool> ran_on(time.size());
  const load::Samples& samples = profile.samples;
  for (size_t i = 0; i < samples.size(); ++i) {
    const uint64_t at = samples.time_ns[i];
    if (!samples.thread[i].valid()) continue;
    const size_t thread = samples.thread[i].index();
    if (at > observed && at - observed > kNearNs) ran_on[thread] = true;
    if (at >= range.begin && at <= range.end) (at > observed ? after : time)[thread] += samples.weight_ns[i];
  }
  for (size_t i = 0; i < time.size(); ++i)
    if (!ran_on[i]) time[i] += after[i];
  return time;
}

/// The same within `range`. A sample stands for the time since the one before, so where some of a thread's
/// lie beyond, those within say too much or too little by up to an interval at each edge: there the thread
/// ran as it was observed, in the proportion of its whole life.
std::vector<uint64_t> clocked_time(const load::Profile& profile, TimeRange range,
                                   const std::vector<ThreadStates>& observed) {
  const TimeRange all{};
  std::vector<uint64_t> clocked = clocked_within(profile, range);
  const std::vector<uint64_t> whole = clocked_within(profile, all);
  if (clocked == whole) return clocked;
  const std::vector<ThreadStates> states = thread_states(profile, all);
  for (size_t i = 0; i < clocked.size(); ++i)
    if (clocked[i] != whole[i] && states[i].running_ns != 0)
      clocked[i] = uint64_t(double(observed[i].running_ns) * double(whole[i]) / double(states[i].running_ns));
  return clocked;
}

/// The thread ran for `running` of `lifetime`, and waited for what it neither ran nor was ready: of each kind
/// as large a part as of the waits so far.
void settle_states(ThreadStates& states, uint64_t lifetime, uint64_t running) {
  states.running_ns = std::min(running, lifetime);
  states.ready_ns = std::min(states.ready_ns, lifetime - states.running_ns);
  const uint64_t waited = states.waiting_ns(), wait = lifetime - states.running_ns - states.ready_ns;
  uint64_t rest = wait;
  for (uint64_t& kind : states.wait_ns) {
    kind = waited == 0 ? 0 : uint64_t(double(kind) / double(waited) * double(wait));
    kind = std::min(kind, rest);
    rest -= kind;
  }
  auto& most =
      waited == 0 ? states.wait_ns[size_t(WaitKind::kOther)] : *std::ranges::max_element(states.wait_ns);
  most += rest;
}

/// What the thread's clock has more than its turns, even where these begin when they were charged
/// (load/switch_costs), was seen as a wait.
void take_from_waits(ThreadStates& states, uint64_t time) {
  while (time > 0) {
    uint64_t& most = *std::ranges::max_element(states.wait_ns);
    uint64_t& from = most > 0 ? most : states.ready_ns;
    const uint64_t taken = std::min(from, time);
    if (taken == 0) return;
    from -= taken;
    states.running_ns += taken;
    time -= taken;
  }
}

/// The thread waited as its switches say, and had a processor for more than it ran: what interrupts took, and
/// other guests of the same machine, is in no thread's clock. It was ready then, and did not run. Where it
/// ran for longer than it had a processor, it came from waiting.
void settle_switches(ThreadStates& states, uint64_t running) {
  if (running > states.running_ns) return take_from_waits(states, running - states.running_ns);
  states.ready_ns += states.running_ns - running;
  states.running_ns = running;
}

}  // namespace

std::vector<ThreadStates> settled_states(const load::Profile& profile, TimeRange range) {
  std::vector<ThreadStates> all = thread_states(profile, range);
  const bool swept = profile.run_states.source == load::RunStates::Source::kSweeps;
  const std::vector<uint64_t> clocked = clocked_time(profile, range, all);
  for (size_t i = 0; i < all.size(); ++i) {
    const load::Thread& thread = profile.threads[i];
    all[i].clocked_ns = clocked[i];
    if (!all[i].known || thread.seen_only) continue;
    const uint64_t end = thread.end_time.count ? thread.end_time.count : profile.run_states.end.count;
    const uint64_t lifetime = TimeRange{thread.start_time.count, end}.within(range).length();
    // Of a killed thread the clock is known up to its last sample.
    const bool whole = thread.end_cpu.count != 0;
    if (!swept && whole) settle_switches(all[i], clocked[i]);
    if (swept) settle_states(all[i], lifetime, whole ? clocked[i] : std::max(clocked[i], all[i].running_ns));
  }
  return all;
}

uint64_t ThreadStates::waiting_ns() const {
  return std::accumulate(wait_ns.begin(), wait_ns.end(), uint64_t{0});
}

std::vector<ThreadStates> thread_states(const load::Profile& profile, TimeRange range) {
  const load::RunStates& run = profile.run_states;
  std::vector<ThreadStates> all(profile.threads.size());
  TrackThreads threads(profile);
  std::vector<uint16_t> last_processor(run.tracks.size(), RunEvent::kNoProcessor);
  for (size_t i = 0; i < all.size(); ++i) all[i].known = profile.threads[i].track.valid();
  for_each_stretch(run, [&](const RunEvent& event, TimeRange stretch) {
    bool begins = true;
    for (const TrackThreads::Part& part : threads.of(event.track, stretch)) {
      TimeRange shared = stretch.within(part.range).within(range);
      if (shared.length() == 0) continue;
      ThreadStates& states = all[part.thread.index()];
      add_time(states, event, shared.length());
      if (begins) add_quanta(states, event, last_processor[event.track.index()]);
      // The counts of the kernel are of the whole track; where images share it, they are counted here.
      if (begins && run.source == load::RunStates::Source::kSwitches && shared.begin == stretch.begin) {
        states.switches_known = true;
        if (event.running == 0 && event.time_ns > run.tracks[event.track.index()].start.count)
          ++(event.ready ? states.involuntary : states.voluntary);
      }
      begins = false;
    }
  });
  for (uint32_t i = 0; i < run.tracks.size(); ++i) {
    const load::Track& track = run.tracks[i];
    auto parts = threads.of({i});
    if (parts.size() != 1 || track.voluntary_switches == format::kUnknownCount) continue;
    ThreadStates& states = all[parts.front().thread.index()];
    if (states.switches_known) continue;
    states.switches_known = true;
    states.voluntary = track.voluntary_switches;
    states.involuntary = track.involuntary_switches;
  }
  return all;
}

}  // namespace varve::analyze
