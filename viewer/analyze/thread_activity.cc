// SPDX-License-Identifier: MIT
// See thread_activity.h.
// Context: viewer.
#include "viewer/analyze/thread_activity.h"

#include <algorithm>

#include "common/wait_format.h"

namespace varve::analyze {
namespace {

using load::RunEvent;

/// Where switches were recorded, a shorter block beside the waits of hooks is the way into or out of one.
constexpr uint64_t kLeastSwitched = format::kDefaultWaitMinNs;
/// A sweep says what a thread did, but not when, and tells of a wait for a processor only after it. So it is
/// believed for longer ones, where hooks see most waits.
constexpr uint64_t kLeastSwept = 10 * kNanosPerMilli.count, kLeastWithoutAgent = kNanosPerMilli.count;
constexpr size_t kLateSweeps = 4;
/// Of a thread that ends, the last wait for a processor is never told.
constexpr uint64_t kLeastAtEnd = 100 * kNanosPerMilli.count;

/// Counting sort: `first` gets where each key's rows begin, and one more; `rows`, the rows by key, in the
/// order in which they came.
template <typename Rows, typename KeyOf>
void group(const Rows& all, size_t keys, KeyOf key_of, std::vector<uint32_t>& first,
           std::vector<uint32_t>& rows) {
  first.assign(keys + 1, 0);
  for (const auto& row : all) ++first[key_of(row) + 1];
  for (size_t i = 0; i < keys; ++i) first[i + 1] += first[i];
  rows.resize(all.size());
  std::vector<uint32_t> next(first.begin(), first.end() - 1);
  for (uint32_t i = 0; i < all.size(); ++i) rows[next[key_of(all[i])]++] = i;
}

}  // namespace

ThreadActivity::ThreadActivity(const load::Profile& profile) : profile_(profile) {
  index_events(profile.run_states);
  find_last_active(profile.run_states);
  index_waits(profile.waits, profile.threads.size());
  find_last_signs();
}

void ThreadActivity::index_events(const load::RunStates& states) {
  group(
      states.events, states.tracks.size(), [](const RunEvent& event) { return event.track.index(); },
      first_event_, events_);
}

void ThreadActivity::find_last_active(const load::RunStates& states) {
  last_active_.resize(states.tracks.size());
  for (uint32_t track = 0; track < last_active_.size(); ++track) {
    uint64_t until = states.end.count;
    const auto rows = events_of({track});
    for (size_t i = rows.size(); i-- > 0 && last_active_[track] == 0; until = states.events[rows[i]].time_ns)
      if (!states.events[rows[i]].ended && states.events[rows[i]].active() != 0) last_active_[track] = until;
  }
}

void ThreadActivity::index_waits(const load::Waits& waits, size_t threads) {
  first_wait_.assign(threads + 1, 0);
  waited_.reserve(waits.waits.size() + 1);
  waited_.push_back(0);
  for (const load::Wait& wait : waits.waits) {
    ++first_wait_[wait.thread.index() + 1];
    // When those of a sum were nobody knows: they explain no time of their own.
    waited_.push_back(waited_.back() + (wait.is_sum() ? 0 : wait.duration_ns));
  }
  for (size_t i = 0; i < threads; ++i) first_wait_[i + 1] += first_wait_[i];
}

void ThreadActivity::find_last_signs() {
  last_sign_.resize(profile_.threads.size());
  const auto note = [&](ThreadId thread, uint64_t time_ns) {
    if (thread.valid()) last_sign_[thread.index()] = std::max(last_sign_[thread.index()], time_ns);
  };
  for (uint32_t i = 0; i < last_sign_.size(); ++i) last_sign_[i] = profile_.threads[i].start_time.count;
  for (const load::Wait& wait : profile_.waits.waits) note(wait.thread, wait.end_ns);
  for (const load::Release& release : profile_.waits.releases) note(release.thread, release.time_ns);
  const load::Samples& samples = profile_.samples;
  for (size_t i = 0; i < samples.size(); ++i)
    if (samples.ticks[i] != 0) note(samples.thread[i], samples.time_ns[i]);
}

std::span<const uint32_t> ThreadActivity::events_of(TrackId track) const {
  if (!track.valid()) return {};
  return {events_.data() + first_event_[track.index()], events_.data() + first_event_[track.index() + 1]};
}

uint64_t ThreadActivity::waited_in(ThreadId thread, TimeRange range) const {
  const auto& waits = profile_.waits.waits;
  const auto all = std::span(waits).subspan(first_wait_[thread.index()],
                                            first_wait_[thread.index() + 1] - first_wait_[thread.index()]);
  const auto until = [&](uint64_t time) {
    return std::ranges::upper_bound(all, time, {}, &load::Wait::end_ns) - all.begin();
  };
  const auto first = size_t(until(range.begin)), last = size_t(until(range.end));
  uint64_t sum = waited_[first_wait_[thread.index()] + last] - waited_[first_wait_[thread.index()] + first];
  const auto begin_of = [&](size_t row) { return all[row].is_sum() ? all[row].end_ns : all[row].begin_ns(); };
  size_t next = last;  // that may have begun in it: no sum
  for (int looks = 0; looks < 8 && next < all.size() && all[next].is_sum(); ++looks) ++next;
  if (first < last) sum -= std::min(sum, saturating_sub(Nanos{range.begin}, Nanos{begin_of(first)}).count);
  if (next < all.size()) sum += TimeRange{std::max(begin_of(next), range.begin), range.end}.length();
  return std::min(sum, range.length());
}

TimeRange ThreadActivity::stretch_of(std::span<const uint32_t> rows, size_t index) const {
  const std::vector<RunEvent>& events = profile_.run_states.events;
  const uint64_t begin = events[rows[index]].time_ns;
  const uint64_t last = std::max(profile_.run_states.end.count, begin);
  return {begin, index + 1 < rows.size() ? events[rows[index + 1]].time_ns : last};
}

/// Time that the thread was blocked in the stretch beyond its waits; less than 0 where it waited longer than
/// it was blocked: then it was ready earlier.
int64_t ThreadActivity::blocked_beyond_waits(ThreadId thread, std::span<const uint32_t> rows,
                                             size_t index) const {
  const RunEvent& event = profile_.run_states.events[rows[index]];
  if (event.ended) return 0;
  const TimeRange stretch = stretch_of(rows, index);
  const uint64_t blocked = part_of(stretch.length(), RunEvent::kWhole - event.active());
  // Far from the ends of the type, whatever a profile says.
  const auto number = [](uint64_t ns) { return int64_t(std::min<uint64_t>(ns, INT64_MAX / 8)); };
  return number(blocked) - number(waited_in(thread, stretch));
}

/// Whether the thread was blocked for most of what its waits leave of the stretch.
bool ThreadActivity::blocked_elsewhere(ThreadId id, std::span<const uint32_t> rows, size_t index) const {
  if (profile_.run_states.events[rows[index]].active() == RunEvent::kWhole) return false;
  int64_t elsewhere = blocked_beyond_waits(id, rows, index);
  uint64_t least = kLeastSwitched;
  if (profile_.run_states.source == load::RunStates::Source::kSweeps) {
    const bool agent = !profile_.threads[id.index()].seen_only;
    least = agent ? kLeastSwept : kLeastWithoutAgent;
    for (size_t i = index + 1; i < rows.size() && i <= index + kLateSweeps; ++i) {
      elsewhere += std::min<int64_t>(blocked_beyond_waits(id, rows, i), 0);
      if (agent && profile_.run_states.events[rows[i]].ended) least = kLeastAtEnd;
    }
  }
  const TimeRange stretch = stretch_of(rows, index);
  return elsewhere >= int64_t(least) && uint64_t(elsewhere) > (stretch.length() - waited_in(id, stretch)) / 2;
}

ThreadActivity::Piece ThreadActivity::last_piece(ThreadId id, uint64_t begin, uint64_t end) const {
  const load::Thread& thread = profile_.threads[id.index()];
  const std::vector<RunEvent>& events = profile_.run_states.events;
  const auto rows = events_of(thread.track);
  const auto next =
      std::ranges::lower_bound(rows, end, {}, [&](uint32_t row) { return events[row].time_ns; });
  Piece piece{{begin, end}, Activity::kUnknown, WaitKind::kOther};
  if (next != rows.begin() && !events[*(next - 1)].ended) {
    const auto index = size_t(next - rows.begin()) - 1;
    const RunEvent& event = events[rows[index]];
    const uint64_t until = stretch_of(rows, index).end;
    if (until >= end) {
      piece.range.begin = std::max(begin, event.time_ns);
      const bool blocked = blocked_elsewhere(id, rows, index);
      piece.what = blocked && piece.range.length() >= kLeastSwitched ? Activity::kBlocked : Activity::kActive;
      piece.wait = event.wait;
      piece.short_wait = piece.what == Activity::kActive && event.active() == 0 && blocked;
      return piece;
    }
    piece.range.begin = std::max(begin, until);
  } else if (next != rows.begin()) {
    piece.range.begin = std::max(begin, events[*(next - 1)].time_ns);
  }
  // The observer says nothing: what the agent was there for counts as active.
  if (thread.seen_only) return piece;
  const uint64_t known = last_known(id);
  if (end <= known) {
    piece.what = Activity::kActive;
  } else if (piece.range.begin < known) {
    piece.range.begin = known;
  }
  return piece;
}

uint64_t ThreadActivity::first_ran(ThreadId id) const {
  const load::Thread& thread = profile_.threads[id.index()];
  if (thread.creator.valid() && thread.told_start.count) return thread.told_start.count;
  if (profile_.run_states.source != load::RunStates::Source::kSwitches) return thread.start_time.count;
  const std::vector<RunEvent>& events = profile_.run_states.events;
  const auto rows = events_of(thread.track);
  auto row = std::ranges::lower_bound(rows, thread.start_time.count, {},
                                      [&](uint32_t each) { return events[each].time_ns; });
  // A hostile profile may have any number of others first.
  for (int looks = 0; looks < 16 && row != rows.end(); ++looks, ++row)
    if (events[*row].running != 0) return events[*row].time_ns;
  return thread.start_time.count;
}

uint64_t ThreadActivity::last_active(ThreadId id) const {
  const TrackId track = profile_.threads[id.index()].track;
  return track.valid() ? last_active_[track.index()] : 0;
}

bool ThreadActivity::observed_blocked(ThreadId id, uint64_t time) const {
  const std::vector<RunEvent>& events = profile_.run_states.events;
  const auto rows = events_of(profile_.threads[id.index()].track);
  const auto next =
      std::ranges::upper_bound(rows, time, {}, [&](uint32_t row) { return events[row].time_ns; });
  return next != rows.begin() && !events[*(next - 1)].ended && events[*(next - 1)].active() == 0;
}

ThreadActivity::Piece ThreadActivity::last_observed(ThreadId id, uint64_t begin, uint64_t end) const {
  const std::vector<RunEvent>& events = profile_.run_states.events;
  const auto rows = events_of(profile_.threads[id.index()].track);
  const auto next =
      std::ranges::lower_bound(rows, end, {}, [&](uint32_t row) { return events[row].time_ns; });
  if (next == rows.begin() || events[*(next - 1)].ended) return {{begin, end}, Activity::kUnknown, {}};
  const RunEvent& event = events[*(next - 1)];
  return {{std::max(begin, event.time_ns), end},
          event.active() == RunEvent::kWhole ? Activity::kActive : Activity::kBlocked,
          event.wait};
}

uint64_t ThreadActivity::last_known(ThreadId id) const {
  const uint64_t end = profile_.threads[id.index()].end_time.count;
  return end != 0 ? end : last_sign_[id.index()];
}

}  // namespace varve::analyze
