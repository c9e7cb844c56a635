// SPDX-License-Identifier: MIT
// See creations.h.
// Context: viewer.
#include "viewer/load/creations.h"

#include <algorithm>
#include <tuple>

namespace varve::load {
namespace {

struct Made {
  ProcessId process;
  uint64_t object = 0;
  uint64_t time_ns = 0;
  uint32_t row = 0;  // of Waits::creations
  auto key() const { return std::tuple(process, object, time_ns); }
};

/// By process, object and time; of one moment the last that its thread noted.
std::vector<Made> by_object(const Profile& profile) {
  std::vector<Made> all;
  const std::vector<Creation>& creations = profile.waits.creations;
  for (uint32_t row = 0; row < creations.size(); ++row)
    all.push_back({profile.threads[creations[row].thread.index()].process, creations[row].object,
                   creations[row].time_ns, row});
  std::ranges::stable_sort(all, {}, &Made::key);
  return all;
}

/// When the thread began to wait: what it waits for may be destroyed, and another made in its place, before
/// it is awake. Of a sum of several waits when the last may have begun.
uint64_t began(const Wait& wait) {
  const uint64_t one = wait.duration_ns / std::max(wait.count, 1u);
  return wait.end_ns - std::min(one, wait.end_ns);
}

}  // namespace

void find_creations(Profile& profile) {
  const std::vector<Made> all = by_object(profile);
  if (all.empty()) return;
  for (Wait& wait : profile.waits.waits) {
    if (!format::is_in_memory(wait.kind)) continue;
    const ProcessId process = profile.threads[wait.thread.index()].process;
    const auto after =
        std::ranges::upper_bound(all, std::tuple(process, wait.object, began(wait)), {}, &Made::key);
    if (after == all.begin()) continue;
    const Made& last = *(after - 1);
    const bool is_of_it = last.process == process && last.object == wait.object;
    if (is_of_it && profile.waits.creations[last.row].made) wait.creation = last.row + 1;
  }
}

}  // namespace varve::load
