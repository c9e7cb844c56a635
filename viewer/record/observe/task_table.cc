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
/// A search goes on for so many looks after the last new pid: the thread that made it may not show as active
/// yet, because the kernel counts the time of one that runs at its ticks.
constexpr unsigned kLooksAfterNews = 5;
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

std::string task_directory(pid_t process) { return fmt::format("/proc/{}/task", process); }

}  // namespace

TaskTable::TaskTable(Subject subject)
    : subject_(subject), last_pid_file_(open_last_pid()), descriptors_left_(raise_descriptor_limit()) {
  has_children_files_ = access(TaskPath(getpid(), getpid(), "children").c_str(), R_OK) == 0;
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

/// Whether any thread or process of this machine was made of late, as far as one cheap look can tell.
bool TaskTable::something_was_made() {
  char buffer[128];
  auto last = last_pid_file_ < 0 ? std::nullopt : parse_last_pid(read_open(last_pid_file_, buffer).text);
  if (!last || *last != last_pid_)
    quiet_looks_ = 0;
  else
    ++quiet_looks_;
  last_pid_ = last.value_or(-1);
  return quiet_looks_ < kLooksAfterNews;
}

nlink_t TaskTable::links_of(const TaskProcess& process) const {
  struct stat status {};
  int failed = process.directory >= 0 ? fstat(process.directory, &status)
                                      : stat(task_directory(process.pid).c_str(), &status);
  return failed ? kNoThreadLinks : status.st_nlink;
}

/// Nothing if it has ended meanwhile.
std::optional<Task> TaskTable::make_task(pid_t process, pid_t thread) {
  char buffer[1024];
  Task task;
  task.pid = process;
  task.tid = thread;
  auto stat = parse_stat(read_task(process, thread, "stat", buffer).text);
  if (!stat) return {};
  task.parent = stat->parent;
  task.processor = stat->processor;
  stat->name.copy(task.name, sizeof task.name - 1);
  auto sums = parse_schedstat(read_task(process, thread, "schedstat", buffer).text);
  if (!sums) return {};
  task.sums = *sums;
  task.descriptor = keep_open(TaskPath(process, thread, "schedstat").c_str(), 0);
  return task;
}

void TaskTable::list_threads(TaskProcess& process, std::vector<Task*>& found) {
  nlink_t links = links_of(process);
  if (links == process.links && !process.changed) return;
  process.links = links;
  process.changed = false;
  if (links <= kNoThreadLinks)
    for (Task& task : process.tasks) task.gone = true;
  std::unordered_set<pid_t> listed;
  for (const Task& task : process.tasks)
    if (!task.gone) listed.insert(task.tid);
  for_numbers_in(task_directory(process.pid), [&](pid_t thread) {
    if (listed.contains(thread)) return;
    if (auto task = make_task(process.pid, thread))
      found.push_back(&process.tasks.emplace_back(*task));
    else
      process.changed = true;  // look again
  });
}

TaskProcess* TaskTable::add_process(pid_t pid) {
  if (known_.contains(pid)) return nullptr;
  std::string path = task_directory(pid);
  if (access(path.c_str(), R_OK | X_OK) != 0) {
    if (kill(pid, 0) == 0 || errno == EPERM) unreadable_.insert(pid);
    return nullptr;
  }
  known_.insert(pid);
  TaskProcess process;
  process.pid = pid;
  process.directory = keep_open(path.c_str(), O_DIRECTORY);
  return &processes_.emplace_back(std::move(process));
}

void TaskTable::add_children(pid_t process, pid_t thread, std::vector<pid_t>& list) const {
  char buffer[4096];
  ProcRead read = read_task(process, thread, "children", buffer);
  if (read.text.size() < sizeof buffer)
    add_numbers(read.text, list);
  else
    add_numbers(small_file(TaskPath(process, thread, "children").c_str(), 1 << 20), list);
}

/// A process that was made has a parent that ran, or is one of ours now because that parent has ended.
void TaskTable::find_processes(std::vector<Task*>& found) {
  std::vector<pid_t> pids;
  add_children(getpid(), getpid(), pids);
  for (const TaskProcess& process : processes_)
    for (const Task& task : process.tasks)
      if (task.active || task.active_before) add_children(task.pid, task.tid, pids);
  for (size_t i = 0; i < pids.size(); ++i) {
    TaskProcess* process = add_process(pids[i]);
    size_t first = found.size();
    if (process) list_threads(*process, found);
    for (; first < found.size(); ++first) add_children(found[first]->pid, found[first]->tid, pids);
  }
}

/// Kernels without CONFIG_PROC_CHILDREN: all processes of the machine, each looked at once.
void TaskTable::find_processes_by_parent(std::vector<Task*>& found) {
  std::vector<std::pair<pid_t, pid_t>> unknown;  // process and its parent
  std::unordered_set<pid_t> foreign;
  for_numbers_in("/proc", [&](pid_t pid) {
    if (foreign_.contains(pid)) foreign.insert(pid);
    if (foreign_.contains(pid) || known_.contains(pid)) return;
    char buffer[1024];
    if (auto stat = parse_stat(read_task(pid, pid, "stat", buffer).text))
      unknown.emplace_back(pid, stat->parent);
  });
  for (bool again = true; again;) {
    again = false;
    std::erase_if(unknown, [&](const auto& entry) {
      auto [pid, parent] = entry;
      if (pid == getpid() || (parent != getpid() && !known_.contains(parent))) return false;
      if (TaskProcess* process = add_process(pid)) list_threads(*process, found);
      return again = true;
    });
  }
  for (auto [pid, parent] : unknown) foreign.insert(pid);
  foreign_ = std::move(foreign);
}

std::vector<Task*> TaskTable::find_new() {
  std::vector<Task*> found;
  bool made = something_was_made();
  for (TaskProcess& process : processes_) {
    bool lingers = std::ranges::all_of(process.tasks, &Task::over);
    if (made || process.changed || lingers) list_threads(process, found);
  }
  if (!subject_.follow) {
    if (TaskProcess* process = processes_.empty() ? add_process(subject_.command) : nullptr)
      list_threads(*process, found);
  } else if (made) {
    has_children_files_ ? find_processes(found) : find_processes_by_parent(found);
  }
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
