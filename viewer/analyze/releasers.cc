// SPDX-License-Identifier: MIT
// See releasers.h.
// Context: viewer.
#include "viewer/analyze/releasers.h"

#include <algorithm>
#include <tuple>

#include "viewer/analyze/pipe_partners.h"
#include "viewer/analyze/task_origin.h"

namespace varve::analyze {
namespace {

using format::ObjectKind;

/// No thread lets go of what it waits for, but a damaged profile may say so as often as it likes.
constexpr int kMostLooks = 16;

/// The end of a thread or process was noted by another than the one that ended.
bool is_end(ObjectKind kind) { return kind == ObjectKind::kThread || kind == ObjectKind::kChild; }

}  // namespace

Releasers::Releasers(const load::Profile& profile) : profile_(profile), partners_(profile) {
  rows_.reserve(profile.waits.releases.size() + profile.threads.size());
  for (const load::Release& release : profile.waits.releases)
    if (release.kind != ObjectKind::kDescriptor || release.flow != 0)
      rows_.push_back({key_of(release), release.time_ns, release.thread, release.path, release.waiters,
                       release.kind == ObjectKind::kBarrier ? release.waited_ns : 0});
  add_thread_ends(profile);
  add_process_ends(profile);
  sort();
  add_unseen_partners(profile);
}

void Releasers::sort() {
  std::ranges::sort(rows_, {}, [](const Row& row) { return std::tuple(row.key, row.time_ns, row.thread); });
}

void Releasers::add_unseen_partners(const load::Profile& profile) {
  if (partners_.empty()) return;
  std::vector<Row> rows;
  for (const load::Wait& wait : profile.waits.waits) {
    if (wait.is_sum() || wait.timed_out || wait.flow == 0 || !during(wait).empty()) continue;
    const ProcessId own = profile.threads[wait.thread.index()].process;
    const auto partner = partners_.who_ended(PipePartners::end_of(wait), own, wait.end_ns, false);
    if (partner && partner->thread.valid())
      rows.push_back({key_of(wait), wait.end_ns, partner->thread, {0}, 1});
  }
  rows_.insert(rows_.end(), rows.begin(), rows.end());
  sort();
}

void Releasers::add_thread_ends(const load::Profile& profile) {
  for (uint32_t i = 0; i < profile.threads.size(); ++i) {
    const load::Thread& thread = profile.threads[i];
    // Those that join it go on before the kernel is done with it.
    const uint64_t end = thread.told_end.count ? thread.told_end.count : thread.end_time.count;
    if (end != 0)
      rows_.push_back(
          {{thread.process.value, ObjectKind::kThread, uint64_t(uint32_t(thread.tid))}, end, {i}, {0}, 1});
  }
}

/// Twice each: under its pid, and under 0 for a parent that waited for any of its children.
void Releasers::add_process_ends(const load::Profile& profile) {
  const std::vector<ThreadId> mains = main_threads(profile);
  for (size_t i = 0; i < profile.processes.size(); ++i) {
    const load::Process& process = profile.processes[i];
    if (process.end == format::ImageEnd::kExec || !mains[i].valid()) continue;
    uint64_t end = profile.threads[mains[i].index()].end_time.count;
    if (end == 0) end = end_of_process(process);
    if (end == 0) continue;
    for (const uint64_t pid : {uint64_t(0), uint64_t(uint32_t(process.pid))})
      rows_.push_back({{uint32_t(process.ppid), ObjectKind::kChild, pid}, end, mains[i], {0}, 1});
  }
}

/// One way of a pipe or connection is the same in all processes.
Releasers::Key Releasers::key_of_flow(uint32_t flow, uint64_t object) {
  constexpr uint32_t kAnyProcess = UINT32_MAX;
  return {kAnyProcess, ObjectKind::kDescriptor, flow | (object & format::kToSend)};
}

Releasers::Key Releasers::key_of(const load::Release& release) const {
  if (release.flow != 0) return key_of_flow(release.flow, release.object);
  return {profile_.threads[release.thread.index()].process.value, release.kind, release.object};
}

Releasers::Key Releasers::key_of(const load::Wait& wait) const {
  if (wait.flow != 0) return key_of_flow(wait.flow, wait.object);
  const ProcessId process = profile_.threads[wait.thread.index()].process;
  if (wait.kind != ObjectKind::kChild) return {process.value, wait.kind, wait.object};
  // waitpid() takes a pid; 0 and what is negative stand for a group or for any.
  const auto pid = int32_t(wait.object);
  return {uint32_t(profile_.processes[process.index()].pid), wait.kind, pid > 0 ? uint64_t(pid) : 0};
}

bool Releasers::may_have_ended(const Row& row, const load::Wait& wait) const {
  return row.thread != wait.thread &&
         profile_.threads[row.thread.index()].start_time.count < std::max<uint64_t>(wait.end_ns, 1);
}

std::optional<Releaser> Releasers::of(const load::Wait& wait) const {
  const Row* row = row_of(wait);
  if (!row) return std::nullopt;
  return Releaser{row->thread, std::clamp(row->time_ns, wait.begin_ns(), wait.end_ns)};
}

/// The thread came at the time of its row, but may have lost its processor before it was counted: of those
/// that had not come to the barrier yet some began to wait after that.
const Releasers::Row* Releasers::last_to_come(const load::Wait& wait) const {
  const auto within = during(wait);
  for (const Row& row : within.first(std::min(within.size(), size_t(kMostLooks))))
    if (may_have_ended(row, wait)) return &row;
  const Row* const next = within.data();
  if (next == rows_.data()) return nullptr;
  const Row& before = *(next - 1);
  const bool met = before.key == key_of(wait) && before.time_ns + before.lasted_ns >= wait.begin_ns();
  return met && may_have_ended(before, wait) ? &before : nullptr;
}

const Releasers::Row* Releasers::row_of(const load::Wait& wait) const {
  if (wait.timed_out) return nullptr;
  if (wait.kind == ObjectKind::kBarrier) return last_to_come(wait);
  const Key key = key_of(wait);
  const uint64_t tolerance = is_end(wait.kind) ? kEndTolerance : 0;
  const uint64_t begin = wait.begin_ns(), end = wait.end_ns;
  const auto at = [](const Row& row) { return std::pair(row.key, row.time_ns); };
  const auto after = std::ranges::upper_bound(rows_, std::pair(key, end), {}, at);
  const Row* nearest = nullptr;
  for (auto row = after; row != rows_.begin() && after - row < kMostLooks && !nearest;) {
    --row;
    if (row->key != key || row->time_ns + std::max(tolerance, format::kWaitClockNs) < begin) break;
    if (may_have_ended(*row, wait)) nearest = &*row;
  }
  const uint64_t most = nearest ? std::min(tolerance, end - nearest->time_ns) : tolerance;
  for (auto row = after; row != rows_.end() && row - after < kMostLooks; ++row) {
    if (row->key != key || row->time_ns - end > most) break;
    if (may_have_ended(*row, wait)) return &*row;
  }
  return nearest;
}

std::span<const Releasers::Row> Releasers::during(const load::Wait& wait) const {
  const Key key = key_of(wait);
  const auto at = [](const Row& row) { return std::pair(row.key, row.time_ns); };
  const auto first = std::ranges::lower_bound(rows_, std::pair(key, wait.begin_ns()), {}, at);
  const auto last = std::ranges::upper_bound(first, rows_.end(), std::pair(key, wait.end_ns), {}, at);
  return {first, last};
}

std::optional<Releaser> Releasers::ended_child(ThreadId thread, uint64_t begin, uint64_t end,
                                               bool waited) const {
  const load::Process& process = profile_.processes[profile_.threads[thread.index()].process.index()];
  const Key key{uint32_t(process.pid), ObjectKind::kChild, 0};
  const auto at = [](const Row& row) { return std::pair(row.key, row.time_ns); };
  const auto row = std::ranges::upper_bound(rows_, std::pair(key, end), {}, at);
  if (row == rows_.begin()) return std::nullopt;
  const Row& last = *(row - 1);
  const uint64_t since = waited ? begin : std::max(begin, end - std::min(end, kEndTolerance));
  if (last.key != key || last.time_ns < since || last.thread == thread) return std::nullopt;
  return Releaser{last.thread, last.time_ns};
}

}  // namespace varve::analyze
