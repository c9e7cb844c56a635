// SPDX-License-Identifier: MIT
// Searches /proc for threads and processes. See task_table.h.
// Context: viewer.
#include "viewer/record/observe/task_table.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstring>
#include <memory>
#include <string>

#include "viewer/record/host_facts.h"
#include "viewer/record/observe/proc_file.h"
#include "viewer/record/process_tree.h"

namespace varve::record::observe {
namespace {

/// Of the limit, for all else that the recorder opens.
constexpr long kReserve = 256;
/// A number that was given out is searched for in so many looks. Most belong to threads or to processes that
/// have already ended.
constexpr unsigned kLooksAfterNews = 2;
/// The fork of a large process takes longer than that from its number to where /proc shows it, so all
/// processes are listed so often.
constexpr Nanos kListPeriod{2 * kNanosPerSecond.count};
/// With more new numbers than this the list of all processes is cheaper.
constexpr size_t kMostCandidates = 1000;
/// Numbers below it are not given out again after the largest (RESERVED_PIDS of the kernel).
constexpr pid_t kFirstPidAgain = 300;
/// Links of /proc/PID/task without any thread.
constexpr nlink_t kNoThreadLinks = 2;

/// Makes room for a descriptor a thread. The command was forked before and keeps its limit.
long raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  constexpr rlim_t kEnough = 1'000'000;
  return long(std::min(limit.rlim_cur, kEnough)) - kReserve;
}

/// A container may show a /proc/loadavg of its own, which is years old by our clock.
int open_last_pid() {
  int descriptor = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  struct statfs system;
  if (descriptor >= 0 && fstatfs(descriptor, &system) == 0 && system.f_type == PROC_SUPER_MAGIC)
    return descriptor;
  if (descriptor >= 0) close(descriptor);
  return -1;
}

/// Calls `use` for each name in a directory that is a number.
template <typename Use>
void for_numbers_in(const std::string& path, Use use) {
  std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(path.c_str()), closedir);
  while (dirent* entry = directory ? readdir(directory.get()) : nullptr) {
    std::string_view name = entry->d_name;
    pid_t number = 0;
    auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size()) use(number);
  }
}

/// By the namespace's file, which costs less than the numbers in `status` do, but not all may look at it.
bool is_in_other_pid_namespace(pid_t process) {
  struct stat own {
  }, other{};
  if (stat("/proc/self/ns/pid", &own) == 0 &&
      stat(fmt::format("/proc/{}/ns/pid", process).c_str(), &other) == 0)
    return own.st_ino != other.st_ino;
  const pid_t own_number = numbers_of(process).own;
  return own_number != 0 && own_number != process;
}

std::string task_directory(pid_t process) { return fmt::format("/proc/{}/task", process); }

}  // namespace

TaskTable::TaskTable(Subject subject)
    : subject_(subject),
      last_pid_file_(open_last_pid()),
      last_pid_(subject.command - 1),
      descriptors_left_(raise_descriptor_limit()) {
  std::string most = small_file("/proc/sys/kernel/pid_max", 32);
  std::from_chars(most.data(), most.data() + most.size(), most_pid_);
}

TaskTable::~TaskTable() {
  for (TaskProcess& process : processes_) {
    for (Task& task : process.tasks) close_kept(task.descriptor);
    close_kept(process.directory);
  }
  if (last_pid_file_ >= 0) close(last_pid_file_);
}

/// -1 as well where descriptors have run out: then it is opened for each look.
int TaskTable::keep_open(const char* path, int flags) {
  if (descriptors_left_ <= 0) return -1;
  int descriptor = open(path, flags | O_RDONLY | O_CLOEXEC);
  if (descriptor >= 0) --descriptors_left_;
  return descriptor;
}

void TaskTable::close_kept(int descriptor) {
  if (descriptor < 0) return;
  close(descriptor);
  ++descriptors_left_;
}

/// The kernel gives numbers out in turn, so the last one tells which are new, on the whole machine, in one
/// cheap look. False: none, for a while.
bool TaskTable::take_new_numbers() {
  char buffer[128];
  auto last = last_pid_file_ < 0 ? std::nullopt : parse_last_pid(read_open(last_pid_file_, buffer).text);
  if (last && *last == last_pid_) return ++quiet_looks_ < kLooksAfterNews;
  quiet_looks_ = 0;
  bool again = last && *last < last_pid_;
  auto count = last ? int64_t(*last) - last_pid_ + (again ? int64_t(most_pid_) - kFirstPidAgain : 0) : -1;
  if (count < 0 || candidates_.size() + size_t(count) > kMostCandidates) {
    list_processes();
  } else {
    pid_t pid = last_pid_;
    for (; count > 0; --count)
      candidates_.push_back({pid = pid + 1 < most_pid_ ? pid + 1 : kFirstPidAgain, 0});
  }
  last_pid_ = last.value_or(last_pid_);
  return true;
}

nlink_t TaskTable::links_of(const TaskProcess& process) const {
  struct stat status {};
  int failed = process.directory >= 0 ? fstat(process.directory, &status)
                                      : stat(task_directory(process.pid).c_str(), &status);
  return failed ? kNoThreadLinks : status.st_nlink;
}

/// Nothing if it has ended meanwhile. A thread begins with the name of its process, and shows its own when it
/// is looked at for another reason: stat costs more than all else here.
std::optional<Task> TaskTable::make_task(const TaskProcess& process, pid_t thread) {
  char buffer[1024];
  Task task;
  task.pid = process.pid;
  task.tid = thread;
  task.parent = process.parent;
  task.inside = process.inside;
  std::memcpy(task.name, process.name, sizeof task.name);
  TaskPath path(process.pid, thread, "schedstat");
  task.descriptor = keep_open(path.c_str(), 0);
  ProcRead read = task.descriptor >= 0 ? read_open(task.descriptor, buffer) : read_path(path.c_str(), buffer);
  auto sums = parse_schedstat(read.text);
  if (sums) return task.sums = *sums, task;
  close_kept(task.descriptor);
  return {};
}

void TaskTable::list_threads(TaskProcess& process, std::vector<Task*>& found) {
  nlink_t links = links_of(process);
  if (links == process.links && !process.incomplete) return;
  const bool is_known = process.links != 0;
  process.links = links;
  process.incomplete = false;
  if (links <= kNoThreadLinks)
    for (Task& task : process.tasks) task.gone = true;
  std::unordered_set<pid_t> listed;
  for (const Task& task : process.tasks)
    if (!task.gone) listed.insert(task.tid);
  for_numbers_in(task_directory(process.pid), [&](pid_t thread) {
    if (listed.contains(thread)) return;
    auto task = make_task(process, thread);
    if (!task) {
      process.incomplete = true;
      return;
    }
    task->took_id = is_known && thread == process.pid;
    found.push_back(&process.tasks.emplace_back(*task));
  });
}

TaskProcess& TaskTable::add_process(pid_t pid, const TaskStat& stat) {
  known_.insert(pid);
  TaskProcess process;
  process.pid = pid;
  process.parent = stat.parent;
  stat.name.copy(process.name, sizeof process.name - 1);
  process.inside = is_in_other_pid_namespace(pid);
  process.directory = keep_open(task_directory(pid).c_str(), O_DIRECTORY);
  return processes_.emplace_back(std::move(process));
}

/// False: it is to be looked at again.
bool TaskTable::look_at(Candidate& candidate, std::vector<Task*>& found) {
  pid_t pid = candidate.pid;
  if (known_.contains(pid)) return true;
  char buffer[1024];
  ProcRead read = read_task(pid, pid, "stat", buffer);
  auto stat = parse_stat(read.text);
  bool ours = stat && !stat->is_thread && (stat->parent == getpid() || known_.contains(stat->parent)) &&
              !is_left_out(pid);
  if (ours) list_threads(add_process(pid, *stat), found);
  if (!read.error) return true;
  if (++candidate.looks < kLooksAfterNews) return false;
  if (kill(pid, 0) == 0 || errno == EPERM) ++hidden_;  // a set-user-id program of ours may be sent signals
  return true;
}

/// Where new numbers are not known: all processes of the machine that were not there at the last list.
void TaskTable::list_processes() {
  std::unordered_set<pid_t> foreign;
  for_numbers_in("/proc", [&](pid_t pid) {
    if (known_.contains(pid) || pid == getpid()) return;
    if (!foreign_.contains(pid)) candidates_.push_back({pid, kLooksAfterNews - 1});
    foreign.insert(pid);
  });
  foreign_ = std::move(foreign);
}

std::vector<Task*> TaskTable::find_new(Nanos now) {
  std::vector<Task*> found;
  bool news = take_new_numbers();
  if (now - listed_ >= kListPeriod) {
    listed_ = now;
    list_processes();
  }
  for (TaskProcess& process : processes_) {
    bool lingers = std::ranges::all_of(process.tasks, &Task::over);
    if (news || process.incomplete || lingers) list_threads(process, found);
  }
  if (!subject_.follow && !processes_.empty()) candidates_.clear();
  std::erase_if(candidates_, [&](Candidate& candidate) { return look_at(candidate, found); });
  // After all sums were read: this takes 20 us for each.
  for (Task* task : found)
    if (task->inside) task->own_tid = numbers_of(task->tid).own;
  return found;
}

void TaskTable::remove_gone() {
  for (auto process = processes_.begin(); process != processes_.end();) {
    std::erase_if(process->tasks, [this](Task& task) {
      if (task.gone) close_kept(task.descriptor);
      return task.gone;
    });
    bool gone = process->tasks.empty();
    if (gone) {
      close_kept(process->directory);
      known_.erase(process->pid);
    }
    process = gone ? processes_.erase(process) : std::next(process);
  }
}

}  // namespace varve::record::observe
