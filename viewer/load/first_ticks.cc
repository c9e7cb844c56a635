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
#include "common/tick_event.h"
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

/// Older profiles do not say it.
bool begins_with_timer(const Session& session) {
  const std::string_view first = session.text(session_key::kFirstTimer);
  return (first.empty() ? session.text(session_key::kTimer) : first) == "cpu";
}

class ResidualPlacer {
 public:
  ResidualPlacer(Profile& profile, const std::vector<ThreadFacts>& facts, const std::vector<LedgerRow>& rows)
      : profile_(profile), facts_(facts), parts_(profile.threads.size()) {
    for (const LedgerRow& row : rows)
      if (row.kind == SpecialSite::kResidual && row.thread.valid())
        part_of(row).after_ticks += row.weight.count;
    for (uint32_t i = 0; i < parts_.size(); ++i) judge({i});
    group_threads();
    for (Part& part : parts_)
      if (part.placeable) give_own(part);
  }

  void place(const LedgerRow& row, std::vector<LedgerRow>& placed) {
    const size_t first = placed.size();
    uint64_t left = row.weight.count;
    if (row.kind == SpecialSite::kResidual && row.thread.valid() && part_of(row).placeable) {
      Part& part = part_of(row);
      const uint64_t after_ticks = std::min(left, part.after_ticks), own = std::min(after_ticks, part.own);
      part.after_ticks -= after_ticks;
      part.own -= add(row, facts_[row.thread.index()].first_path, own, placed);
      left -= own + share(row, after_ticks - own, placed);
      profile_.residual_placed += {row.weight.count - left};
    }
    if (left != 0 || placed.size() == first)
      placed.push_back({row.thread, row.time, {left}, row.path, row.kind});
  }

 private:
  /// Of a thread.
  struct Part {
    uint64_t after_ticks = 0;  // residual time in which its next tick could have come
    uint64_t lacks = 0;        // what its first tick has less than it stands for
    uint64_t own = 0;          // of after_ticks: for its own first tick
    PathId first_path;
    uint32_t group = kNoGroup;
    bool placeable = false;
  };

  Part& part_of(const LedgerRow& row) { return parts_[row.thread.index()]; }

  /// Either both, or neither: of a thread that was killed, paused or lost samples, or whose ticks were held
  /// back, one of them is not known. What the kernel took for its end comes last, and has no tick.
  void judge(ThreadId id) {
    const Thread& thread = profile_.threads[id.index()];
    const ThreadFacts& facts = facts_[id.index()];
    Part& part = parts_[id.index()];
    const Nanos after_ticks = saturating_sub(Nanos{part.after_ticks}, facts.kernel_end);
    const bool ticked = !thread.no_timer && !thread.seen_only && thread.end_cpu != Nanos{};
    const bool all_there =
        thread.paused == Nanos{} && thread.sampled == saturating_sub(thread.last_cpu, thread.start_cpu);
    part.placeable = ticked && all_there &&
                     after_ticks <= longest_between_ticks(profile_, thread.interval_doublings) &&
                     (thread.samples == 0 || profile_.has_stack(facts.first_path));
    part.after_ticks = part.placeable ? after_ticks.count : 0;
    if (!part.placeable || thread.samples == 0) return;
    part.lacks = saturating_sub(interval_, facts.first_weight).count;
    part.first_path = facts.first_path;
  }

  void group_threads() {
    const std::vector<uint32_t> programs = numbered_programs();
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> known;
    for (uint32_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      if (!part.placeable) continue;
      const Thread& thread = profile_.threads[i];
      const std::pair key(programs[thread.process.index()], facts_[i].start_routine.value);
      const auto [at, added] = known.try_emplace(key, uint32_t(groups_.size()));
      if (added) groups_.emplace_back();
      Group& group = groups_[part.group = at->second];
      group.cpu += double(thread.sampled.count) + double(part.after_ticks);
      group.residual += double(part.after_ticks);
      group.lacking += double(part.lacks);
      group.samples += thread.samples;
    }
    for (Part& part : parts_) part.placeable = part.group != kNoGroup && groups_[part.group].matters();
  }

  /// By process: the same number for the same program.
  std::vector<uint32_t> numbered_programs() const {
    std::map<std::string_view, uint32_t> known;
    std::vector<uint32_t> numbers;
    for (const Process& process : profile_.processes)
      numbers.push_back(known.try_emplace(process.exe, uint32_t(known.size())).first->second);
    return numbers;
  }

  void give_own(Part& part) {
    Group& group = groups_[part.group];
    const auto needs = uint64_t(double(part.lacks) * group.part());
    part.own = std::min(needs, part.after_ticks);
    group.offered += double(part.after_ticks - part.own);
    if (needs == part.own) return;
    group.left += double(needs - part.own);
    group.donors.push_back({part.first_path, needs - part.own});
  }

  /// The row's part of what others' first ticks lack: of each row the same share. Returns how much that was.
  uint64_t share(const LedgerRow& row, uint64_t offers, std::vector<LedgerRow>& placed) {
    Group& group = groups_[part_of(row).group];
    if (group.left == 0 || offers == 0) return 0;
    group.seen += double(offers);
    const double due = group.seen * std::min(1.0, group.left / group.offered);
    uint64_t left = std::min(offers, uint64_t(std::max(0.0, due - double(group.given))));
    const uint64_t wanted = left;
    while (left != 0 && group.next < group.donors.size()) {
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
  std::vector<Part> parts_;  // by thread
  std::vector<Group> groups_;
};

}  // namespace

Nanos first_interval(const Session& session) {
  const Nanos tick{begins_with_timer(session) ? session.number(session_key::kKernelTickNs) : 0};
  return std::max(session.interval, tick);
}

EarlyTicks early_ticks(const Session& session) {
  constexpr uint64_t kIntervals = 2;  // distances of events are drawn around one
  const bool two_kinds = begins_with_timer(session) && session.text(session_key::kTimer) == "perf";
  const Nanos first = first_interval(session), from{format::kEventsAfterNs};
  if (!two_kinds || first <= session.interval || first > from) return {};
  return {from, from + first, {kIntervals * session.interval.count}};
}

void note_first(ThreadFacts& facts, uint64_t time_ns, uint64_t weight_ns, PathId path, size_t row) {
  if (facts.first_path.valid() && facts.first_sample.count <= time_ns) return;
  facts.first_sample = {time_ns};
  facts.first_weight = {weight_ns};
  facts.first_path = path;
  facts.first_row = row;
}

uint64_t early_part(const Thread& thread, ThreadFacts& facts, const EarlyTicks& early, uint64_t before,
                    uint64_t weight_ns) {
  if (!facts.first_path.valid() || thread.paused != Nanos{} || weight_ns > early.longest.count) return 0;
  // Main threads have used some before the agent began.
  const uint64_t from = saturating_sub(early.from, thread.start_cpu).count;
  const uint64_t until = from + (early.until - early.from).count;
  // The one that reaches beyond stands for an interval, as those that follow do.
  if (before < from || before >= until || weight_ns > until - before) return 0;
  const Nanos lacks = saturating_sub(early.until - early.from, facts.first_weight);
  const Nanos part = std::min(lacks, Nanos{weight_ns});
  facts.first_weight += part;
  return part.count;
}

std::vector<LedgerRow> place_at_first_ticks(Profile& profile, const std::vector<ThreadFacts>& facts,
                                            const std::vector<LedgerRow>& rows) {
  ResidualPlacer placer(profile, facts, rows);
  std::vector<LedgerRow> placed;
  placed.reserve(rows.size());
  for (const LedgerRow& row : rows) placer.place(row, placed);
  return placed;
}

}  // namespace varve::load
