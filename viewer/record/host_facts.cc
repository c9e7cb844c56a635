// SPDX-License-Identifier: MIT
// Reads uname, /proc and the cgroup files. See host_facts.h.
// Context: viewer.
#include "viewer/record/host_facts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <set>

#include "common/session_keys.h"

namespace varve::record {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return {};
  return value;
}

std::string cpu_model() {
  std::string info = small_file("/proc/cpuinfo", 4096);
  size_t at = info.find("model name");
  if (at == std::string::npos) return "";
  std::string_view line = std::string_view(info).substr(at, info.find('\n', at) - at);
  size_t colon = line.find(':');
  return colon == std::string_view::npos ? "" : std::string(trimmed(line.substr(colon + 1)));
}

/// A limit as cpu.max has it, in microseconds of CPU time for each period of time.
struct Quota {
  double quota, period;
  double processors() const { return quota / period; }
};

std::optional<Quota> make_quota(std::string_view quota_text, std::string_view period_text) {
  auto quota = number(trimmed(quota_text)), period = number(trimmed(period_text));
  if (!quota || !period || *quota <= 0 || *period <= 0) return {};  // "max", and -1 in version 1: no limit
  return Quota{*quota, *period};
}

std::optional<Quota> quota_v2(const std::string& group) {
  std::string text = small_file(group + "/cpu.max");
  std::vector<std::string_view> words = split(trimmed(text), ' ');
  return words.size() == 2 ? make_quota(words[0], words[1]) : std::nullopt;
}

std::optional<Quota> quota_v1(const std::string& group) {
  return make_quota(small_file(group + "/cpu.cfs_quota_us"), small_file(group + "/cpu.cfs_period_us"));
}

/// Looks at `group` and at those above it, up to the mount.
template <typename Read>
void tighten(std::optional<Quota>& limit, const std::string& mount, std::string group, Read read_quota) {
  for (;;) {
    if (auto found = read_quota(mount + group);
        found && (!limit || found->processors() < limit->processors()))
      limit = found;
    if (group.empty()) return;
    group.resize(group.find_last_of('/') == std::string::npos ? 0 : group.find_last_of('/'));
  }
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

std::string processor_list(const cpu_set_t& processors) {
  std::string list;
  for (int first = 0; first < CPU_SETSIZE; ++first) {
    if (!CPU_ISSET(first, &processors)) continue;
    int last = first;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &processors)) ++last;
    if (!list.empty()) list += ',';
    list += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    first = last;
  }
  return list;
}

size_t count_cores(const cpu_set_t& processors) {
  std::set<std::pair<std::string, std::string>> cores;
  for (int number = 0; number < CPU_SETSIZE; ++number) {
    if (!CPU_ISSET(number, &processors)) continue;
    std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/topology/", number);
    std::string core = small_file(folder + "core_id");
    if (core.empty()) return 0;
    cores.emplace(small_file(folder + "physical_package_id"), core);
  }
  return cores.size();
}

std::string small_file(const std::string& path, size_t limit) {
  int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return "";
  std::string text;
  char part[4096];  // most are shorter than that
  while (text.size() < limit) {
    const ssize_t got = read(descriptor, part, std::min(sizeof part, limit - text.size()));
    if (got <= 0) break;
    text.append(part, size_t(got));
  }
  close(descriptor);
  return text;
}

std::string_view value_in(std::string_view text, std::string_view name) {
  for (std::string_view line : split(text, '\n'))
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ':')
      return trimmed(line.substr(name.size() + 1));
  return {};
}

std::optional<std::string> cgroup_cpu_max(const std::string& root) {
  std::optional<Quota> limit;
  std::string groups = small_file(root + "/proc/self/cgroup");
  for (std::string_view line : split(groups, '\n')) {
    std::vector<std::string_view> fields = split(line, ':');  // "0::/path" or "4:cpu,cpuacct:/path"
    if (fields.size() < 3) continue;
    std::string group(line.substr(size_t(fields[2].data() - line.data())));
    if (group == "/") group.clear();
    std::vector<std::string_view> controllers = split(fields[1], ',');
    std::string mounts = root + "/sys/fs/cgroup";
    if (fields[0] == "0") {
      tighten(limit, mounts, group, quota_v2);
      tighten(limit, mounts + "/unified", group, quota_v2);  // beside version 1
    } else if (std::find(controllers.begin(), controllers.end(), "cpu") != controllers.end()) {
      tighten(limit, mounts + "/" + std::string(fields[1]), group, quota_v1);
    }
  }
  if (!limit) return {};
  return fmt::format("{:.0f} {:.0f}", limit->quota, limit->period);
}

std::vector<std::pair<std::string, std::string>> host_facts() {
  namespace keys = session_key;
  std::vector<std::pair<std::string, std::string>> facts;
  auto add = [&facts](const char* key, std::string value) {
    if (!value.empty()) facts.emplace_back(key, std::move(value));
  };
  utsname names{};
  if (uname(&names) == 0) {
    add(keys::kHost, names.nodename);
    add(keys::kKernel, names.release);
    add(keys::kMachine, names.machine);
  }
  add(keys::kCpuModel, cpu_model());
  add(keys::kProcessors, fmt::format("{}", sysconf(_SC_NPROCESSORS_ONLN)));
  cpu_set_t own;
  CPU_ZERO(&own);
  sched_getaffinity(0, sizeof own, &own);
  add(keys::kAffinity, processor_list(own));
  if (size_t cores = count_cores(own)) add(keys::kCores, fmt::format("{}", cores));
  add(keys::kCgroupCpuMax, cgroup_cpu_max("").value_or(""));
  add(keys::kUser, fmt::format("{}", geteuid()));
  return facts;
}

}  // namespace varve::record
