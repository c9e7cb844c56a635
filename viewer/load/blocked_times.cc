// SPDX-License-Identifier: MIT
// See blocked_times.h.
// Context: viewer.
#include "viewer/load/blocked_times.h"

#include <algorithm>

namespace varve::load {

std::optional<BlockedStretch> BlockedTimes::around(uint64_t time_ns) {
  const size_t last = at(time_ns);
  if (events_.empty() || event(last).time_ns > time_ns || !is_blocked(last)) return std::nullopt;
  if (last < first_ || last > last_) {
    first_ = last_ = last;
    while (first_ > 0 && is_blocked(first_ - 1)) --first_;
    while (last_ + 1 < events_.size() && is_blocked(last_ + 1)) ++last_;
  }
  return BlockedStretch{begin_of(first_), end_of(last_)};
}

size_t BlockedTimes::at(uint64_t time_ns) const {
  const auto time = [&](uint32_t row) { return states_.events[row].time_ns; };
  const auto after = std::ranges::upper_bound(events_, time_ns, {}, time);
  return after == events_.begin() ? 0 : size_t(after - events_.begin()) - 1;
}

uint64_t BlockedTimes::last_end_ns() const {
  size_t last = size();
  while (last > 0 && part(last - 1).blocked_ns == 0) --last;
  return last == 0 ? 0 : part(last - 1).within.end;
}

BlockedTimes::Part BlockedTimes::part(size_t i) const {
  const bool any = is_blocked(i) || is_partly_blocked(i);
  return {{event(i).time_ns, time_after(i)}, any ? blocked_in(i) : 0, std::max<uint32_t>(event(i).quanta, 1)};
}

bool BlockedTimes::is_blocked(size_t i) const { return event(i).active() == 0 && !event(i).ended; }

bool BlockedTimes::is_partly_blocked(size_t i) const {
  return i < events_.size() && !event(i).ended && event(i).active() < RunEvent::kWhole &&
         event(i).active() > 0;
}

uint64_t BlockedTimes::time_after(size_t i) const {
  const uint64_t end = i + 1 < events_.size() ? event(i + 1).time_ns : states_.end.count;
  return std::max(end, event(i).time_ns);
}

uint64_t BlockedTimes::blocked_in(size_t i) const {
  const double share = double(RunEvent::kWhole - event(i).active()) / RunEvent::kWhole;
  return uint64_t(double(time_after(i) - event(i).time_ns) * share);
}

/// A sweep knows no order. A thread that ran in it and then waited has waited from then on until its end; one
/// that waited on both sides belongs to both waits.
uint64_t BlockedTimes::begin_of(size_t first) const {
  const uint64_t begin = event(first).time_ns;
  if (first == 0 || !is_partly_blocked(first - 1)) return begin;
  return begin - blocked_in(first - 1) / (first > 1 && is_blocked(first - 2) ? 2 : 1);
}

uint64_t BlockedTimes::end_of(size_t last) const {
  const uint64_t end = time_after(last);
  if (!is_partly_blocked(last + 1)) return end;
  return end + blocked_in(last + 1) / (last + 2 < events_.size() && is_blocked(last + 2) ? 2 : 1);
}

}  // namespace varve::load
