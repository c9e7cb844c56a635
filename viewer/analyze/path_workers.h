// SPDX-License-Identifier: MIT
// The paths with time of a profile, shared among threads: as many each, and in ranges, so that each thread
// reads memory forwards. Context: viewer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

#include "viewer/analyze/path_times.h"
#include "viewer/load/start_thread.h"

namespace varve::analyze {

/// How many threads are worth starting: each for some ten milliseconds of work.
inline size_t workers_for(const PathTimes& by_path) {
  constexpr size_t kPathsEach = 100'000, kMost = 8;
  const size_t wanted = std::clamp<size_t>(by_path.with().size() / kPathsEach, 1, kMost);
  return std::clamp<size_t>(std::thread::hardware_concurrency(), 1, wanted);
}

/// Calls work(part, first, end), each part in a thread of its own, and waits for them.
template <typename Work>
void share_paths(const PathTimes& by_path, size_t parts, const Work& work) {
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < parts; ++i) {
    const size_t first = by_path.with().part(i, parts), end = by_path.with().part(i + 1, parts);
    if (i + 1 == parts || !load::start_thread(threads, work, i, first, end)) work(i, first, end);
  }
}

}  // namespace varve::analyze
