// SPDX-License-Identifier: MIT
// PerfMapKeeper: brings the symbol maps of just-in-time compilers, /tmp/perf-PID.map as the target sees it,
// into the profile. A process in another mount namespace takes its /tmp with it when it ends, so a descriptor
// of that directory is taken while the process lives, which keeps that mount busy until the end. Not a
// parser: viewer/symbol reads what is kept. Context: viewer.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "common/units.h"

namespace varve::record {

class PerfMapKeeper {
 public:
  /// `profile` is the profile directory; it stays the caller's. `realtime` is the start of the run: an older
  /// map is another process's with the same pid.
  PerfMapKeeper(int profile, Nanos realtime);
  PerfMapKeeper(const PerfMapKeeper&) = delete;
  PerfMapKeeper& operator=(const PerfMapKeeper&) = delete;
  ~PerfMapKeeper();

  /// Readable when agents have made new files; -1 where the kernel cannot tell.
  int descriptor() const { return notify_; }
  /// Looks at the processes of new agent files, some at a time; false: there were none. Calls `outside(file,
  /// pid)` for each that knows itself by another number, in a pid namespace of its own, than this process
  /// does.
  using Outside = std::function<void(const std::string&, pid_t)>;
  bool look(const Outside& outside = {});

  /// Copies each map into the profile as HOST-PID.perfmap (mode 0600), if it is a plain file of the process's
  /// own user and not beyond 256 MB. Returns how many.
  unsigned collect();

 private:
  struct Foreign {
    std::set<std::string> processes;  // HOST-PID
    int tmp;                          // descriptor of their /tmp
    dev_t device;
    ino_t inode;
  };

  void notice(const std::string& agent_file, const Outside& outside);
  /// The number by which this process knows the one of the run that made files of that name; 0: nobody knows.
  pid_t global_pid(const std::string& process);
  pid_t walk_for(pid_t pid);
  int tmp_of(const std::string& process) const;

  int profile_ = -1;
  int notify_ = -1;
  Nanos realtime_;
  dev_t own_device_ = 0;
  ino_t own_inode_ = 0;
  std::vector<Foreign> foreign_;
  std::set<std::string> known_;  // HOST-PID of those that have no other number
  std::set<pid_t> parents_;      // of the run: these, and theirs
  Nanos walks_paid_until_;
};

}  // namespace varve::record
