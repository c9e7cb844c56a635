// SPDX-License-Identifier: MIT
// See wait_slices.h.
// Context: viewer.
#include "viewer/analyze/wait_slices.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace varve::analyze {
namespace {

using load::Wait;

/// Short waits for other objects, of the mutex for one, are in between.
constexpr size_t kMostBetween = 4;

/// A thread that ticks a little faster than timers do is let go on once, in the end; that did not keep it
/// waiting for hours.
constexpr uint64_t kLongestWait = 1000 * kNanosPerMilli.count;

bool may_go_on(const Wait& wait) {
  return wait.timed_out && !wait.is_sum() && format::may_be_slice(wait.kind, wait.duration_ns);
}

bool is_next_slice(const Wait& wait, const Wait& next) {
  const auto what = [](const Wait& of) {
    return std::tuple(of.thread, of.kind, of.object, of.creation, of.path, of.count);
  };
  return what(wait) == what(next);
}

/// The row of the next slice; `row` where there is none.
size_t next_slice(const std::vector<Wait>& waits, size_t row) {
  if (!may_go_on(waits[row])) return row;
  const size_t end = std::min(waits.size(), row + 2 + kMostBetween);
  for (size_t next = row + 1; next < end && waits[next].thread == waits[row].thread; ++next)
    if (is_next_slice(waits[row], waits[next]))
      return format::goes_on(waits[row].end_ns, waits[next].begin_ns()) ? next : row;
  return row;
}

}  // namespace

WaitSlices wait_slices(const load::Profile& profile) {
  const std::vector<Wait>& waits = profile.waits.waits;  // by thread, then by end
  WaitSlices slices;
  slices.first.resize(waits.size());
  std::iota(slices.first.begin(), slices.first.end(), 0u);
  slices.last = slices.first;
  std::vector<uint32_t> next = slices.first;
  for (size_t row = waits.size(); row-- > 0;) {
    const size_t after = next_slice(waits, row);
    if (after == row || waits[slices.last[after]].end_ns - waits[row].begin_ns() > kLongestWait) continue;
    next[row] = uint32_t(after);
    slices.last[row] = slices.last[after];
  }
  for (size_t row = 0; row < waits.size(); ++row)
    if (next[row] != row) slices.first[next[row]] = slices.first[row];
  return slices;
}

}  // namespace varve::analyze
