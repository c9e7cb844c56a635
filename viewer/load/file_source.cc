// SPDX-License-Identifier: MIT
// Reading a profile's files by pread. Not a parser: chunk_reader.h is.
// Context: viewer, any thread.
#include "viewer/load/file_source.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/file_format.h"
#include "viewer/load/regular_file.h"

namespace varve::load {
namespace {

class DiskFile : public File {
 public:
  DiskFile(int fd, uint64_t size) : fd_(fd), size_(size) {}
  ~DiskFile() override { close(fd_); }
  DiskFile(const DiskFile&) = delete;
  DiskFile& operator=(const DiskFile&) = delete;

  uint64_t size() const override { return size_; }

  size_t read(uint64_t offset, std::span<uint8_t> out) const override {
    size_t done = 0;
    while (done < out.size()) {
      ssize_t got = pread(fd_, out.data() + done, out.size() - done, off_t(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      done += size_t(got);
    }
    return done;
  }

 private:
  int fd_;
  uint64_t size_;
};

class MemoryFile : public File {
 public:
  explicit MemoryFile(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  uint64_t size() const override { return bytes_.size(); }
  size_t read(uint64_t offset, std::span<uint8_t> out) const override {
    if (offset >= bytes_.size() || out.empty()) return 0;
    size_t count = std::min<uint64_t>(out.size(), bytes_.size() - offset);
    std::memcpy(out.data(), bytes_.data() + offset, count);
    return count;
  }

 private:
  std::span<const uint8_t> bytes_;
};

bool is_profile_file(const std::string& name) {
  return std::ranges::find(format::kFilesOfRun, name) != std::end(format::kFilesOfRun) ||
         name.ends_with(format::kAgentSuffix) || name.ends_with(format::kRefusedSuffix);
}

std::vector<std::string> list_profile_files(DIR* stream) {
  std::vector<std::string> names;
  while (const dirent* entry = readdir(stream)) {
    if (is_profile_file(entry->d_name)) names.emplace_back(entry->d_name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

tl::expected<std::unique_ptr<File>, std::string> open_file(const std::string& path) {
  const auto error = [](std::string clause) { return tl::unexpected(std::move(clause)); };
  const int fd = open_regular_file(path, true);
  if (fd < 0 && errno == EINVAL) return error("is not a regular file");
  if (fd < 0) return error(std::string("cannot be opened: ") + std::strerror(errno));
  struct stat status {};
  if (fstat(fd, &status) != 0 || is_mostly_holes(status)) {
    close(fd);
    return error("is mostly holes");
  }
  return std::make_unique<DiskFile>(fd, uint64_t(status.st_size));
}

tl::expected<std::unique_ptr<DirectorySource>, std::string> DirectorySource::make(const std::string& path) {
  auto error = [&](const char* reason) {
    return tl::unexpected("cannot read the profile " + path + ": " + reason);
  };
  auto source = std::make_unique<DirectorySource>();
  if (DIR* stream = opendir(path.c_str())) {
    source->directory_ = path;
    source->names_ = list_profile_files(stream);
    closedir(stream);
    if (source->names_.empty()) return error("the directory holds no file of a profile");
    return source;
  }
  if (errno != ENOTDIR) return error(std::strerror(errno));
  source->whole_ = false;
  size_t slash = path.rfind('/');
  source->directory_ = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  source->names_ = {slash == std::string::npos ? path : path.substr(slash + 1)};
  return source;
}

tl::expected<std::unique_ptr<File>, std::string> DirectorySource::open(const std::string& name) const {
  return open_file(directory_ + "/" + name);
}

std::vector<std::string> MemorySource::names() const {
  std::vector<std::string> names;
  for (const auto& [name, bytes] : files_) names.push_back(name);
  return names;
}

tl::expected<std::unique_ptr<File>, std::string> MemorySource::open(const std::string& name) const {
  auto file = files_.find(name);
  if (file == files_.end()) return tl::unexpected(std::string("does not exist"));
  return std::make_unique<MemoryFile>(file->second);
}

}  // namespace varve::load
