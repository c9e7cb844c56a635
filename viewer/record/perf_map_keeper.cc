// SPDX-License-Identifier: MIT
// Watches the profile directory for agent files and copies perf maps at the end. See perf_map_keeper.h.
// Context: viewer.
#include "viewer/record/perf_map_keeper.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/inotify.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <set>
#include <string_view>

#include "common/file_format.h"
#include "viewer/record/clock.h"
#include "viewer/record/process_tree.h"

namespace varve::record {
namespace {

/// As read_perf_map() has it. Of a part of one the newest names, which count, would be missing.
constexpr off_t kLargestMap = 1 << 30;
constexpr size_t kMostForeign = 200;  // descriptors of other /tmp directories

/// "HOST-PID" of "HOST-PID-IMAGE.agent"; empty for any other name.
std::string process_of(std::string_view file) {
  if (!file.ends_with(format::kAgentSuffix)) return "";
  size_t image = file.find_last_of('-');
  return image == std::string_view::npos ? "" : std::string(file.substr(0, image));
}

pid_t pid_of(std::string_view process) {
  size_t dash = process.find_last_of('-');
  if (dash == std::string_view::npos) return 0;
  std::string_view digits = process.substr(dash + 1);
  pid_t pid = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), pid);
  return error == std::errc() && end == digits.data() + digits.size() ? pid : 0;
}

/// Of those in pid namespaces of their own; 0 if it is gone, or several have one.
pid_t descendant_that_calls_itself(pid_t pid) {
  pid_t found = 0;
  for (pid_t candidate : descendants()) {
    if (numbers_of(candidate).own != pid) continue;
    if (found) return 0;
    found = candidate;
  }
  return found;
}

bool copy_all(int from, int to, off_t size) {
  while (size > 0) {
    ssize_t copied = sendfile(to, from, nullptr, size_t(size));
    if (copied <= 0) return false;
    size -= copied;
  }
  return true;
}

uint64_t modified_ns(const struct stat& status) {
  return uint64_t(status.st_mtim.tv_sec) * kNanosPerSecond.count + uint64_t(status.st_mtim.tv_nsec);
}

/// Opens DIRECTORY/perf-PID.map if it can be trusted to be the map of a process of `owner` that ran since
/// `since`.
int open_map(int directory, pid_t pid, uid_t owner, Nanos since, off_t& size) {
  int map = openat(directory, fmt::format("perf-{}.map", pid).c_str(),
                   O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (map < 0) return -1;
  struct stat status;
  // File times come from a clock that may lag by a jiffy.
  bool good = fstat(map, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == owner &&
              status.st_size > 0 && status.st_size <= kLargestMap &&
              modified_ns(status) + 20 * kNanosPerMilli.count >= since.count;
  size = status.st_size;
  if (good) return map;
  close(map);
  return -1;
}

}  // namespace

PerfMapKeeper::PerfMapKeeper(int profile, Nanos realtime) : profile_(profile), realtime_(realtime) {
  struct stat status;
  if (stat("/tmp", &status) == 0) own_device_ = status.st_dev, own_inode_ = status.st_ino;
  notify_ = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (notify_ >= 0 &&
      inotify_add_watch(notify_, fmt::format("/proc/self/fd/{}", profile).c_str(), IN_CREATE) < 0)
    close(notify_), notify_ = -1;
}

PerfMapKeeper::~PerfMapKeeper() {
  if (notify_ >= 0) close(notify_);
  for (const Foreign& foreign : foreign_) close(foreign.tmp);
}

bool PerfMapKeeper::look(const Outside& outside) {
  alignas(inotify_event) char buffer[4096];
  const ssize_t size = read(notify_, buffer, sizeof buffer);
  for (ssize_t at = 0; at < size;) {
    const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
    if (event->len) notice(event->name, outside);
    at += ssize_t(sizeof *event + event->len);
  }
  return size > 0;
}

/// The kernel takes 20 us to tell the numbers of one process, so of each they are asked once, and of its
/// parents only those that are not known.
pid_t PerfMapKeeper::global_pid(const std::string& process) {
  const pid_t pid = pid_of(process);
  if (known_.contains(process)) return pid;
  const ProcessNumbers numbers = numbers_of(pid);
  const bool is_ours = numbers.own == pid && (parents_.contains(numbers.parent) || is_descendant(pid));
  if (!is_ours) return walk_for(pid);
  known_.insert(process);
  parents_.insert({pid, numbers.parent});
  return pid;
}

/// Most often the process is gone already, and where many come and go each would be a look at all others: a
/// tenth of a second of these may be at once, else a fiftieth of the time.
pid_t PerfMapKeeper::walk_for(pid_t pid) {
  constexpr uint64_t kOneIn = 50;
  constexpr Nanos kAtOnce{100 * kNanosPerMilli.count * kOneIn};
  const Nanos begin = clock_now(CLOCK_MONOTONIC);
  if (walks_paid_until_ > begin) return 0;
  const pid_t found = descendant_that_calls_itself(pid);
  const uint64_t price = (clock_now(CLOCK_MONOTONIC) - begin).count * kOneIn;
  walks_paid_until_ = std::max(walks_paid_until_, saturating_sub(begin, kAtOnce)) + Nanos{price};
  return found;
}

void PerfMapKeeper::notice(const std::string& agent_file, const Outside& outside) {
  std::string process = process_of(agent_file);
  pid_t pid = process.empty() ? 0 : global_pid(process);
  if (pid && pid != pid_of(process) && outside) outside(agent_file, pid);
  if (!pid || foreign_.size() >= kMostForeign) return;
  int tmp = open(fmt::format("/proc/{}/root/tmp", pid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (tmp < 0) return;
  struct stat status;
  bool known = fstat(tmp, &status) != 0 || (status.st_dev == own_device_ && status.st_ino == own_inode_);
  for (Foreign& foreign : foreign_)
    if (!known && foreign.device == status.st_dev && foreign.inode == status.st_ino) {
      foreign.processes.insert(process);
      known = true;
    }
  if (known)
    close(tmp);
  else
    foreign_.push_back({{process}, tmp, status.st_dev, status.st_ino});
}

int PerfMapKeeper::tmp_of(const std::string& process) const {
  for (auto foreign = foreign_.rbegin(); foreign != foreign_.rend(); ++foreign)
    if (foreign->processes.contains(process)) return foreign->tmp;
  return -1;
}

unsigned PerfMapKeeper::collect() {
  while (notify_ >= 0 && look()) continue;
  int own_tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
  int listing = openat(profile_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  std::unique_ptr<DIR, int (*)(DIR*)> directory(listing < 0 ? nullptr : fdopendir(listing), closedir);
  std::set<std::string> seen;
  unsigned copied = 0;
  while (dirent* entry = directory ? readdir(directory.get()) : nullptr) {
    std::string process = process_of(entry->d_name);
    struct stat agent;
    if (process.empty() || !seen.insert(process).second) continue;
    if (fstatat(profile_, entry->d_name, &agent, AT_SYMLINK_NOFOLLOW) != 0) continue;
    int elsewhere = tmp_of(process);
    off_t size = 0;
    int map = open_map(elsewhere >= 0 ? elsewhere : own_tmp, pid_of(process), agent.st_uid, realtime_, size);
    if (map < 0) continue;
    std::string name = process + ".perfmap";
    unlinkat(profile_, name.c_str(), 0);  // a copy of an earlier moment
    int copy = openat(profile_, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    const bool whole = copy >= 0 && copy_all(map, copy, size);
    copied += whole;
    if (copy >= 0) close(copy);
    if (!whole) unlinkat(profile_, name.c_str(), 0);  // the one in /tmp is better than a part
    close(map);
  }
  if (own_tmp >= 0) close(own_tmp);
  return copied;
}

}  // namespace varve::record
