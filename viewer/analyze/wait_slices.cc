// SPDX-License-Identifier: MIT
// See wait_slices.h.
// Context: viewer.
#include "viewer/analyze/wait_slices.h"

#include <algorithm>
#include <tuple>

namespace varve::analyze {
namespace {

using load::Wait;

/// Short waits for other objects, of the mutex for one, are in between.
constexpr size_t kMostBetween = 4;

bool may_go_on(const Wait& wait) {
  return wait.timed_out && wait.count == 1 && format::may_be_slice(wait.duration_ns);
}

bool is_next_slice(const Wait& wait, const Wait& next) {
  const auto what = [](const Wait& of) {
    return std::tuple(of.thread, of.kind, of.object, of.path, of.count);
  };
  return what(wait) == what(next);
}

}  // namespace

std::vector<uint32_t> last_slices(const load::Profile& profile) {
  const std::vector<Wait>& waits = profile.waits.waits;  // by thread, then by end
  std::vector<uint32_t> last(waits.size());
  for (size_t row = waits.size(); row-- > 0;) {
    last[row] = uint32_t(row);
    if (!may_go_on(waits[row])) continue;
    const size_t end = std::min(waits.size(), row + 2 + kMostBetween);
    for (size_t next = row + 1; next < end && waits[next].thread == waits[row].thread; ++next) {
      if (!is_next_slice(waits[row], waits[next])) continue;
      if (format::goes_on(waits[row].end_ns, waits[next].begin_ns())) last[row] = last[next];
      break;
    }
  }
  return last;
}

}  // namespace varve::analyze
