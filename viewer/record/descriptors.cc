// SPDX-License-Identifier: MIT
// See descriptors.h.
// Context: viewer.
#include "viewer/record/descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "viewer/record/host_facts.h"

namespace varve::record {
namespace {

bool is_open(int number) { return fcntl(number, F_GETFD) >= 0; }

/// What survived the exec of varve had no such flag: a library that somebody preloads into varve opened it.
bool inherited(int number) {
  const int flags = fcntl(number, F_GETFD);
  return flags >= 0 && !(flags & FD_CLOEXEC);
}

using FileId = std::pair<dev_t, ino_t>;

FileId file_of(int number) {
  struct stat status {};
  return fstat(number, &status) == 0 ? FileId{status.st_dev, status.st_ino} : FileId{};
}

/// Shown with the descriptor by which the lock was taken, proc(5).
bool has_record_lock(int number) {
  const std::string facts = small_file(fmt::format("/proc/self/fdinfo/{}", number));
  const size_t lock = facts.find("lock:");
  return lock != std::string::npos && facts.find("POSIX", lock) != std::string::npos;
}

}  // namespace

std::vector<int> open_descriptors() {
  constexpr int kMostWithoutProc = 1024;
  std::vector<int> numbers;
  if (DIR* directory = opendir("/proc/self/fd")) {
    while (const dirent* entry = readdir(directory))
      if (entry->d_name[0] != '.') numbers.push_back(std::atoi(entry->d_name));
    std::erase(numbers, dirfd(directory));
    closedir(directory);
  } else {
    for (int number = 0; number < kMostWithoutProc; ++number)
      if (is_open(number)) numbers.push_back(number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

void guard_standard_descriptors() {
  for (int number = 0; number <= STDERR_FILENO; ++number)
    if (!is_open(number)) {
      int opened = open("/dev/null", O_RDWR | O_CLOEXEC);  // the lowest free number: this one
      if (opened > number) close(opened);
    }
}

InheritedDescriptors::InheritedDescriptors() : numbers_(open_descriptors()) {
  std::erase_if(numbers_, [](int number) { return number <= STDERR_FILENO || !inherited(number); });
}

void InheritedDescriptors::give_up() {
  std::vector<FileId> locked;
  const auto note = [&](int number) {
    if (has_record_lock(number)) locked.push_back(file_of(number));
  };
  std::ranges::for_each(numbers_, note);
  std::ranges::for_each(std::initializer_list<int>{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}, note);
  const auto loses_none = [&](int number) { return !std::ranges::count(locked, file_of(number)); };
  for (const int number : std::exchange(numbers_, {}))
    if (loses_none(number)) close(number);
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing < 0) return;
  for (const int number : {STDIN_FILENO, STDOUT_FILENO})
    if (loses_none(number)) dup2(nothing, number);
  close(nothing);
}

}  // namespace varve::record
