// SPDX-License-Identifier: MIT
// Asks ld.so and reads its answer. See loader_list.h.
// Context: viewer.
#include "viewer/record/loader_list.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <filesystem>

#include "viewer/record/host_facts.h"

namespace varve::record {
namespace {

constexpr size_t kMostOutput = 1 << 20;
constexpr std::chrono::seconds kPatience{2};

/// Owned by root, not writable for others, and named like glibc's loader. /nix/store and /opt pass as well.
bool is_trusted(const std::string& interpreter) {
  char real[PATH_MAX];
  struct stat status;
  if (!realpath(interpreter.c_str(), real) || stat(real, &status) != 0) return false;
  std::string_view base = std::string_view(real).substr(std::string_view(real).find_last_of('/') + 1);
  bool named = base.starts_with("ld-linux") || base.starts_with("ld-2.");
  return named && status.st_uid == 0 && !(status.st_mode & (S_IWGRP | S_IWOTH)) && S_ISREG(status.st_mode);
}

std::string read_until(int descriptor, std::chrono::steady_clock::time_point deadline, bool& in_time) {
  std::string text;
  char buffer[4096];
  for (in_time = true; text.size() < kMostOutput;) {
    auto rest =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd wake{descriptor, POLLIN, 0};
    int ready = poll(&wake, 1, std::max(0, int(rest.count())));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return in_time = false, text;
    ssize_t got = read(descriptor, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer, size_t(got));
  }
  return in_time = false, text;  // more than anybody reads
}

std::vector<std::string> loader_environment(const std::string& preload) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry; ++entry)
    if (!std::string_view(*entry).starts_with("LD_PRELOAD=")) environment.emplace_back(*entry);
  if (!preload.empty()) environment.push_back("LD_PRELOAD=" + preload);
  // As ldd asks. The loader's option --list would end at the first library that is missing.
  environment.push_back("LD_TRACE_LOADED_OBJECTS=1");
  return environment;
}

std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  size_t first = text.find(before);
  if (first == std::string_view::npos) return "";
  text.remove_prefix(first + before.size());
  return text.substr(0, text.find(after));
}

/// "PROGRAM: LIBRARY: version `GLIBC_2.38' not found (required by WANTER)"
void add_version(std::string_view line, LoaderList& list) {
  std::string_view head = line.substr(0, line.find(": version `"));
  size_t colon = head.rfind(": ");
  list.wrong_versions.push_back({std::string(between(line, "version `", "'")),
                                 std::string(colon == std::string_view::npos ? head : head.substr(colon + 2)),
                                 std::string(between(line, "(required by ", ")"))});
}

/// "\tNAME => PATH (0x...)" or "\tNAME => not found" or "\tPATH (0x...)"
void add_library(std::string_view line, LoaderList& list) {
  size_t arrow = line.find(" => ");
  if (arrow == std::string_view::npos) return;
  std::string_view path = line.substr(arrow + 4);
  path = path.substr(0, path.rfind(" (0x"));
  if (path.starts_with("not found")) path = "";
  list.libraries.push_back({std::string(trimmed(line.substr(0, arrow))), std::string(path)});
}

}  // namespace

const LoaderList::Library* LoaderList::find(std::string_view prefix) const {
  auto found = std::find_if(libraries.begin(), libraries.end(),
                            [&](const Library& library) { return library.name.starts_with(prefix); });
  return found == libraries.end() ? nullptr : &*found;
}

LoaderList parse_loader_list(std::string_view output) {
  LoaderList list;
  while (!output.empty()) {
    std::string_view line = output.substr(0, output.find('\n'));
    output.remove_prefix(std::min(output.size(), line.size() + 1));
    if (line.find(": version `") != std::string_view::npos)
      add_version(line, list);
    else if (line.find(" from LD_PRELOAD cannot be preloaded") != std::string_view::npos)
      list.not_preloaded.emplace_back(between(line, "object '", "'"));
    else
      add_library(line, list);
  }
  return list;
}

std::optional<LoaderList> ask_loader(const std::string& interpreter, const std::string& program,
                                     const std::string& preload) {
  int ends[2];
  errno = 0;
  if (!is_trusted(interpreter) || pipe2(ends, O_CLOEXEC) != 0) return {};
  // The loader takes $ORIGIN from the name it is given; the kernel gives the program its own, links followed.
  std::error_code unresolved;
  std::string file = std::filesystem::canonical(program, unresolved);
  if (unresolved) return {};
  const char* argv[] = {interpreter.c_str(), file.c_str(), nullptr};
  std::vector<std::string> environment = loader_environment(preload);
  std::vector<char*> pointers;
  for (std::string& entry : environment) pointers.push_back(entry.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t child = 0;
  int error =
      posix_spawn(&child, interpreter.c_str(), &actions, nullptr, const_cast<char**>(argv), pointers.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  bool in_time = false;
  std::string output;
  if (!error) {
    output = read_until(ends[0], std::chrono::steady_clock::now() + kPatience, in_time);
    if (!in_time) kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  close(ends[0]);
  errno = error;
  if (error || !in_time) return {};
  return parse_loader_list(output);
}

}  // namespace varve::record
