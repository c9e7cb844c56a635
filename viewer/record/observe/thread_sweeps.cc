// SPDX-License-Identifier: MIT
// Sums of threads into sweeps. See thread_sweeps.h.
// Context: viewer.
#include "viewer/record/observe/thread_sweeps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "common/session_keys.h"
#include "viewer/record/clock.h"
#include "viewer/record/observe/proc_file.h"
#include "viewer/record/observe/wait_look.h"

namespace varve::record::observe {
namespace {

constexpr Nanos kSweepPeriod{10 * kNanosPerMilli.count};  // from one look to the next
/// The kernel may count the time that a thread runs this late: a tick of HZ=100, and some.
constexpr Nanos kLateTime{20 * kNanosPerMilli.count};
/// A sweep that takes all there is may take so much more, in all, for what makes it worth something.
constexpr uint64_t kExtraOneIn = 3;
constexpr Nanos kCountsPeriod{200 * kNanosPerMilli.count};  // between two looks at a thread's counts

constexpr Nanos kYouth = kNanosPerSecond;       // threads take their names when they begin, or soon after
constexpr Nanos kNamePeriod = kNanosPerSecond;  // between two looks at the name of a thread that waits
/// The same of one that runs, and of one that is young.
constexpr Nanos kRunningNamePeriod{500 * kNanosPerMilli.count}, kYoungNamePeriod{50 * kNanosPerMilli.count};

bool is_young(const Task& task, Nanos now) { return saturating_sub(now, task.start) < kYouth; }

/// Counts that were read a while before a thread's end are those of its life if at least nine in ten of its
/// switches had happened by then.
bool are_final(const Task& task) {
  return task.counts && (task.counts->voluntary + task.counts->involuntary) * 10 >= task.sums.switched_in * 9;
}

}  // namespace

ThreadSweeps::ThreadSweeps(Subject subject, ObserverWriter& writer)
    : writer_(writer),
      subject_(subject),
      stacks_(writer, subject.wait_stacks),
      table_(subject),
      budget_(clock_now(CLOCK_MONOTONIC)) {}

/// What the command's thread has done until now was the recorder's.
void ThreadSweeps::begin(Nanos start) {
  start_ = swept_ = start;
  for (Task* task : table_.find_new(start)) begin_track(*task, start, task->tid == subject_.command);
}

void ThreadSweeps::begin_track(Task& task, Nanos start, bool start_seen) {
  task.track = tracks_++;
  task.start = start;
  task.start_seen = start_seen;
  task.active = true;
  write_track(task);
}

void ThreadSweeps::write_track(const Task& task) {
  format::TrackRecord record{};
  record.track = task.track;
  record.pid = task.pid;
  record.tid = task.tid;
  record.ppid = task.parent;
  record.own_tid = task.own_tid;
  record.time_ns = task.start.count;
  std::memcpy(record.name, task.name, sizeof record.name);
  writer_.track(record, task.start_seen);
}

ProcRead ThreadSweeps::read_sums(const Task& task, std::span<char> buffer) {
  return task.descriptor >= 0 ? read_open(task.descriptor, buffer)
                              : read_task(task.pid, task.tid, "schedstat", buffer);
}

void ThreadSweeps::take_name(Task& task, std::string_view name, Nanos now) {
  task.named_at = now;
  char text[sizeof task.name] = {};
  name.copy(text, sizeof text - 1);
  if (name.empty() || std::memcmp(text, task.name, sizeof text) == 0) return;
  std::memcpy(task.name, text, sizeof text);
  write_track(task);
}

void ThreadSweeps::end_track(Task& task, Nanos now) {
  format::TrackEndRecord record{};
  record.track = task.track;
  record.time_ns = now.count;
  record.voluntary_switches = are_final(task) ? uint32_t(task.counts->voluntary) : format::kUnknownCount;
  record.involuntary_switches = are_final(task) ? uint32_t(task.counts->involuntary) : format::kUnknownCount;
  writer_.track_end(record);
}

void ThreadSweeps::add_entry(const Task& task, const SchedSums& before) {
  entries_.push_back({task.track, task.sums.ran - before.ran, task.sums.ready - before.ready,
                      task.sums.switched_in - before.switched_in,
                      task.moved ? format::kUnknownProcessor : task.processor});
}

/// The first thread of a process has ended, and is a zombie while others go on, or until one that executes a
/// program has its id. A zombie's sums stand still once it is one; what runs is the other, and found anew.
void ThreadSweeps::look_at_zombie(TaskProcess& process, Task& task) {
  char buffer[128];
  const auto sums = parse_schedstat(read_sums(task, buffer).text);
  if (!sums) return;
  if (task.sums_final && *sums != task.sums) {
    process.lose(task);
    process.incomplete = true;
  }
  task.sums = *sums;
  task.sums_final = true;
}

/// Further than time does since the last sweep; this one may have lost its processor since its begin,
/// `length` after that.
bool ThreadSweeps::is_too_much(Nanos ran, Nanos length) const {
  return ran > length + kLateTime && ran > saturating_sub(clock_now(CLOCK_MONOTONIC), swept_) + kLateTime;
}

/// Sums that go backwards, or further than time does, are another thread's: one that executes a program takes
/// the first one's id. The process goes on, and so does that id's track; what the thread did under its own
/// was told there.
void ThreadSweeps::read_task_sums(TaskProcess& process, Task& task, Nanos length) {
  char buffer[128];
  ProcRead read = read_sums(task, buffer);
  auto sums = parse_schedstat(read.text);
  const SchedSums before = task.sums;
  const bool another = sums && (sums->ran < before.ran || sums->ready < before.ready ||
                                is_too_much(sums->ran - before.ran, length));
  const bool took_id = another && task.tid == task.pid;
  if (took_id) task.sums = *sums, task.moved = true;
  if (another && !took_id) process.incomplete = true;
  if (read.gone() || (another && !took_id)) return process.lose(task);
  task.active_before = task.active;
  task.active = sums && *sums != before;
  if (!task.active || took_id) return;
  task.sums = *sums;
  task.wait_known = false;
  task.moved |= task.sums.switched_in != before.switched_in;
  add_entry(task, before);
  active_.push_back({&task, &process});
}

void ThreadSweeps::sweep(Nanos now) {
  Nanos length = now - swept_;
  entries_.clear();
  active_.clear();
  for (TaskProcess& process : table_.processes())
    for (Task& task : process.tasks)
      task.over ? look_at_zombie(process, task) : read_task_sums(process, task, length);
  extra_ = std::max(budget_.room(kSweepPeriod, used_since_last()), {used_since_last().count / kExtraOneIn});
  look_at_processors(Allowance({extra_.count / 4}));
  for (Task* task : table_.find_new(now)) {
    // Made since the last look, it has done all that it did since then. What was there before and was not
    // found says nothing about this stretch.
    Nanos known = task->sums.ran + task->sums.ready;
    bool is_new = known <= length && !task->took_id;
    begin_track(*task, is_new ? now - known : now, false);
    if (is_new) add_entry(*task, {});
  }
  writer_.sweep(swept_, length, entries_);
  for (TaskProcess& process : table_.processes())
    for (Task& task : process.tasks)
      if (task.gone && !task.over) end_track(task, now);
  swept_ = now;
  ++sweeps_;
}

Nanos ThreadSweeps::used_since_last() const { return clock_now(CLOCK_THREAD_CPUTIME_ID) - used_; }

/// Beside the processor a thread's new name. To ask takes most of a look, and who was not switched in anew
/// is where it was.
void ThreadSweeps::look_at_processors(Allowance allowance) {
  char buffer[1024];
  for (size_t i = 0; i < active_.size() && allowance.left(); ++i) {
    size_t which = (turn_ + i) % active_.size();
    Task& task = *active_[which].task;
    const Nanos period = is_young(task, swept_) ? kYoungNamePeriod : kRunningNamePeriod;
    if (!task.moved && saturating_sub(swept_, task.named_at) < period) continue;
    auto stat = parse_stat(read_task(task.pid, task.tid, "stat", buffer).text);
    if (!stat) continue;
    task.moved = false;
    entries_[which].processor = task.processor = stat->processor;
    take_name(task, stat->name, swept_);
  }
}

void ThreadSweeps::look_at_wait_of(Task& task, const TaskProcess& process) {
  Nanos now = clock_now(CLOCK_MONOTONIC);
  const StackLooks::Thread thread{task.track, task.pid, task.tid, task.descriptor};
  task.pace.look(now);
  const auto turns = stacks_.turns(thread);
  WaitLook look = look_at_wait(task.pid, task.tid, [&](pid_t tid) {
    return std::ranges::any_of(process.tasks, [tid](const Task& other) { return other.tid == tid; });
  });
  task.wait_known = look.result != WaitLook::Result::kNotBlocked;
  task.over = look.result == WaitLook::Result::kZombie;
  if (look.result == WaitLook::Result::kRefused) {
    ++refused_looks_;
    stacks_.refuse(task.pid);
  }
  if (look.result == WaitLook::Result::kBlocked && turns)
    task.pace.found(stacks_.look(thread, look.call, *turns), look.call);
  if (look.result == WaitLook::Result::kBlocked) writer_.wait(task.track, now, look.kind);
  if (task.over) return end_track(task, now);
  if (!is_young(task, now) && now - task.named_at < kNamePeriod) return;
  char buffer[64];
  std::string_view name = read_task(task.pid, task.tid, "comm", buffer).text;
  take_name(task, name.substr(0, name.find('\n')), now);
}

/// Threads that did not run in the last stretch: all of it was one wait. Where this look ends the next one
/// begins.
void ThreadSweeps::look_at_waits(Allowance& allowance) {
  std::list<TaskProcess>& processes = table_.processes();
  for (auto process = processes.begin(); process != processes.end(); ++process) {
    std::list<Task>& tasks = process->tasks;
    for (auto task = tasks.begin(); task != tasks.end(); ++task) {
      if (task->active || task->wait_known || task->over || task->gone) continue;
      if (!allowance.left()) {
        tasks.splice(tasks.end(), tasks, tasks.begin(), task);
        processes.splice(processes.end(), processes, processes.begin(), process);
        return;
      }
      look_at_wait_of(*task, *process);
    }
  }
}

/// A thread that waits again and again, shorter than a stretch, is looked at now and then; mostly it waits
/// then, too.
void ThreadSweeps::look_at_active(Allowance& allowance) {
  for (size_t i = 0; i < active_.size(); ++i) {
    const auto [task, process] = active_[(turn_ + i) % active_.size()];
    if (task->gone || task->over || !task->pace.due(swept_)) continue;
    if (!allowance.left()) return;
    look_at_wait_of(*task, *process);
  }
}

void ThreadSweeps::read_counts(Nanos now, Allowance allowance) {
  char buffer[4096];
  for (auto [task, process] : active_) {
    if (task->gone || now - task->counted_at < kCountsPeriod) continue;
    if (!allowance.left()) return;
    task->counted_at = now;
    task->counts = parse_switch_counts(read_task(task->pid, task->tid, "status", buffer).text);
  }
}

Nanos ThreadSweeps::look(Nanos now) {
  sweep(now);
  Allowance looks({extra_.count / 2});
  look_at_waits(looks);
  if (subject_.wait_stacks) look_at_active(looks);
  read_counts(now, Allowance({extra_.count / 4}));
  table_.remove_gone();
  ++turn_;
  Nanos used = clock_now(CLOCK_THREAD_CPUTIME_ID);
  budget_.charge(clock_now(CLOCK_MONOTONIC), used - used_);
  used_ = used;
  return budget_.next(now, kSweepPeriod);
}

void ThreadSweeps::finish(Nanos now) {
  if (now > swept_) sweep(now);
  table_.remove_gone();
}

std::vector<pid_t> ThreadSweeps::threads() {
  std::vector<pid_t> threads;
  for (const TaskProcess& process : table_.processes())
    for (const Task& task : process.tasks)
      if (!task.over) threads.push_back(task.tid);
  return threads;
}

std::vector<std::pair<std::string, std::string>> ThreadSweeps::facts() const {
  std::vector<std::pair<std::string, std::string>> facts = {{session_key::kObserver, "sweeps"}};
  if (sweeps_)
    facts.emplace_back(session_key::kObserverPeriodNs, fmt::format("{}", (swept_ - start_).count / sweeps_));
  if (table_.hidden()) facts.emplace_back(session_key::kObserverHidden, fmt::format("{}", table_.hidden()));
  if (refused_looks_)
    facts.emplace_back(session_key::kObserverRefusedLooks, fmt::format("{}", refused_looks_));
  stacks_.add_facts(facts);
  return facts;
}

}  // namespace varve::record::observe
