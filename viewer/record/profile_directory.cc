// SPDX-License-Identifier: MIT
// The life of a profile directory up to the start of the command: hidden name, then its own. See
// profile_directory.h. Context: viewer.
#include "viewer/record/profile_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "common/file_format.h"
#include "viewer/record/program_search.h"

namespace varve::record {
namespace {

constexpr unsigned kMaxNumber = 1'000'000;  // of profiles kept under one name

std::string folder_of(const std::string& path) {
  size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool exists(const std::string& path) {
  struct stat status;
  return lstat(path.c_str(), &status) == 0;
}

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

enum class Occupant { kNone, kProfile, kRecording, kOther };

/// What stands at `path`. A recorder holds a lock on its session file for as long as it records.
Occupant occupant(const std::string& path) {
  struct stat status;
  if (lstat(path.c_str(), &status) != 0) return Occupant::kNone;
  if (!S_ISDIR(status.st_mode)) return Occupant::kOther;
  int session =
      open((path + "/" + format::kSessionFile).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (session < 0) return Occupant::kOther;
  bool busy = flock(session, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(session);
  return busy ? Occupant::kRecording : Occupant::kProfile;
}

std::string free_number(const std::string& path) {
  for (unsigned number = 1; number < kMaxNumber; ++number) {
    std::string name = fmt::format("{}.{}", path, number);
    if (!exists(name)) return name;
  }
  return path + ".last";
}

}  // namespace

bool is_recording(const std::string& path) { return occupant(path) == Occupant::kRecording; }

std::string default_profile_name(std::string_view command) {
  std::string name(base_of(without_slashes(std::string(command))));
  while (!name.empty() && name.front() == '.') name.erase(0, 1);  // no hidden profiles
  if (name.empty()) name = "profile";
  return name.substr(0, NAME_MAX / 2) + ".varve";
}

tl::expected<void, OutputError> check_output(const std::string& given, bool may_exist) {
  const auto wrong_name = [](std::string sentence) {
    return tl::unexpected(OutputError{std::move(sentence), true});
  };
  std::string path = without_slashes(given);
  if (path.empty()) return wrong_name("the output directory has no name");
  if (!may_exist && exists(path))
    return wrong_name(fmt::format("'{}' exists; give -o another name, or remove it", path));
  if (may_exist && occupant(path) == Occupant::kOther)
    return wrong_name(fmt::format("'{}' exists and is no profile; name another place with -o DIR", path));
  std::string folder = folder_of(path);
  struct stat status;
  if (stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    return wrong_name(
        fmt::format("no directory '{}' to put the profile in; make it first, or use -o DIR", folder));
  if (status.st_nlink == 0)
    return tl::unexpected(
        OutputError{fmt::format("the directory '{}' was removed; name another place with -o DIR", folder)});
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    return tl::unexpected(OutputError{fmt::format("cannot write to '{}' ({}); name another place with -o DIR",
                                                  folder, std::strerror(errno))});
  return {};
}

ProfileDirectory::ProfileDirectory(std::string path, std::string hidden, int descriptor)
    : path_(std::move(path)), current_(std::move(hidden)), descriptor_(descriptor) {}

ProfileDirectory::ProfileDirectory(ProfileDirectory&& other) noexcept
    : path_(std::move(other.path_)),
      current_(std::move(other.current_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

ProfileDirectory::~ProfileDirectory() {
  if (descriptor_ >= 0) close(descriptor_);
}

tl::expected<ProfileDirectory, std::string> ProfileDirectory::prepare(std::string given) {
  std::string path = without_slashes(std::move(given));
  // Not by the pid: in containers that share a folder all recorders may have the same.
  std::string hidden = fmt::format("{}/.{}.XXXXXX", folder_of(path), base_of(path));
  if (!mkdtemp(hidden.data()))
    return tl::unexpected(fmt::format("cannot make a directory in '{}': {}; name another place with -o DIR",
                                      folder_of(path), std::strerror(errno)));
  int descriptor = open(hidden.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) {
    int error = errno;
    rmdir(hidden.c_str());
    return tl::unexpected(
        fmt::format("cannot open the new directory '{}': {}", hidden, std::strerror(error)));
  }
  return ProfileDirectory(std::move(path), std::move(hidden), descriptor);
}

namespace {

/// Held while names in a folder change: between a look at a name and the rename another recorder may have put
/// its own profile there. Who cannot have it within a second goes on without.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder)
      : descriptor_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    for (int i = 0; i < 100 && flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; ++i)
      usleep(10'000);
  }
  ~FolderLock() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  const int descriptor_;
};

}  // namespace

tl::expected<void, std::string> ProfileDirectory::publish(bool move_aside) {
  const FolderLock lock(folder_of(path_));
  // Another recorder may take the same name between the look and the rename, so the rename's own answer
  // decides: it refuses to replace a directory that is not empty.
  std::string target = path_;
  for (int attempt = 0; attempt < 100; ++attempt) {
    Occupant there = occupant(target);
    if (there != Occupant::kNone && (!move_aside || there == Occupant::kOther))
      return tl::unexpected(fmt::format("'{}' exists; give -o another name, or remove it", target));
    if (there == Occupant::kRecording) {
      target = free_number(path_);
      continue;
    }
    if (there == Occupant::kProfile && rename(target.c_str(), free_number(path_).c_str()) != 0 &&
        errno != ENOENT && errno != ENOTEMPTY && errno != EEXIST)
      return tl::unexpected(
          fmt::format("cannot rename the older profile '{}': {}", target, std::strerror(errno)));
    if (rename(current_.c_str(), target.c_str()) == 0) {
      path_ = current_ = target;
      return {};
    }
    if (errno != ENOTEMPTY && errno != EEXIST)
      return tl::unexpected(fmt::format("cannot make '{}': {}", target, std::strerror(errno)));
  }
  return tl::unexpected(fmt::format("cannot find a free name beside '{}'", path_));
}

void ProfileDirectory::discard() {
  for (const char* file : {format::kSessionFile, format::kObserverFile}) unlinkat(descriptor_, file, 0);
  rmdir(current_.c_str());
}

std::string ProfileDirectory::path() const {
  struct stat ours, there;
  const bool leads_here = stat(path_.c_str(), &there) == 0 && fstat(descriptor_, &ours) == 0 &&
                          there.st_ino == ours.st_ino && there.st_dev == ours.st_dev;
  if (leads_here) return path_;
  char real[PATH_MAX];
  const ssize_t length = readlink(fmt::format("/proc/self/fd/{}", descriptor_).c_str(), real, sizeof real);
  const std::string moved(real, size_t(std::max<ssize_t>(length, 0)));
  return exists(moved) ? moved : path_;
}

std::string ProfileDirectory::absolute_path() const {
  if (char* real = realpath(current_.c_str(), nullptr)) {
    std::string path(real);
    free(real);
    return path;
  }
  return current_;
}

}  // namespace varve::record
