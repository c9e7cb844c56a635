// SPDX-License-Identifier: MIT
// See observed_waits.h.
// Context: viewer.
#include "viewer/load/observed_waits.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "viewer/load/blocked_times.h"
#include "viewer/load/call_objects.h"
#include "viewer/load/ledger.h"
#include "viewer/load/look_paths.h"
#include "viewer/load/row_groups.h"
#include "viewer/load/threads_by_track.h"

namespace varve::load {
namespace {

using format::ObjectKind;

/// A look says nothing of waits further away.
constexpr uint64_t kNearLookNs = kNanosPerSecond.count / 2;
/// Of the time of a thread that neither a hook's own wait nor a look explains, so much must not be a sum of
/// short ones that hooks saw. What is less is the difference between clocks.
constexpr double kWorthSharing = 0.05;

/// A look at a wait that no hook saw, and what is added up by it.
struct Anchor {
  const WaitLook* look;
  uint64_t time_ns = 0, end_ns = 0, waits = 0;
};

/// What becomes a row of waits.
struct Observed {
  uint64_t end_ns, time_ns;
  uint32_t count;
  bool in_pieces;
};

/// What any of them covers, by time: those of a signal handler lie within others.
std::vector<BlockedStretch> united(std::vector<BlockedStretch> stretches) {
  std::ranges::sort(stretches, {}, &BlockedStretch::begin);
  std::vector<BlockedStretch> all;
  for (const BlockedStretch& each : stretches)
    if (!all.empty() && each.begin <= all.back().end)
      all.back().end = std::max(all.back().end, each.end);
    else
      all.push_back(each);
  return all;
}

/// One thread of the profile, with its looks in the order of time.
class OfThread {
 public:
  OfThread(const Profile& profile, ThreadId thread, const BlockedTimes& blocked,
           std::span<const uint32_t> hooked)
      : row_(profile.threads[thread.index()]), blocked_(blocked), blocked_until_ns_(blocked.last_end_ns()) {
    // Before its agent began, the thread was another program's, or the dynamic loader.
    life_.begin = std::max(row_.start_time, row_.told_start).count;
    if (row_.end_time.count != 0) life_.end = row_.end_time.count;
    for (const uint32_t row : hooked) {
      const Wait& wait = profile.waits.waits[row];
      if (!wait.is_sum())
        explained_.push_back({wait.begin_ns(), wait.end_ns}), rows_.push_back(row);
      else
        sums_ns_ += std::min(wait.duration_ns, kMostCpuNs - sums_ns_);
    }
    hooks_ = explained_.size();
  }

  /// Looks at waits that no hook saw, each once.
  const std::vector<Anchor>& anchors() const { return anchors_; }

  /// Calls add(look, Observed) for each row, and confirm(row, look) for a look at a wait that a
  /// hook saw, too.
  template <typename Add, typename Confirm>
  void make_rows(std::span<const WaitLook> looks, Add add, Confirm confirm) {
    for (const WaitLook& look : looks) take(look, add, confirm);
    explained_ = united(std::move(explained_));
    const double share = share_rest();
    if (share < kWorthSharing) return;
    for (const Anchor& anchor : anchors_) {
      const auto time = uint64_t(double(anchor.time_ns) * share);
      const auto waits = uint32_t(std::min(double(anchor.waits) * share + 0.5, double(UINT32_MAX)));
      if (time != 0) add(*anchor.look, {anchor.end_ns, time, waits, true});
    }
  }

 private:
  template <typename Add, typename Confirm>
  void take(const WaitLook& look, Add add, Confirm confirm) {
    if (look.time_ns < std::max(last_end_ns_, life_.begin)) return;  // of the same wait, or too early
    const auto hooked = std::span(explained_).first(hooks_);
    const auto next = std::ranges::upper_bound(hooked, look.time_ns, {}, &BlockedStretch::end);
    if (const auto around = wait_around(next, hooked.end(), look.time_ns); around != hooked.end())
      return confirm(rows_[size_t(around - hooked.begin())], look);
    anchors_.push_back({&look});
    auto stretch = blocked_.around(look.time_ns);
    if (!stretch) return;
    stretch->begin =
        std::max({stretch->begin, life_.begin, next == hooked.begin() ? 0 : std::prev(next)->end});
    stretch->end = std::min({stretch->end, life_.end, next == hooked.end() ? UINT64_MAX : next->begin});
    if (stretch->length() == 0 || dies_in(*stretch)) return;
    last_end_ns_ = stretch->end;
    explained_.push_back(*stretch);
    add(look, {stretch->end, stretch->length(), 1, false});
  }

  /// The first of them, which ended after the time, that had begun then. One may lie within another: that of
  /// a signal handler, or for the mutex of a condition.
  template <typename Iterator>
  static Iterator wait_around(Iterator next, Iterator end, uint64_t time_ns) {
    constexpr int kDeepest = 16;  // one within the other; a damaged profile may have more
    for (int i = 0; i < kDeepest && next != end; ++i, ++next)
      if (next->begin <= time_ns) return next;
    return end;
  }

  /// A crash wakes all threads of the process, and the kernel holds each until the others are there: it goes
  /// on waiting, as it seems, and never comes back.
  bool dies_in(BlockedStretch stretch) const {
    constexpr uint64_t kAwake = kNanosPerMilli.count;
    const bool woken =
        last_end_ns_ != 0 && stretch.begin >= last_end_ns_ && stretch.begin - last_end_ns_ < kAwake;
    if (row_.end_time.count != 0 || !woken) return false;
    return stretch.end >= blocked_until_ns_;
  }

  /// What lies in the thread's life, in proportion: a late sweep may last from before its begin until long
  /// after.
  BlockedTimes::Part in_life(BlockedTimes::Part part) const {
    const uint64_t inside = part.within.shared_with(life_);
    if (inside == part.within.length()) return part;
    const double share = double(inside) / double(part.within.length());
    part.blocked_ns = uint64_t(double(part.blocked_ns) * share);
    part.waits = std::max(uint32_t(double(part.waits) * share + 0.5), 1u);
    part.within = {std::max(part.within.begin, life_.begin), std::min(part.within.end, life_.end)};
    return part;
  }

  /// Gives the time that is left to the nearest looks; returns how much of it no hook has in a sum.
  double share_rest() {
    uint64_t rest = 0;
    size_t first = 0, anchor = 0;
    for (size_t i = blocked_.at(life_.begin); i < blocked_.size(); ++i) {
      if (blocked_.part(i).within.begin >= life_.end) break;
      const BlockedTimes::Part part = in_life(blocked_.part(i));
      while (first < explained_.size() && explained_[first].end <= part.within.begin) ++first;
      uint64_t left = std::min(part.blocked_ns, kMostCpuNs - rest);
      for (size_t j = first; j < explained_.size() && explained_[j].begin < part.within.end; ++j)
        left -= std::min(left, explained_[j].shared_with(part.within));
      if (left == 0) continue;
      rest += left;
      if (Anchor* near = nearest(part.within, anchor)) {
        near->time_ns += left;
        near->end_ns = std::max(near->end_ns, part.within.end);
        // A smaller part is the end or begin of a wait that has been counted.
        if (left > part.blocked_ns / 2 && !dies_in(part.within)) near->waits += part.waits;
      }
    }
    return rest == 0 ? 0 : double(rest - std::min(rest, sums_ns_)) / double(rest);
  }

  /// `at` goes up with the calls, whose stretches are in the order of time.
  Anchor* nearest(BlockedStretch within, size_t& at) {
    const auto distance = [&](size_t i) {
      const uint64_t time = anchors_[i].look->time_ns;
      return time < within.begin ? within.begin - time : time > within.end ? time - within.end : 0;
    };
    if (anchors_.empty()) return nullptr;
    while (at + 1 < anchors_.size() && distance(at + 1) <= distance(at)) ++at;
    return distance(at) <= kNearLookNs ? &anchors_[at] : nullptr;
  }

  const Thread& row_;
  BlockedTimes blocked_;
  const uint64_t blocked_until_ns_;
  BlockedStretch life_{0, UINT64_MAX};
  std::vector<BlockedStretch> explained_;  // by hooks, which come first, or by a look at this very wait
  size_t hooks_ = 0;
  std::vector<uint32_t> rows_;  // of Waits::waits, beside the first of explained_
  uint64_t sums_ns_ = 0;        // of short waits that hooks saw
  uint64_t last_end_ns_ = 0;
  std::vector<Anchor> anchors_;
};

class Builder {
 public:
  Builder(Profile& profile, PathTree& tree, WaitLooks& looks)
      : profile_(profile), paths_(profile, tree, looks), files_(looks.files) {
    for (const Wait& wait : profile.waits.waits) sum_ns_ += wait.duration_ns;
  }

  /// `looks` are by track, then by time.
  void run(std::span<const WaitLook> looks) {
    const RunStates& states = profile_.run_states;
    const size_t tracks = states.tracks.size(), threads = profile_.threads.size();
    std::vector<bool> wanted(tracks);
    for (const WaitLook& look : looks) wanted[look.track.index()] = true;
    const RowGroups events(tracks, states.events.size(), [&](size_t i) {
      const size_t track = states.events[i].track.index();
      return wanted[track] ? track : tracks;
    });
    const std::vector<Wait>& waits = profile_.waits.waits;
    const RowGroups hooked(threads, waits.size(), [&](size_t i) { return waits[i].thread.index(); });
    const ThreadsByTrack by_track(profile_);
    for (size_t first = 0, next; first < looks.size(); first = next) {
      const ThreadId thread = by_track.at(looks[first].track, looks[first].time_ns);
      const auto is_other = [&](const WaitLook& look) {
        return look.track != looks[first].track || by_track.at(look.track, look.time_ns) != thread;
      };
      next = size_t(std::ranges::find_if(looks.subspan(first + 1), is_other) - looks.begin());
      if (!thread.valid()) continue;
      const BlockedTimes blocked(states, events.of(looks[first].track.index()));
      OfThread own(profile_, thread, blocked, hooked.of(thread.index()));
      own.make_rows(
          looks.subspan(first, next - first),
          [&](const WaitLook& look, const Observed& row) { add(look, thread, row); },
          [&](uint32_t row, const WaitLook& look) { give_stack(profile_.waits.waits[row], look); });
      for (const Anchor& anchor : own.anchors())
        if (anchor.look->file != WaitLook::kNoFile) ++files_[anchor.look->file].looks;
    }
    std::ranges::copy(fresh_, std::back_inserter(profile_.waits.waits));
    profile_.waits.sort();
  }

 private:
  void add(const WaitLook& look, ThreadId thread, const Observed& row) {
    const CallObject what = object_of_call(look.system_call, look.arguments);
    if (what.kind == ObjectKind::kNone) return;
    Wait wait;
    wait.end_ns = row.end_ns;
    // As of waits that agents told: sums must not wrap.
    wait.duration_ns = std::min(row.time_ns, kMostCpuNs - std::min(kMostCpuNs, sum_ns_));
    sum_ns_ += wait.duration_ns;
    wait.object = what.object;
    wait.thread = thread;
    wait.path = paths_.path_of(look, profile_.threads[thread.index()].process);
    wait.count = row.count;
    wait.in_pieces = row.in_pieces;
    wait.kind = what.kind;
    wait.observed = true;
    wait.name = look.file == WaitLook::kNoFile ? 0 : look.file + 1;
    fresh_.push_back(wait);
  }

  /// A wait that the end of its process ended has none, for a stack is taken once a thread is awake.
  void give_stack(Wait& wait, const WaitLook& look) {
    const SiteId leaf = profile_.paths[wait.path.index()].site;
    const bool none = leaf.valid() && profile_.sites[leaf.index()].special() &&
                      profile_.sites[leaf.index()].kind() == SpecialSite::kNotTaken;
    if (!none || look.frames == 0) return;
    wait.path = paths_.path_of(look, profile_.threads[wait.thread.index()].process);
    wait.observed_stack = true;
  }

  Profile& profile_;
  LookPaths paths_;
  std::vector<WaitLooks::File>& files_;
  std::vector<Wait> fresh_;
  uint64_t sum_ns_ = 0;  // of all waits
};

}  // namespace

void add_observed_waits(Profile& profile, PathTree& tree, WaitLooks& looks) {
  if (looks.looks.empty()) return;
  std::ranges::stable_sort(looks.looks, {},
                           [](const WaitLook& look) { return std::pair(look.track, look.time_ns); });
  Builder(profile, tree, looks).run(looks.looks);
}

}  // namespace varve::load
