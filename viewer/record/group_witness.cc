// SPDX-License-Identifier: MIT
// A process that shares the recorder's memory, so that to make it costs no copy of that. See group_witness.h.
// Context: viewer.
#include "viewer/record/group_witness.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "viewer/record/host_facts.h"
#include "viewer/record/process_tree.h"

namespace varve::record {
namespace {

/// It has the thread's errno, too: nothing here may fail.
int wait_for_ever(void*) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) pause();
}

}  // namespace

/// The kernel gives a signal to the youngest of a group first, so what has come to us has come to the
/// witness.
void GroupWitness::begin() {
  constexpr size_t kStackBytes = 16 << 10;
  alignas(16) static char stack[kStackBytes];
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  // Without a signal at its end it is no child that wait(-1) finds.
  pid_ = clone(wait_for_ever, stack + kStackBytes, CLONE_VM | CLONE_FS | CLONE_FILES, nullptr);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  leave_out(pid_);
}

void GroupWitness::end() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, __WCLONE);
  leave_out(-1);
  pid_ = -1;
}

bool GroupWitness::has_got(int number) {
  if (pid_ <= 0) return false;
  const std::string pending(value_in(small_file(fmt::format("/proc/{}/status", pid_)), "ShdPnd"));
  const uint64_t set = std::strtoull(pending.c_str(), nullptr, 16);
  if (!(set >> (number - 1) & 1)) return false;
  end();
  begin();
  return true;
}

}  // namespace varve::record
