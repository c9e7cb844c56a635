// SPDX-License-Identifier: MIT
// Walks /proc/PID/task/TID/children. See process_tree.h.
// Context: viewer.
#include "viewer/record/process_tree.h"

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>

#include "viewer/record/host_facts.h"

namespace varve::record {
namespace {

constexpr size_t kMostProcesses = 100'000;
constexpr size_t kMostChildrenText = 1 << 20;

/// Children belong to the thread that forked them.
void add_children(pid_t process, std::vector<pid_t>& list) {
  std::string tasks = fmt::format("/proc/{}/task", process);
  std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(tasks.c_str()), closedir);
  if (!directory) return;
  while (dirent* entry = readdir(directory.get()))
    if (entry->d_name[0] != '.')
      add_numbers(small_file(tasks + "/" + entry->d_name + "/children", kMostChildrenText), list);
}

std::atomic<pid_t> left_out = -1;

}  // namespace

void leave_out(pid_t helper) { left_out = helper; }
bool is_left_out(pid_t process) { return process == left_out; }

void add_numbers(std::string_view text, std::vector<pid_t>& list) {
  const char* next = text.data();
  const char* end = next + text.size();
  while (next < end) {
    pid_t value = 0;
    auto [after, error] = std::from_chars(next, end, value);
    if (error != std::errc()) {
      ++next;  // a space
      continue;
    }
    list.push_back(value);
    next = after;
  }
}

std::vector<pid_t> descendants() {
  std::vector<pid_t> list;
  add_children(getpid(), list);
  std::erase_if(list, is_left_out);
  for (size_t i = 0; i < list.size() && list.size() < kMostProcesses; ++i) add_children(list[i], list);
  return list;
}

bool is_descendant(pid_t process) {
  constexpr int kDeepest = 1000;
  for (int level = 0; process > 1 && level < kDeepest; ++level) {
    process = numbers_of(process).parent;
    if (process == getpid()) return true;
  }
  return false;
}

std::optional<ProcessCpu> cpu_of(pid_t process) {
  std::string text = small_file(fmt::format("/proc/{}/stat", process));
  size_t name_end = text.rfind(')');  // the name in parentheses may hold anything
  if (name_end == std::string::npos) return {};
  unsigned long user = 0, system = 0;
  long children_user = 0, children_system = 0;
  if (std::sscanf(text.c_str() + name_end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld",
                  &user, &system, &children_user, &children_system) != 4)
    return {};
  uint64_t tick = kNanosPerSecond.count / uint64_t(sysconf(_SC_CLK_TCK));
  ProcessCpu cpu{{(user + uint64_t(children_user)) * tick}, {(system + uint64_t(children_system)) * tick}};
  // The process's own clock is exact where stat counts hundredths.
  clockid_t clock;
  timespec now{};
  if (clock_getcpuclockid(process, &clock) == 0 && clock_gettime(clock, &now) == 0) {
    Nanos own{uint64_t(now.tv_sec) * kNanosPerSecond.count + uint64_t(now.tv_nsec)};
    cpu.user = saturating_sub(own, Nanos{system * tick}) + Nanos{uint64_t(children_user) * tick};
  }
  return cpu;
}

bool is_followed(pid_t process) {
  std::unique_ptr<FILE, int (*)(FILE*)> maps(fopen(fmt::format("/proc/{}/maps", process).c_str(), "re"),
                                             fclose);
  if (!maps) return false;
  char* line = nullptr;
  size_t capacity = 0;
  bool found = false;
  while (!found && getline(&line, &capacity, maps.get()) > 0)
    found = std::string_view(line).find("/libvarve.so") != std::string_view::npos;
  free(line);
  return found;
}

bool is_busy(pid_t process) {
  const std::string status = small_file(fmt::format("/proc/{}/status", process));
  const std::string_view state = value_in(status, "State");
  return state.starts_with('R') || state.starts_with('D');
}

ProcessNumbers numbers_of(pid_t process) {
  const std::string status = small_file(fmt::format("/proc/{}/status", process));
  std::vector<pid_t> own, parent;  // own: outermost namespace first
  add_numbers(value_in(status, "NSpid"), own);
  add_numbers(value_in(status, "PPid"), parent);
  return {own.empty() ? 0 : own.back(), parent.empty() ? 0 : parent.back()};
}

bool is_alone_in_group() {
  std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir("/proc"), closedir);
  while (dirent* entry = directory ? readdir(directory.get()) : nullptr) {
    const pid_t process = pid_t(std::atoi(entry->d_name));
    if (process <= 0 || process == getpid() || getpgid(process) != getpgrp()) continue;
    if (!is_descendant(process)) return false;
  }
  return true;
}

bool is_traced_by_us(pid_t process) {
  std::vector<pid_t> tracer;
  add_numbers(value_in(small_file(fmt::format("/proc/{}/status", process)), "TracerPid"), tracer);
  return !tracer.empty() && tracer.back() == getpid();
}

}  // namespace varve::record
