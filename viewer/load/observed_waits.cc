// SPDX-License-Identifier: MIT
// See observed_waits.h.
// Context: viewer.
#include "viewer/load/observed_waits.h"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>

#include "viewer/load/call_objects.h"
#include "viewer/load/ledger.h"
#include "viewer/load/threads_by_track.h"

namespace varve::load {
namespace {

/// Rows of equal keys, one after the other: where those of each key begin.
class Groups {
 public:
  /// `count` keys. `key_of(i)` is the key of row i of `rows`, or `count` where the row is of no interest.
  template <typename KeyOf>
  Groups(size_t count, size_t rows, KeyOf key_of) : first_(count + 1) {
    for (size_t i = 0; i < rows; ++i)
      if (const size_t key = key_of(i); key < count) ++first_[key + 1];
    for (size_t key = 0; key < count; ++key) first_[key + 1] += first_[key];
    rows_.resize(first_.back());
    std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
    for (size_t i = 0; i < rows; ++i)
      if (const size_t key = key_of(i); key < count) rows_[next[key]++] = uint32_t(i);
  }
  std::span<const uint32_t> of(size_t key) const {
    return std::span(rows_).subspan(first_[key], first_[key + 1] - first_[key]);
  }

 private:
  std::vector<uint32_t> first_, rows_;
};

struct Stretch {
  uint64_t begin, end;
};

/// The events of one thread, and when it was blocked.
class Blocked {
 public:
  Blocked(const RunStates& states, std::span<const uint32_t> events) : states_(states), events_(events) {}

  /// The stretch around a time in which the thread was blocked; none where it was not.
  std::optional<Stretch> at(uint64_t time_ns) const {
    const auto time = [&](uint32_t row) { return states_.events[row].time_ns; };
    const auto after = std::ranges::upper_bound(events_, time_ns, {}, time);
    if (after == events_.begin()) return std::nullopt;
    size_t first = size_t(after - events_.begin()) - 1, last = first;
    if (!is_blocked(first)) return std::nullopt;
    while (first > 0 && is_blocked(first - 1)) --first;
    while (last + 1 < events_.size() && is_blocked(last + 1)) ++last;
    return Stretch{begin_of(first), end_of(last)};
  }

 private:
  const RunEvent& event(size_t i) const { return states_.events[events_[i]]; }
  bool is_blocked(size_t i) const { return event(i).active() == 0 && !event(i).ended; }
  uint64_t time_after(size_t i) const {
    return i + 1 < events_.size() ? event(i + 1).time_ns : states_.end.count;
  }
  /// Of a sweep in which the thread ran and was blocked, how long it was blocked.
  uint64_t blocked_in(size_t i) const {
    const double share = double(RunEvent::kWhole - event(i).active()) / RunEvent::kWhole;
    return uint64_t(double(time_after(i) - event(i).time_ns) * share);
  }
  bool is_partly_blocked(size_t i) const {
    return i < events_.size() && !event(i).ended && event(i).active() < RunEvent::kWhole &&
           event(i).active() > 0;
  }
  /// A sweep knows no order. A thread that ran in it and then waited has waited from then on until its end;
  /// one that waited on both sides belongs to both waits.
  uint64_t begin_of(size_t first) const {
    const uint64_t begin = event(first).time_ns;
    if (first == 0 || !is_partly_blocked(first - 1)) return begin;
    return begin - blocked_in(first - 1) / (first > 1 && is_blocked(first - 2) ? 2 : 1);
  }
  uint64_t end_of(size_t last) const {
    const uint64_t end = time_after(last);
    if (!is_partly_blocked(last + 1)) return end;
    return end + blocked_in(last + 1) / (last + 2 < events_.size() && is_blocked(last + 2) ? 2 : 1);
  }

  const RunStates& states_;
  std::span<const uint32_t> events_;
};

class Builder {
 public:
  Builder(Profile& profile, PathTree& tree, const WaitLooks& looks)
      : profile_(profile), tree_(tree), looks_(looks), threads_(profile) {
    for (const Wait& wait : profile.waits.waits) sum_ns_ += wait.duration_ns;
  }

  /// `looks_` are by track, then by time.
  void run() {
    const size_t tracks = profile_.run_states.tracks.size();
    std::vector<bool> wanted(tracks);
    for (const WaitLook& look : looks_.looks) wanted[look.track.index()] = true;
    const auto& events = profile_.run_states.events;
    const Groups by_track(tracks, events.size(), [&](size_t i) {
      const size_t track = events[i].track.index();
      return wanted[track] ? track : tracks;
    });
    const auto& waits = profile_.waits.waits;
    const size_t hooked = waits.size(), threads = profile_.threads.size();
    const Groups by_thread(threads, hooked,
                           [&](size_t i) { return waits[i].count == 1 ? waits[i].thread.index() : threads; });
    for (const WaitLook& look : looks_.looks)
      add(look, Blocked(profile_.run_states, by_track.of(look.track.index())), by_thread);
    profile_.waits.sort();
  }

 private:
  void add(const WaitLook& look, const Blocked& blocked, const Groups& hooked) {
    const CallObject what = object_of_call(look.system_call, look.arguments);
    if (what.kind == format::ObjectKind::kNone) return;
    auto stretch = blocked.at(look.time_ns);
    const ThreadId thread = threads_.at(look.track, look.time_ns);
    if (!stretch || !thread.valid()) return;
    if (thread == last_thread_ && look.time_ns < last_end_ns_) return;  // of the same stretch
    const Thread& row = profile_.threads[thread.index()];
    stretch->begin = std::max(stretch->begin, row.start_time.count);
    if (row.end_time.count != 0) stretch->end = std::min(stretch->end, row.end_time.count);
    if (!cut(*stretch, look.time_ns, hooked.of(thread.index()))) return;
    last_thread_ = thread;
    last_end_ns_ = stretch->end;
    // As of waits that agents told: sums must not wrap.
    const uint64_t duration =
        std::min(stretch->end - stretch->begin, kMostCpuNs - std::min(kMostCpuNs, sum_ns_));
    sum_ns_ += duration;
    Wait wait;
    wait.end_ns = stretch->end;
    wait.duration_ns = duration;
    wait.object = what.object;
    wait.thread = thread;
    wait.path = path_of(look, row.process);
    wait.kind = what.kind;
    wait.observed = true;
    profile_.waits.waits.push_back(wait);
  }

  /// To what no hook saw. False: one saw it all, or the wait is over before it began.
  bool cut(Stretch& stretch, uint64_t time_ns, std::span<const uint32_t> hooked) const {
    const auto end_of = [&](uint32_t row) { return profile_.waits.waits[row].end_ns; };
    auto next = std::ranges::upper_bound(hooked, time_ns, {}, end_of);
    if (next != hooked.begin()) stretch.begin = std::max(stretch.begin, end_of(*std::prev(next)));
    if (next == hooked.end()) return stretch.begin < stretch.end;
    const uint64_t begin = profile_.waits.waits[*next].begin_ns();
    if (begin <= time_ns) return false;
    stretch.end = std::min(stretch.end, begin);
    return stretch.begin < stretch.end;
  }

  PathId path_of(const WaitLook& look, ProcessId process) {
    PathId path = PathTree::root();
    if (const auto special = special_site(look.end)) path = tree_.child(path, tree_.site(*special));
    for (uint32_t i = look.frames; i-- > 0;)
      path = tree_.child(path, site_of(looks_.frames[look.first_frame + i], process));
    return path;
  }

  SiteId site_of(const WaitLooks::Frame& frame, ProcessId process) {
    if (frame.module == WaitLooks::kNoModule)
      return tree_.site(CodeSite{frame.address, CodeSite::kAnonymous, process.value});
    return tree_.site(Site{module_of(frame.module), {frame.address}});
  }

  /// The module that an agent recorded, where it is the same file; else a new one.
  ModuleId module_of(uint32_t number) {
    if (modules_.empty()) modules_.resize(looks_.modules.size());
    ModuleId& module = modules_[number];
    if (module.valid()) return module;
    const WaitLooks::Module& seen = looks_.modules[number];
    const auto same = std::ranges::find_if(profile_.modules, [&](const Module& known) {
      return !known.anonymous && known.build_id == seen.build_id &&
             (!seen.build_id.empty() || known.path == seen.path);
    });
    module = {uint32_t(same - profile_.modules.begin())};
    if (same == profile_.modules.end()) {
      Module row;
      row.path = seen.path;
      row.build_id = seen.build_id;
      profile_.modules.push_back(std::move(row));
    }
    return module;
  }

  Profile& profile_;
  PathTree& tree_;
  const WaitLooks& looks_;
  const ThreadsByTrack threads_;
  std::vector<ModuleId> modules_;  // by row of WaitLooks::modules
  ThreadId last_thread_;
  uint64_t last_end_ns_ = 0;
  uint64_t sum_ns_ = 0;  // of all waits
};

}  // namespace

void add_observed_waits(Profile& profile, PathTree& tree, WaitLooks looks) {
  if (looks.looks.empty()) return;
  std::ranges::stable_sort(looks.looks, {},
                           [](const WaitLook& look) { return std::pair(look.track, look.time_ns); });
  Builder(profile, tree, looks).run();
}

}  // namespace varve::load
