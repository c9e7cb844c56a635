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

/// Processes by pid and start, for children that go on with their parent's memory.
class Forks {
 public:
  explicit Forks(const std::vector<Process>& processes) : processes_(processes) {
    for (uint32_t i = 0; i < processes.size(); ++i)
      by_start_.push_back({processes[i].pid, processes[i].start_time.count, {i}});
    std::ranges::sort(by_start_);
  }

  /// The process that it was forked from; none where another program was begun.
  ProcessId parent_of(ProcessId id) const {
    const Process& child = processes_[id.index()];
    const auto after =
        std::ranges::lower_bound(by_start_, std::tuple(child.ppid, child.start_time.count, ProcessId{0}));
    if (child.image != 0 || after == by_start_.begin()) return ProcessId::none();
    const auto [pid, start, parent] = *(after - 1);
    return pid == child.ppid && processes_[parent.index()].exe == child.exe ? parent : ProcessId::none();
  }

 private:
  const std::vector<Process>& processes_;
  std::vector<std::tuple<int32_t, uint64_t, ProcessId>> by_start_;
};

/// The last that is known of the object's life at that time.
const Made* last_of(const std::vector<Made>& all, ProcessId process, uint64_t object, uint64_t time_ns) {
  const auto after = std::ranges::upper_bound(all, std::tuple(process, object, time_ns), {}, &Made::key);
  if (after == all.begin()) return nullptr;
  const Made& last = *(after - 1);
  return last.process == process && last.object == object ? &last : nullptr;
}

using ObjectOf = std::pair<ProcessId, uint64_t>;

/// `unknown`: objects that threads waited for and nobody was seen to make, sorted; each is the first of its
/// address, as names have it.
void number_lives(std::vector<Creation>& creations, const std::vector<Made>& all,
                  const std::vector<bool>& waited_for, const std::vector<ObjectOf>& unknown) {
  uint32_t life = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const ObjectOf object(all[i].process, all[i].object);
    if (i == 0 || object != ObjectOf(all[i - 1].process, all[i - 1].object))
      life = std::ranges::binary_search(unknown, object);
    if (waited_for[all[i].row]) creations[all[i].row].life = ++life;
  }
}

}  // namespace

void find_creations(Profile& profile) {
  const std::vector<Made> all = by_object(profile);
  if (all.empty()) return;
  const Forks forks(profile.processes);
  std::vector<bool> waited_for(all.size());  // by row
  std::vector<ObjectOf> unknown;
  constexpr int kMostForks = 64;  // one below the other; a damaged profile may have circles
  for (Wait& wait : profile.waits.waits) {
    if (!format::is_in_memory(wait.kind)) continue;
    ProcessId process = profile.threads[wait.thread.index()].process;
    uint64_t time = began(wait);
    const Made* last = last_of(all, process, wait.object, time);
    for (int i = 0; i < kMostForks && !last; ++i) {
      time = std::min(time, profile.processes[process.index()].start_time.count);
      process = forks.parent_of(process);
      if (!process.valid()) break;
      last = last_of(all, process, wait.object, time);
    }
    if (!last || !profile.waits.creations[last->row].made) {
      unknown.emplace_back(profile.threads[wait.thread.index()].process, wait.object);
      continue;
    }
    wait.creation = last->row + 1;
    waited_for[last->row] = true;
  }
  std::ranges::sort(unknown);
  number_lives(profile.waits.creations, all, waited_for, unknown);
}

}  // namespace varve::load
