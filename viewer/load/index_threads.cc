// SPDX-License-Identifier: MIT
// See index_threads.h.
// Context: viewer.
#include "viewer/load/index_threads.h"

#include <algorithm>
#include <tuple>

namespace varve::load {

void index_threads(Profile& profile) {
  std::vector<uint32_t>& rows = profile.threads_by_tid;
  rows.clear();
  for (uint32_t row = 0; row < profile.threads.size(); ++row)
    if (!profile.threads[row].name.empty()) rows.push_back(row);
  std::ranges::sort(rows, {}, [&](uint32_t row) {
    const Thread& thread = profile.threads[row];
    return std::tuple(thread.process, thread.tid, row);
  });
}

}  // namespace varve::load
