// SPDX-License-Identifier: MIT
// The walk. It is at one thread and one time, and every step makes the time smaller or uses up a wait or the
// begin of a thread, each of which counts once. So it ends, also on profiles whose times go backwards.
// Context: viewer.
#include "viewer/analyze/critical_path.h"

#include <algorithm>
#include <optional>

#include "common/session_keys.h"
#include "viewer/analyze/concurrency.h"
#include "viewer/analyze/releasers.h"
#include "viewer/analyze/task_origin.h"
#include "viewer/analyze/thread_activity.h"
#include "viewer/analyze/unfollowed_waits.h"
#include "viewer/analyze/wait_slices.h"

namespace varve::analyze {
namespace {

/// Rows of Waits::waits by thread, of those that say when they were; the last ones are taken away as the walk
/// uses them.
class WaitCursors {
 public:
  explicit WaitCursors(const load::Profile& profile)
      : waits_(profile.waits.waits), first_(profile.threads.size()), end_(profile.threads.size()) {
    for (uint32_t i = 0; i < waits_.size(); ++i) {
      const size_t thread = waits_[i].thread.index();
      if (end_[thread] == 0) first_[thread] = i;
      end_[thread] = i + 1;
    }
    left_ = end_;
  }

  /// Takes the last wait of the thread that ended at `time` or before; kNoWait where there is none.
  uint32_t take(ThreadId thread, uint64_t time) {
    const auto begin = waits_.begin() + first_[thread.index()];
    const auto end = waits_.begin() + left_[thread.index()];
    auto at = std::upper_bound(begin, end, time,
                               [](uint64_t t, const load::Wait& wait) { return t < wait.end_ns; });
    while (at != begin && (at - 1)->is_sum()) --at;
    const bool found = at != begin;
    if (found) --at;
    left_[thread.index()] = uint32_t(at - waits_.begin());
    return found ? left_[thread.index()] : kNoWait;
  }

  /// Takes the one before `outer` where it is the last part of that; kNoWait where there is none. Who waits
  /// for a condition waits in the end for its mutex.
  uint32_t take_last_part(ThreadId thread, uint32_t outer) {
    constexpr uint64_t kNear = 1000;  // ends of what ended at once
    if (outer == first_[thread.index()]) return kNoWait;
    const load::Wait &whole = waits_[outer], &part = waits_[outer - 1];
    const bool is_part =
        !part.is_sum() && part.begin_ns() >= whole.begin_ns() && part.end_ns + kNear >= whole.end_ns;
    if (!is_part) return kNoWait;
    left_[thread.index()] = outer - 1;
    return outer - 1;
  }

  /// Undoes take().
  void put_back(ThreadId thread, uint32_t row) { left_[thread.index()] = row + 1; }

  /// The wait that the thread is in at `time`; kNoWait where it is in none.
  uint32_t wait_at(ThreadId thread, uint64_t time) const {
    const auto begin = waits_.begin() + first_[thread.index()];
    const auto end = waits_.begin() + end_[thread.index()];
    auto at = std::upper_bound(begin, end, time,
                               [](uint64_t t, const load::Wait& wait) { return t < wait.end_ns; });
    for (int looks = 0; looks < 8 && at != end && at->is_sum(); ++looks) ++at;
    const bool found = at != end && !at->is_sum() && at->begin_ns() < time;
    return found ? uint32_t(at - waits_.begin()) : kNoWait;
  }

  /// When that began; `time` where it is in none.
  uint64_t begin_of_wait_at(ThreadId thread, uint64_t time) const {
    const uint32_t row = wait_at(thread, time);
    return row == kNoWait ? time : waits_[row].begin_ns();
  }

 private:
  const std::vector<load::Wait>& waits_;
  std::vector<uint32_t> first_, end_;  // by thread
  std::vector<uint32_t> left_;         // likewise: the end of those that were not taken
};

class Walk {
 public:
  explicit Walk(const load::Profile& profile)
      : profile_(profile),
        releasers_(profile),
        activity_(profile),
        origins_(profile),
        unfollowed_(profile),
        cursors_(profile),
        first_slice_(wait_slices(profile).first),
        begun_(profile.threads.size()),
        ended_(profile.threads.size()) {
    path_.run = time_range(profile, {});
    if (profile.session.elapsed == Nanos{}) path_.run.end = path_.run.begin;
    time_ = path_.run.end;
  }

  CriticalPath walk() && {
    thread_ = last_thread(profile_, activity_);
    if (thread_.valid()) end_of_process_after(activity_.last_known(thread_));
    if (thread_.valid()) end_of_run_in_wait();
    while (thread_.valid() && time_ > path_.run.begin) step();
    add(path_.run.begin, {.what = before_what(), .thread = first_});
    std::ranges::reverse(path_.segments);
    std::ranges::reverse(path_.moves);
    return std::move(path_);
  }

 private:
  /// From `begin` to the time that the walk has come to, and goes on there.
  void add(uint64_t begin, PathSegment segment) {
    begin = std::clamp(begin, path_.run.begin, time_);
    if (begin == time_) return;
    segment.range = {begin, time_};
    time_ = begin;
    if (!path_.segments.empty()) {
      PathSegment& after = path_.segments.back();
      if (after.what == segment.what && after.thread == segment.thread && after.from == segment.from &&
          after.delayed == segment.delayed && after.wait == segment.wait && after.child == segment.child &&
          after.observed == segment.observed && after.unfollowed == segment.unfollowed) {
        after.range.begin = begin;
        return;
      }
    }
    path_.segments.push_back(segment);
  }

  /// The kernel gives back the memory of a process that said good-bye; that is its last thread's work.
  void end_of_process_after(uint64_t end) {
    const bool ended = profile_.threads[thread_.index()].end_time.count != 0;
    if (ended && end < time_) add(end, {.what = PathClass::kCruise, .thread = thread_});
  }

  /// A wait goes on when recording ends, and nobody was seen to end it.
  void end_of_run_in_wait() {
    const uint32_t row = cursors_.wait_at(thread_, time_);
    if (row != kNoWait) waited(profile_.waits.waits[row].begin_ns(), row);
  }

  void step() {
    const ThreadId thread = thread_;
    const uint32_t row = cursors_.take(thread, time_);
    const uint64_t start = profile_.threads[thread.index()].start_time.count;
    if (row == kNoWait || profile_.waits.waits[row].end_ns < start) return begin_of_thread();
    const load::Wait& wait = profile_.waits.waits[row];
    if (!ran_since(wait.end_ns)) return cursors_.put_back(thread, row);
    const auto releaser = releasers_.of(wait);
    if (const uint32_t part = cursors_.take_last_part(thread, row); part != kNoWait)
      if (const auto last = releasers_.of(profile_.waits.waits[part]))
        return released({part, begin_of_delay(row, part, releaser, *last), false}, *last);
    if (releaser) return released({row, begin_of(row), false}, *releaser);
    if (may_tell_of_child(wait.kind) && !wait.timed_out && ended_child(wait.begin_ns(), false)) return;
    if (format::is_released(wait.kind) && !wait.timed_out &&
        unfollowed_.may_have(thread_, {wait.begin_ns(), wait.end_ns}))
      return add(wait.begin_ns(), {.what = PathClass::kNotRecorded, .thread = thread_, .unfollowed = true});
    waited(wait.begin_ns(), row);
  }

  /// For no thread of the run. Reading and writing takes time of the processor, too: where the thread was
  /// seen to run, or to be ready, it did not wait.
  void waited(uint64_t begin, uint32_t row) {
    constexpr uint64_t kLeastWork = 50'000;  // less is the way into a wait or out of it
    begin = std::max(begin, path_.run.begin);
    const bool may_work = profile_.waits.waits[row].kind == format::ObjectKind::kDescriptor;
    while (may_work && time_ > begin) {
      const ThreadActivity::Piece piece = activity_.last_observed(thread_, begin, time_);
      const bool works = piece.what == Activity::kActive && piece.range.length() >= kLeastWork;
      if (works)
        ran_in(piece.range.begin);
      else
        add(piece.range.begin, {.what = PathClass::kBlocking, .thread = thread_, .wait = row});
    }
    add(begin, {.what = PathClass::kBlocking, .thread = thread_, .wait = row});
  }

  /// Who signals a condition and keeps the mutex delays the other since it began to wait.
  uint64_t begin_of_delay(uint32_t whole, uint32_t part, const std::optional<Releaser>& first,
                          const Releaser& last) const {
    return begin_of(first && first->thread == last.thread ? whole : part);
  }

  /// Of a wait in slices the first began it.
  uint64_t begin_of(uint32_t row) const { return profile_.waits.waits[first_slice_[row]].begin_ns(); }

  /// A pipe has an end, a signal comes, and a call is interrupted, when a child process ends.
  static bool may_tell_of_child(format::ObjectKind kind) {
    return kind == format::ObjectKind::kDescriptor || kind == format::ObjectKind::kPoll ||
           kind == format::ObjectKind::kSignal;
  }

  /// The thread waited for nothing that a hook saw since `begin`. False: the path left it after that.
  bool ran_since(uint64_t begin) {
    begin = std::max(begin, path_.run.begin);
    while (time_ > begin) {
      const ThreadActivity::Piece piece = activity_.last_piece(thread_, begin, time_);
      const uint64_t since = piece.range.begin;
      const bool waits = piece.what == Activity::kBlocked || piece.short_wait;
      if (waits && let_on_by_partner(piece)) return false;
      if (waits && unfollowed_.may_have(thread_, piece.range)) {
        add(since, {.what = PathClass::kNotRecorded, .thread = thread_, .unfollowed = true});
      } else if (piece.what == Activity::kActive) {
        ran_in(since);
      } else if (piece.what == Activity::kUnknown) {
        add(since, {.what = PathClass::kNotRecorded, .thread = thread_});
      } else {
        if (ended_child(since, piece.wait == WaitKind::kJoin)) return false;
        const uint32_t row = unfollowed_.observed(thread_, piece.range).value_or(kNoWait);
        add(since, {.what = PathClass::kBlocking, .thread = thread_, .wait = row, .observed = piece.wait});
      }
    }
    return true;
  }

  /// Where the thread was blocked for a pipe, in a wait that was only added to others, and it is clear who
  /// ended it: on to that. Each such move is at an earlier time than the one after it, or the walk would not
  /// end.
  bool let_on_by_partner(const ThreadActivity::Piece& piece) {
    if ((piece.wait != WaitKind::kIo && piece.wait != WaitKind::kOther) || time_ >= last_partner_ns_)
      return false;
    const auto looked_at = unfollowed_.observed(thread_, piece.range);
    const ProcessId own = profile_.threads[thread_.index()].process;
    PipePartners::Partner found;
    uint32_t found_row = kNoWait;
    for (const uint32_t row : unfollowed_.pipes(thread_, piece.range)) {
      const auto end = PipePartners::end_of(profile_.waits.waits[row]);
      if (looked_at && end != PipePartners::end_of(profile_.waits.waits[*looked_at])) continue;
      const auto partner = releasers_.partners().who_ended(end, own, time_, true);
      if (!partner || (partner->thread.valid() && found.thread.valid())) return false;
      if (partner->thread.valid()) found = *partner, found_row = row;
    }
    if (!found.thread.valid() || found.ran_until_ns <= piece.range.begin) return false;
    last_partner_ns_ = time_;
    released({found_row, piece.range.begin, false}, {found.thread, found.ran_until_ns});
    return true;
  }

  void ran_in(uint64_t begin) {
    if (delayed_.valid() && waiting_.begin_ns < time_)
      add(std::max(begin, waiting_.begin_ns), {.what = PathClass::kImpact,
                                               .thread = thread_,
                                               .delayed = delayed_,
                                               .wait = waiting_.row,
                                               .child = waiting_.child});
    add(begin, {.what = PathClass::kCruise, .thread = thread_});
  }

  /// Where the wait that the thread is in since `begin` ended with a child process: on to that.
  bool ended_child(uint64_t begin, bool waited) {
    const auto child = releasers_.ended_child(thread_, begin, time_, waited);
    if (!child || ended_[child->thread.index()]) return false;
    ended_[child->thread.index()] = true;
    released({kNoWait, begin, true}, *child);
    return true;
  }

  struct Waiting {
    uint32_t row = kNoWait;
    uint64_t begin_ns = 0;
    bool child = false;
  };

  void released(Waiting waiting, const Releaser& releaser) {
    const ThreadId to = thread_;
    const uint64_t time = std::min(releaser.time_ns, time_);
    path_.moves.push_back({time, releaser.thread, to, waiting.row, waiting.child});
    add(time, {.what = PathClass::kOverhead,
               .thread = to,
               .from = releaser.thread,
               .wait = waiting.row,
               .child = waiting.child});
    thread_ = releaser.thread;
    delayed_ = to;
    waiting_ = waiting;
  }

  void begin_of_thread() {
    if (begun_[thread_.index()]) return leave();
    if (!ran_since(activity_.first_ran(thread_))) return;
    begun_[thread_.index()] = true;
    const Origin origin = origins_.of(thread_);
    first_ = thread_;
    if (!origin.thread.valid()) return leave();
    if (origin.same_flow) {
      add(origin.time_ns, {.what = PathClass::kCruise, .thread = thread_});
      thread_ = origin.thread;
      return;
    }
    const uint64_t time = std::min(origin.time_ns, time_);
    path_.moves.push_back({time, origin.thread, thread_, kNoWait});
    add(time, {.what = PathClass::kOverhead, .thread = thread_, .from = origin.thread});
    // A parent that waits for a process which has not yet begun: it is being started.
    add(cursors_.begin_of_wait_at(origin.thread, time_),
        {.what = PathClass::kOverhead, .thread = thread_, .from = origin.thread});
    go_to(origin.thread);
  }

  void go_to(ThreadId thread) {
    thread_ = thread;
    delayed_ = {};
  }

  void leave() { thread_ = ThreadId::none(); }

  /// What the time before the first thread of the path is: the command's own is being loaded.
  PathClass before_what() const {
    return first_.valid() && origins_.is_command(first_) ? PathClass::kCruise : PathClass::kNotRecorded;
  }

  const load::Profile& profile_;
  const Releasers releasers_;
  const ThreadActivity activity_;
  const Origins origins_;
  const UnfollowedWaits unfollowed_;
  WaitCursors cursors_;
  const std::vector<uint32_t> first_slice_;  // by row of the waits
  std::vector<bool> begun_;                  // by thread: the walk has been at its begin
  std::vector<bool> ended_;  // by thread: the walk has come to it as a child process that ended
  CriticalPath path_;
  ThreadId thread_, first_;
  uint64_t time_ = 0, last_partner_ns_ = UINT64_MAX;
  ThreadId delayed_;  // the next thread of the path, where it waits for this one; and in which wait
  Waiting waiting_;
};

/// Times in which the user or the program's user paused the recording, and what came after its stop, by time.
std::vector<TimeRange> paused_times(const load::Profile& profile, TimeRange run) {
  std::vector<TimeRange> times;
  for (const load::Pause& pause : profile.pauses)
    if (!pause.process.valid()) times.push_back(TimeRange{pause.begin.count, pause.end.count}.within(run));
  const uint64_t stop = profile.session.number(session_key::kStopMonotonicNs);
  if (stop != 0) times.push_back(TimeRange{stop, run.end}.within(run));
  std::erase_if(times, [](TimeRange time) { return time.length() == 0; });
  std::ranges::sort(times, {}, &TimeRange::begin);
  return times;
}

/// What was paused is not recorded, whatever the waits around it say.
void cut_out(CriticalPath& path, const std::vector<TimeRange>& times) {
  if (times.empty()) return;
  std::vector<PathSegment> segments;
  const auto add = [&](PathSegment segment, TimeRange range, bool paused) {
    segment.range = range.within(segment.range);
    if (paused) segment.what = PathClass::kNotRecorded, segment.paused = true;
    if (segment.range.length()) segments.push_back(segment);
  };
  size_t next = 0;
  for (const PathSegment& segment : path.segments) {
    uint64_t begin = segment.range.begin;
    while (next < times.size() && times[next].end <= begin) ++next;
    for (size_t i = next; i < times.size() && times[i].begin < segment.range.end; ++i) {
      add(segment, {begin, std::max(begin, times[i].begin)}, false);
      begin = std::max(begin, times[i].begin);
      add(segment, {begin, std::max(begin, times[i].end)}, true);
      begin = std::max(begin, std::min(times[i].end, segment.range.end));
    }
    add(segment, {begin, segment.range.end}, false);
  }
  path.segments = std::move(segments);
}

}  // namespace

std::vector<uint64_t> CriticalPath::by_class() const {
  std::vector<uint64_t> sums(kPathClasses);
  for (const PathSegment& segment : segments) sums[size_t(segment.what)] += segment.range.length();
  return sums;
}

CriticalPath critical_path(const load::Profile& profile) {
  CriticalPath path = Walk(profile).walk();
  cut_out(path, paused_times(profile, path.run));
  return path;
}

}  // namespace varve::analyze
