// SPDX-License-Identifier: MIT
// CodeMap: which files the code of a process is from, as /proc/PID/maps has it, and CodeFiles, those files,
// each read once a run. A map is read when it is needed and again when it may have changed. Not the loaders'
// own lists: those are the agents', and a program without an agent has none.
// Context: viewer, one thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "common/units.h"
#include "viewer/record/observe/code_file.h"

namespace varve::record::observe {

struct SeenModule {
  std::string path;
  std::unique_ptr<CodeFile> file;
  bool is_agent = false;  // its frames are none of the program's
};

/// All files that stacks led through, in the order in which they were met.
class CodeFiles {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// The row of the file that process `pid` maps from `path`, if that is still the one with this inode.
  uint32_t open(pid_t process, const std::string& path, uint64_t inode);
  const SeenModule& row(uint32_t index) const { return modules_[index]; }
  size_t size() const { return modules_.size(); }

 private:
  using Key = std::tuple<uint64_t, uint64_t, int64_t, int64_t, uint64_t>;  // device, inode, change time, size

  std::vector<SeenModule> modules_;
  std::map<Key, uint32_t> known_;
  uint64_t bytes_left_ = uint64_t{256} << 20;  // of unwind information in memory
};

class CodeMap {
 public:
  explicit CodeMap(pid_t process) : process_(process) {}

  struct Place {
    uint32_t module = CodeFiles::kNone;  // kNone: code of no file
    uint64_t bias = 0;
  };
  /// Null: no code is there. The map is read if it is older than a while, and again for an address that it
  /// does not have; if code is `certain` to be there, because a thread was, then also if it is young.
  const Place* find(uint64_t address, CodeFiles& files, Nanos now, bool certain = false);

 private:
  struct Mapping {
    uint64_t begin, end, offset, inode;
    std::string path;
    bool opened;
    Place place;
  };

  void read(Nanos now);
  void add_line(std::string_view line);
  Mapping* at(uint64_t address);

  pid_t process_;
  Nanos read_at_;
  std::vector<Mapping> mappings_;  // executable ones, by address
};

}  // namespace varve::record::observe
