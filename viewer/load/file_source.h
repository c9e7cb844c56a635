// SPDX-License-Identifier: MIT
// Where a profile's bytes come from: a directory, one agent file, or memory (tests, the fuzzer).
// Files are read with pread into memory, never mapped: a profile may still be growing, and one that is
// truncated while it is read would be SIGBUS through a mapping, but is a short read here; and what was
// checked cannot change before it is used. Chunks are 64 KB, so a copy costs less than the page faults of a
// mapping. Context: viewer, any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tl/expected.hpp"

namespace varve::load {

/// One open file. `read` may be called from several threads.
class File {
 public:
  virtual ~File() = default;
  /// Bytes when it was opened; the file may have grown or shrunk since.
  virtual uint64_t size() const = 0;
  /// Copies what there is at `offset` into `out` and returns its length, less than asked at the end of the
  /// file.
  virtual size_t read(uint64_t offset, std::span<uint8_t> out) const = 0;
};

class FileSource {
 public:
  virtual ~FileSource() = default;
  /// Names of the files of the profile, sorted.
  virtual std::vector<std::string> names() const = 0;
  /// Whether all of a profile should be there, so that a missing file is damage.
  virtual bool whole() const { return true; }
  /// The error is a sentence's end: "cannot be opened: Permission denied".
  virtual tl::expected<std::unique_ptr<File>, std::string> open(const std::string& name) const = 0;
};

/// Regular files of one directory, or of it only those named at construction.
class DirectorySource : public FileSource {
 public:
  /// The error is a whole sentence.
  static tl::expected<std::unique_ptr<DirectorySource>, std::string> make(const std::string& path);
  std::vector<std::string> names() const override { return names_; }
  bool whole() const override { return whole_; }
  tl::expected<std::unique_ptr<File>, std::string> open(const std::string& name) const override;

 private:
  std::string directory_;
  bool whole_ = true;
  std::vector<std::string> names_;
};

/// Files that are in memory already.
class MemorySource : public FileSource {
 public:
  explicit MemorySource(std::map<std::string, std::vector<uint8_t>> files) : files_(std::move(files)) {}
  std::vector<std::string> names() const override;
  tl::expected<std::unique_ptr<File>, std::string> open(const std::string& name) const override;

 private:
  std::map<std::string, std::vector<uint8_t>> files_;
};

/// One regular file by its path, for readers of a single file of a profile.
tl::expected<std::unique_ptr<File>, std::string> open_file(const std::string& path);

}  // namespace varve::load
