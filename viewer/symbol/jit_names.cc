// SPDX-License-Identifier: MIT
// Two places, and the checks that keep another process's map out.
// Context: viewer, any thread.
#include "viewer/symbol/jit_names.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace varve::symbol {
namespace {

constexpr uint64_t kJiffySlack = 20'000'000;  // ns; file times come from a clock that lags by up to a jiffy

bool on_this_host(const load::Process& process) {
  char name[256] = "";
  return gethostname(name, sizeof name - 1) == 0 && process.host == name;
}

bool of_this_run(const std::string& path, const load::Session& session) {
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0) return false;
  uint64_t modified = uint64_t(info.st_mtim.tv_sec) * kNanosPerSecond.count + uint64_t(info.st_mtim.tv_nsec);
  return session.start_realtime.count != 0 && modified + kJiffySlack >= session.start_realtime.count;
}

}  // namespace

JitNames find_jit_names(const load::Profile& profile, const load::Process& process) {
  struct stat info;
  uid_t owner = ::stat(profile.directory.c_str(), &info) == 0 ? info.st_uid : ::geteuid();
  std::string kept = fmt::format("{}/{}-{}.perfmap", profile.directory, process.host, process.pid);
  std::string live = fmt::format("/tmp/perf-{}.map", process.pid);
  bool inside =
      process.host.find('/') == std::string::npos;  // it comes from a file name, but is not trusted to
  if (inside && ::lstat(kept.c_str(), &info) == 0) {
    auto map = read_perf_map(kept, owner);
    return map ? JitNames{std::move(*map), ""} : JitNames{{}, map.error()};
  }
  if (on_this_host(process) && of_this_run(live, profile.session)) {
    auto map = read_perf_map(live, owner);
    return map ? JitNames{std::move(*map), ""} : JitNames{{}, map.error()};
  }
  return {{},
          "code made at run time, without a perf map: node --perf-basic-prof, python3 -X perf, "
          "java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit"};
}

}  // namespace varve::symbol
