// SPDX-License-Identifier: MIT
// Events of threads into records. See switch_tracks.h.
// Context: viewer.
#include "viewer/record/observe/switch_tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "viewer/record/observe/proc_file.h"
#include "viewer/record/observe/wait_look.h"

namespace varve::record::observe {
namespace {

using format::SwitchKind;
using Kind = RingEvent::Kind;

/// As /proc says it now; empty for a thread that has ended.
std::string_view current_name(pid_t process, pid_t thread, std::span<char> buffer) {
  std::string_view name = read_task(process, thread, "comm", buffer).text;
  return name.substr(0, name.find('\n'));
}

/// Most have ended and been reaped by the time that their end is read.
bool lives_on(pid_t process) {
  char buffer[1024];
  if (kill(process, 0) != 0 && errno == ESRCH) return false;
  const auto stat = parse_stat(read_task(process, process, "stat", buffer).text);
  return stat && stat->state != 'Z' && stat->state != 'X';
}

}  // namespace

void SwitchTracks::begin(Nanos start) {
  char buffer[64];
  begin_track(subject_.command, subject_.command, getpid(), start, true,
              current_name(subject_.command, subject_.command, buffer))
      .blocked = true;
}

/// Events of a thread that has already ended carry no id.
bool SwitchTracks::wanted(const RingEvent& event) const {
  if (event.kind == Kind::kLost) return true;
  return event.tid > 0 && event.pid > 0 && (subject_.follow || event.pid == subject_.command);
}

std::vector<pid_t> SwitchTracks::threads() const {
  std::vector<pid_t> threads;
  for (const auto& [tid, track] : live_) threads.push_back(tid);
  return threads;
}

SwitchTracks::News SwitchTracks::news_of(Kind kind, bool told, bool lively) {
  if (kind == Kind::kIn || kind == Kind::kOutReady) return News::kNone;
  return kind == Kind::kOutBlocked && told && !lively ? News::kToldWait : News::kChange;
}

/// After a fork, an exec or an end comes what does not last, waits of programs without an agent among it.
SwitchTracks::News SwitchTracks::take(const RingEvent& event) {
  using Taker = void (SwitchTracks::*)(const RingEvent&);
  static constexpr Taker kTakers[] = {
      &SwitchTracks::take_in,   &SwitchTracks::take_out,  &SwitchTracks::take_out,  &SwitchTracks::take_fork,
      &SwitchTracks::take_exit, &SwitchTracks::take_name, &SwitchTracks::take_exec, &SwitchTracks::take_lost};
  constexpr Nanos kLively{kNanosPerSecond};
  if (!wanted(event)) return News::kNone;
  (this->*kTakers[size_t(event.kind)])(event);
  const Track* track = event.kind == Kind::kOutBlocked ? find(event.tid) : nullptr;
  const News news = news_of(event.kind, track && track->pace.is_told(event.time), event.time < lively_until_);
  if (news == News::kChange && !track) lively_until_ = event.time + kLively;
  return news;
}

SwitchTracks::Track* SwitchTracks::find(int32_t tid) {
  if (last_ && last_->tid == tid) return last_;
  auto found = live_.find(tid);
  return found == live_.end() ? nullptr : last_ = &found->second;
}

/// Null where the thread has gone on since.
SwitchTracks::Track* SwitchTracks::find(const Stretch& stretch) {
  Track* track = find(stretch.tid);
  bool same = track && track->index == stretch.index && track->stretch == stretch.number;
  return same ? track : nullptr;
}

SwitchTracks::Track& SwitchTracks::begin_track(int32_t pid, int32_t tid, int32_t parent_pid, Nanos start,
                                               bool start_seen, std::string_view name) {
  Track track;
  track.index = tracks_++;
  track.pid = pid;
  track.tid = tid;
  track.parent_pid = parent_pid;
  track.start = start;
  track.start_seen = start_seen;
  name.copy(track.name, sizeof track.name - 1);
  write_track(track);
  ++threads_of_[pid];
  return *(last_ = &(live_[tid] = track));
}

/// A thread whose start was lost is seen from its first event on.
SwitchTracks::Track& SwitchTracks::find_or_begin(const RingEvent& event) {
  if (Track* track = find(event.tid)) return *track;
  char buffer[64];
  auto process = live_.find(event.pid);
  int32_t parent_pid = process == live_.end() ? 0 : process->second.parent_pid;
  return begin_track(event.pid, event.tid, parent_pid, event.time, false,
                     current_name(event.pid, event.tid, buffer));
}

void SwitchTracks::write_track(const Track& track) {
  format::TrackRecord record{};
  record.track = track.index;
  record.pid = track.pid;
  record.tid = track.tid;
  record.ppid = track.parent_pid;
  record.time_ns = track.start.count;
  std::memcpy(record.name, track.name, sizeof record.name);
  writer_.track(record, track.start_seen);
}

void SwitchTracks::end_track(Track& track, Nanos time) {
  settle_look(track, time);
  format::TrackEndRecord record{};
  record.track = track.index;
  record.time_ns = time.count;
  // What was lost was not counted.
  record.voluntary_switches = lost_ ? format::kUnknownCount : track.voluntary;
  record.involuntary_switches = lost_ ? format::kUnknownCount : track.involuntary;
  writer_.track_end(record);
  if (track.tid == track.pid) stacks_.forget(track.pid);
  if (--threads_of_[track.pid] == 0) threads_of_.erase(track.pid);
  last_ = nullptr;
  live_.erase(track.tid);
}

/// The thread's stretch has lasted until `until`; a look after that time saw another one.
void SwitchTracks::settle_look(Track& track, Nanos until) {
  if (track.look_time.count && track.look_time < until)
    writer_.wait(track.index, track.look_time, track.look_kind);
  track.look_time = {};
}

void SwitchTracks::take_in(const RingEvent& event) {
  Track& track = find_or_begin(event);
  settle_look(track, event.time);
  ++track.stretch;
  track.blocked = false;
  writer_.switch_event(event.time, track.index, SwitchKind::kIn, event.processor);
}

void SwitchTracks::take_out(const RingEvent& event) {
  Track& track = find_or_begin(event);
  track.look_time = {};
  ++track.stretch;
  track.blocked = event.kind == Kind::kOutBlocked;
  ++(track.blocked ? track.voluntary : track.involuntary);
  writer_.switch_event(event.time, track.index,
                       track.blocked ? SwitchKind::kOutBlocked : SwitchKind::kOutReady, 0);
  if (track.blocked) blocked_.push_back({track.tid, track.index, track.stretch, {}, false, false});
}

/// A new thread is ready from the start, which the file has to say: one without an event counts as blocked.
void SwitchTracks::take_fork(const RingEvent& event) {
  if (Track* old = find(event.tid)) end_track(*old, event.time);  // its end was lost
  bool new_process = event.pid == event.tid;
  auto parent = live_.find(event.parent_tid), process = live_.find(event.pid);
  int32_t parent_pid = new_process              ? event.parent_pid
                       : process != live_.end() ? process->second.parent_pid
                                                : 0;
  char name[16] = {};
  if (parent != live_.end()) std::memcpy(name, parent->second.name, sizeof name);
  Track& track = begin_track(event.pid, event.tid, parent_pid, event.time, true, name);
  writer_.switch_event(event.time, track.index, SwitchKind::kOutReady, 0);
}

void SwitchTracks::take_exit(const RingEvent& event) {
  if (event.tid == event.pid && lives_on(event.pid)) ended_alive_.push_back({event.pid, event.time});
  if (Track* track = find(event.tid)) end_track(*track, event.time);
}

/// The events of a process that executes a set-user-id program, or one that may not be read, end there, and
/// what it does from then on nobody sees. One that just takes its time to end has ended a while later; one
/// whose other thread executes a program has an event of that (take_exec).
void SwitchTracks::note_hidden(Nanos until) {
  constexpr Nanos kWhile{100 * kNanosPerMilli.count};
  constexpr size_t kMost = 100;
  std::erase_if(ended_alive_, [&](const EndedAlive& each) {
    if (until < each.time + kWhile) return false;
    char buffer[64];
    if (hidden_.size() < kMost && lives_on(each.pid))
      hidden_.push_back(fmt::format("{} ({})", current_name(each.pid, each.pid, buffer), each.pid));
    return true;
  });
}

void SwitchTracks::take_name(const RingEvent& event) {
  Track& track = find_or_begin(event);
  std::memcpy(track.name, event.name, sizeof track.name);
  write_track(track);
}

/// Threads of its process beside the event's own. Most processes that execute a program have none, which is
/// known without a walk through all threads of the run.
std::vector<int32_t> SwitchTracks::others_of(const RingEvent& event) {
  std::vector<int32_t> others;
  const Track* own = find(event.tid);
  const auto threads = threads_of_.find(event.pid);
  const uint32_t without_others = own && own->pid == event.pid ? 1 : 0;
  if (threads == threads_of_.end() || threads->second <= without_others) return others;
  for (const auto& [tid, track] : live_)
    if (track.pid == event.pid && tid != event.tid) others.push_back(tid);
  return others;
}

/// A thread that executes another program becomes the only one of its process, and takes the first one's id.
/// Where it was not the first, its track ends under its own id, and what it does from now on is another's.
void SwitchTracks::take_exec(const RingEvent& event) {
  stacks_.forget(event.pid);
  std::erase_if(ended_alive_, [&](const EndedAlive& each) { return each.pid == event.pid; });
  const std::vector<int32_t> others = others_of(event);
  if (others.empty() || find(event.tid)) {
    take_name(event);
  } else {
    const int32_t parent_pid = live_[others.front()].parent_pid;
    Track& track = begin_track(event.pid, event.tid, parent_pid, event.time, true, event.name);
    writer_.switch_event(event.time, track.index, SwitchKind::kIn, event.processor);
  }
  for (int32_t tid : others) end_track(live_[tid], event.time);
  if (Track* own = find(event.tid)) own->pace.begin_again();
}

/// The end of any thread may be among the lost.
void SwitchTracks::take_lost(const RingEvent& event) {
  lost_ += event.lost;
  writer_.switches_lost(event.time, event.lost);
  blocked_.clear();
  for (const auto& [tid, track] : live_)
    blocked_.push_back({tid, track.index, track.stretch, {}, false, false});
}

void SwitchTracks::look_at(Track& track, Clock clock, bool stack_too) {
  const StackLooks::Thread thread{track.index, track.pid, track.tid};
  const auto turns = stack_too ? stacks_.turns(thread) : std::nullopt;
  if (stack_too) track.pace.look(clock());
  WaitLook look = look_at_wait(track.pid, track.tid, [&](pid_t tid) {
    auto found = live_.find(tid);
    return found != live_.end() && found->second.pid == track.pid;
  });
  const Nanos seen = clock();
  bool gone = look.result == WaitLook::Result::kGone || look.result == WaitLook::Result::kZombie;
  bool blocked = look.result == WaitLook::Result::kBlocked && track.blocked;
  if (look.result == WaitLook::Result::kRefused) {
    ++refused_looks_;
    stacks_.refuse(track.pid);
  }
  if (look.result == WaitLook::Result::kBlocked) track.pace.blocked_in(look.call);
  if (look.result == WaitLook::Result::kBlocked && turns)
    track.pace.found(stacks_.look(thread, look.call, *turns), look.call);
  if (blocked) {
    track.look_time = seen;
    track.look_kind = look.kind;
  }
  if (gone || blocked) looked_.push_back({track.tid, track.index, track.stretch, seen, gone, true});
}

/// The stack of a thread that waits again and again is looked at now and then, that of a long wait in any
/// case. To pass over one costs, too, where there are 50,000: each call goes on where the last one ended.
bool SwitchTracks::look_at_blocked(Clock clock, Allowance looks, Allowance stacks) {
  const Nanos now = clock();
  bool elsewhere = false;
  forget_past_stretches();
  for (size_t left = blocked_.size(); left > 0 && looks.left(); --left) {
    if (next_blocked_ >= blocked_.size()) next_blocked_ = 0;
    Stretch& stretch = blocked_[next_blocked_];
    Track* track = find(stretch);
    const bool due = track && (!subject_.wait_stacks || (track->pace.due(now) && stacks.left()));
    const bool told = track && track->pace.is_told(now);
    if (track && (due || !stretch.kind_known)) look_at(*track, clock, due);
    elsewhere |= told && !due && !track->pace.is_told(now);
    stretch.kind_known = true;
    if (track && !due)
      ++next_blocked_;
    else
      stretch = blocked_.back(), blocked_.pop_back();
  }
  return elsewhere;
}

/// Where looks have no allowance nobody else does. Of each thread one is left at most.
void SwitchTracks::forget_past_stretches() {
  constexpr size_t kFew = 100;
  if (blocked_.size() > 2 * live_.size() + kFew)
    std::erase_if(blocked_, [this](const Stretch& stretch) { return !find(stretch); });
}

/// A thread that was gone at a look and has no end by now will have none: that event was lost.
void SwitchTracks::settle(Nanos time) {
  note_hidden(time);
  std::erase_if(looked_, [&](const Stretch& looked) {
    if (looked.look_time >= time) return false;
    if (Track* track = find(looked)) {
      if (looked.gone)
        end_track(*track, looked.look_time);
      else
        settle_look(*track, time);
    }
    return true;
  });
}

}  // namespace varve::record::observe
