// SPDX-License-Identifier: MIT
// See wait_objects.h.
// Context: viewer.
#include "viewer/analyze/wait_objects.h"

#include <algorithm>
#include <compare>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "common/session_keys.h"
#include "viewer/analyze/concurrency.h"
#include "viewer/analyze/object_numbers.h"
#include "viewer/analyze/releasers.h"
#include "viewer/analyze/wait_shares.h"
#include "viewer/analyze/wait_slices.h"

namespace varve::analyze {
namespace {

using format::ObjectKind;
using load::Wait;

/// Releases that are looked at, of all waits: each thread that waits for a lock meets all that others let go
/// of it meanwhile, and a damaged profile may have any number of both.
constexpr size_t kMostReleases = 20'000'000;

bool ended_by_itself(const Wait& wait) { return wait.timed_out || wait.kind == ObjectKind::kSleep; }

class Builder {
 public:
  Builder(const load::Profile& profile, TimeRange range, const Concurrency& concurrency,
          const BandSet& chosen)
      : profile_(profile),
        range_(range),
        bands_(concurrency.levels, concurrency.rule),
        chosen_(chosen),
        releasers_(profile),
        number_of_(object_numbers(profile)),
        last_slice_(wait_slices(profile).last),
        least_ns_(profile.session.number(session_key::kWaitMinNs)) {}

  void add(uint32_t index, const CountedWait& counted) {
    const Wait& wait = profile_.waits.waits[counted.row];
    const uint32_t number = number_of_[counted.row];
    const auto [at, fresh] = places_.try_emplace(number, objects_.size());
    if (fresh) {
      objects_.emplace_back();
      objects_.back().key = key_of(profile_, wait);
      objects_.back().number = number;
      objects_.back().is_file = is_file(wait);
    }
    if (fresh) first_ns_.push_back(UINT64_MAX);
    add_to(at->second, counted, wait);
    objects_[at->second].counted.push_back(index);
    threads_[at->second].insert(wait.thread);
    charge(at->second, counted, wait);
  }

  std::vector<WaitObject> finish() {
    for (size_t i = 0; i < objects_.size(); ++i) {
      objects_[i].threads = uint32_t(threads_[i].size());
      for (auto& [where, holder] : holders_[i]) {
        holder.releases = times_[{i, holder.thread, holder.path}].size();
        objects_[i].holders.push_back(holder);
      }
      std::ranges::stable_sort(objects_[i].holders, std::greater(), &Holder::caused_ns);
    }
    std::ranges::stable_sort(objects_, std::greater(), [](const WaitObject& object) {
      return std::pair(object.poorly_used_ns(), object.wait_ns);
    });
    return std::move(objects_);
  }

 private:
  /// A FIFO has a path, too, but leads somewhere.
  bool is_file(const Wait& wait) const {
    return wait.kind == ObjectKind::kDescriptor && wait.flow == 0 &&
           load::is_file_name(profile_.waits.names[wait.name]);
  }

  /// Waits come by thread; the first of an object is that of the thread that waited first.
  void add_to(size_t object, const CountedWait& counted, const Wait& wait) {
    objects_[object].add(counted, wait);
    if (!profile_.has_stack(wait.path) || wait.begin_ns() >= first_ns_[object]) return;
    first_ns_[object] = wait.begin_ns();
    objects_[object].first = wait.path;
  }

  /// Who released it while the thread waited: of a lock each for the time since the release before, of
  /// anything else who ended the wait for all of it. The rest by its reason. What lies outside of the range
  /// is nobody's here.
  void charge(size_t object, const CountedWait& counted, const Wait& wait) {
    const auto rows = ended_by(counted.row);
    const TimeRange counts = TimeRange{wait.begin_ns(), wait.end_ns}.within(range_);
    std::vector<uint64_t> ends;
    for (const Releasers::Row& row : rows)
      ends.push_back(std::clamp(row.time_ns, ends.empty() ? counts.begin : ends.back(), counts.end));
    const std::vector<uint64_t> caused = wait_shares(bands_, counted, chosen_, counts.begin, ends);
    uint64_t rest = counted.time_ns;
    for (size_t i = 0; i < rows.size(); ++i) {
      add_caused(object, rows[i], caused[i]);
      rest -= std::min(rest, caused[i]);
    }
    objects_[object].uncaused_ns[size_t(reason(wait, !rows.empty()))] += rest;
  }

  void add_caused(size_t object, const Releasers::Row& row, uint64_t caused_ns) {
    const bool released = range_.has(row.time_ns);
    if (caused_ns == 0 && !released) return;
    Holder& holder = holders_[object].try_emplace(std::pair(row.thread, row.path)).first->second;
    holder.thread = row.thread;
    holder.path = row.path;
    holder.caused_ns += caused_ns;
    holder.most_waiters = std::max(holder.most_waiters, row.waiters);
    if (released) times_[{object, holder.thread, holder.path}].insert(row.time_ns);
  }

  /// Of a wait in slices who ended the last.
  std::span<const Releasers::Row> ended_by(uint32_t wait_row) {
    const Wait& wait = profile_.waits.waits[wait_row];
    if (wait.is_sum()) return {};
    if (is_lock(wait.kind)) {
      const auto rows = releasers_.during(wait);
      if (rows.size() > releases_left_) return {};
      releases_left_ -= rows.size();
      return rows;
    }
    const Releasers::Row* row = releasers_.row_of(profile_.waits.waits[last_slice_[wait_row]]);
    return row ? std::span(row, 1) : std::span<const Releasers::Row>();
  }

  Uncaused reason(const Wait& wait, bool released) const {
    if (wait.is_sum()) return Uncaused::kCounted;
    if (ended_by_itself(wait)) return Uncaused::kTimedOut;
    if (released) return Uncaused::kAfterRelease;
    return wait.duration_ns < least_ns_ ? Uncaused::kCounted : Uncaused::kUnseen;
  }

  const load::Profile& profile_;
  const TimeRange range_;
  const BandTimes bands_;
  const BandSet chosen_;
  const Releasers releasers_;
  const std::vector<uint32_t> number_of_;   // by row of the waits
  const std::vector<uint32_t> last_slice_;  // likewise
  const uint64_t least_ns_;                 // of a wait that is a record of its own
  size_t releases_left_ = kMostReleases;
  std::unordered_map<uint32_t, size_t> places_;  // in `objects_`, by number
  std::vector<WaitObject> objects_;
  std::vector<uint64_t> first_ns_;  // by object: when it was first waited for with a stack
  std::map<std::tuple<size_t, ThreadId, PathId>, std::set<uint64_t>> times_;  // of a holder's releases
  std::map<size_t, std::set<ThreadId>> threads_;                              // by object
  std::map<size_t, std::map<std::pair<ThreadId, PathId>, Holder>> holders_;   // by object
};

}  // namespace

std::vector<WaitObject> wait_objects(const load::Profile& profile, TimeRange range,
                                     const Concurrency& concurrency, const std::vector<CountedWait>& counted,
                                     const BandSet& chosen) {
  Builder builder(profile, range, concurrency, chosen);
  for (uint32_t i = 0; i < counted.size(); ++i) builder.add(i, counted[i]);
  return builder.finish();
}

std::vector<CountedWait> waits_that_pass(const load::Profile& profile, const symbol::SymbolTable& symbols,
                                         const Filter& filter, const std::vector<CountedWait>& counted) {
  const PassingRows passing(profile, symbols, filter);
  std::vector<CountedWait> pass;
  for (const CountedWait& each : counted)
    if (passing.wait(each.row)) pass.push_back(each);
  return pass;
}

}  // namespace varve::analyze
