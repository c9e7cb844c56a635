// SPDX-License-Identifier: MIT
// See first_ticks.h. That each tick stands for the inverse of the chance to have it is the estimator of
// Horvitz and Thompson, A generalization of sampling without replacement from a finite universe, 1952.
// Context: viewer.
#include "viewer/load/first_ticks.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "common/session_keys.h"
#include "viewer/load/held_back.h"

namespace varve::load {
namespace {

constexpr uint32_t kNoGroup = UINT32_MAX;

struct Donor {
  PathId path;
  uint64_t lacks;
};

/// Threads that begin likewise.
struct Group {
  double cpu = 0, residual = 0, lacking = 0;  // ns
  uint64_t samples = 0;
  double seen = 0;            // residual of the rows so far, less what went to their own first ticks
  uint64_t given = 0;         // of it
  std::vector<Donor> donors;  // what is left of their needs once their own threads gave
  size_t next = 0;            // donor
  double left = 0;            // sum of their needs
  double offered = 0;         // residual that own first ticks do not need

  bool matters() const { return residual * residual * double(samples) > cpu * cpu; }
  /// Of what each first tick lacks, so that together they get no more than there is.
  double part() const { return lacking > residual ? residual / lacking : 1; }
};

/// From one tick to the next while a thread has its first: CPU timers expire on ticks of the scheduler.
Nanos first_interval(const Session& session) {
  const bool timer = session.text(session_key::kFirstTimer) == "cpu";
  return std::max(session.interval, Nanos{timer ? session.number(session_key::kKernelTickNs) : 0});
}

class ResidualPlacer {
 public:
  ResidualPlacer(Profile& profile, const std::vector<ThreadFacts>& facts, const std::vector<LedgerRow>& rows)
      : profile_(profile), facts_(facts), residual_(profile.threads.size()), own_(profile.threads.size()) {
    for (const LedgerRow& row : rows)
      if (row.kind == SpecialSite::kResidual && row.thread.valid()) take_residual(row);
    group_threads();
    for (uint32_t i = 0; i < group_of_.size(); ++i)
      if (matters({i})) give_own({i});
  }

  void place(const LedgerRow& row, std::vector<LedgerRow>& placed) {
    const size_t first = placed.size();
    uint64_t left = row.weight.count;
    if (row.kind == SpecialSite::kResidual && row.thread.valid() && matters(row.thread)) {
      const uint32_t thread = row.thread.index();
      left -= add(row, facts_[thread].first_path, own_[thread], placed);
      left -= share(row, residual_[thread] - own_[thread], placed);
      profile_.residual_placed += {row.weight.count - left};
    }
    if (left != 0 || placed.size() == first)
      placed.push_back({row.thread, row.time, {left}, row.path, row.kind});
  }

 private:
  bool matters(ThreadId thread) const {
    const uint32_t group = group_of_[thread.index()];
    return group != kNoGroup && groups_[group].matters();
  }

  /// Of time for which ticks were held back, or that the kernel took for the thread's end, no place is known.
  void take_residual(const LedgerRow& row) {
    const Nanos ticked = saturating_sub(row.weight, facts_[row.thread.index()].kernel_end);
    const Thread& thread = profile_.threads[row.thread.index()];
    if (ticked <= longest_between_ticks(profile_, thread.interval_doublings))
      residual_[row.thread.index()] = ticked.count;
  }

  /// What the thread's first tick lacks of an interval; nothing where it was not the first sample.
  uint64_t lacks(uint32_t row) const {
    const Thread& thread = profile_.threads[row];
    const bool all_there =
        thread.paused == Nanos{} && thread.sampled == saturating_sub(thread.last_cpu, thread.start_cpu);
    if (thread.samples == 0 || !all_there) return 0;
    return saturating_sub(interval_, facts_[row].first_weight).count;
  }

  void group_threads() {
    std::map<std::pair<std::string_view, uint32_t>, uint32_t> known;
    group_of_.assign(profile_.threads.size(), kNoGroup);
    for (uint32_t i = 0; i < group_of_.size(); ++i) {
      const Thread& thread = profile_.threads[i];
      if (thread.no_timer || thread.seen_only) continue;
      const std::string_view program = profile_.processes[thread.process.index()].exe;
      const auto at = known.try_emplace({program, facts_[i].start_routine.value}, uint32_t(groups_.size()));
      if (at.second) groups_.emplace_back();
      Group& group = groups_[group_of_[i] = at.first->second];
      group.cpu += double(thread.sampled.count) + double(residual_[i]);
      group.residual += double(residual_[i]);
      group.lacking += double(lacks(i));
      group.samples += thread.samples;
    }
  }

  void give_own(ThreadId thread) {
    const uint32_t row = thread.index();
    Group& group = groups_[group_of_[row]];
    const auto needs = uint64_t(double(lacks(row)) * group.part());
    own_[row] = std::min(needs, residual_[row]);
    group.offered += double(residual_[row] - own_[row]);
    if (needs == own_[row]) return;
    group.left += double(needs - own_[row]);
    group.donors.push_back({facts_[row].first_path, needs - own_[row]});
  }

  /// The row's part of what others' first ticks lack: of each row the same share. Returns how much that was.
  uint64_t share(const LedgerRow& row, uint64_t offers, std::vector<LedgerRow>& placed) {
    Group& group = groups_[group_of_[row.thread.index()]];
    if (group.left == 0 || offers == 0) return 0;
    group.seen += double(offers);
    const double due = group.seen * std::min(1.0, group.left / group.offered);
    uint64_t left = std::min(offers, uint64_t(std::max(0.0, due - double(group.given))));
    const uint64_t wanted = left;
    for (; left != 0 && group.next < group.donors.size();) {
      Donor& donor = group.donors[group.next];
      const uint64_t part = add(row, donor.path, std::min(left, donor.lacks), placed);
      left -= part;
      donor.lacks -= part;
      if (donor.lacks == 0) ++group.next;
    }
    group.given += wanted - left;
    return wanted - left;
  }

  static uint64_t add(const LedgerRow& row, PathId path, uint64_t weight, std::vector<LedgerRow>& placed) {
    if (weight != 0) placed.push_back({row.thread, row.time, {weight}, path, row.kind});
    return weight;
  }

  Profile& profile_;
  const Nanos interval_ = first_interval(profile_.session);
  const std::vector<ThreadFacts>& facts_;
  std::vector<uint64_t> residual_;  // by thread: after its last tick, while more could have come
  std::vector<uint64_t> own_;       // by thread: of that for its own first tick
  std::vector<uint32_t> group_of_;  // by thread
  std::vector<Group> groups_;
};

}  // namespace

std::vector<LedgerRow> place_at_first_ticks(Profile& profile, const std::vector<ThreadFacts>& facts,
                                            const std::vector<LedgerRow>& rows) {
  ResidualPlacer placer(profile, facts, rows);
  std::vector<LedgerRow> placed;
  placed.reserve(rows.size());
  for (const LedgerRow& row : rows) placer.place(row, placed);
  return placed;
}

}  // namespace varve::load
