// SPDX-License-Identifier: MIT
// A look at what a blocked thread waits for, from outside and without a signal to it. Not when to look: that
// is the sources' business, for a look costs 4 us, and 30 after a pause.
// Context: viewer, one thread.
#pragma once

#include "common/run_state.h"
#include "viewer/record/observe/wait_kind.h"

namespace varve::record::observe {

struct WaitLook {
  enum class Result { kBlocked, kNotBlocked, kZombie, kGone, kRefused } result = Result::kRefused;
  WaitKind kind = WaitKind::kOther;  // kBlocked
  SyscallLook call{};                // likewise; the call that was made, not restart_syscall
};
WaitLook look_at_wait(pid_t process, pid_t thread, const IsSibling& is_sibling);

}  // namespace varve::record::observe
