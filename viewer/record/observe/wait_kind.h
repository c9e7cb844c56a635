// SPDX-License-Identifier: MIT
// What a blocked thread waits for, judged by the system call it is in. Linux on x86-64.
// Context: viewer.
#pragma once

#include <functional>

#include "common/run_state.h"
#include "viewer/record/observe/proc_text.h"

namespace varve::record::observe {

/// Whether a thread of this id belongs to the process of the thread that waits.
using IsSibling = std::function<bool(pid_t tid)>;

/// `look.number` must be the call that was made, not restart_syscall.
WaitKind kind_of_wait(const SyscallLook& look, const IsSibling& is_sibling);

/// The number of the call that ends at `code`'s end, as the instructions before it load it: b8 NUMBER, then
/// 0f 05. A call that the kernel has restarted says restart_syscall, and only its code still knows what it
/// was. -1: the code does not say.
long syscall_number_in(std::string_view code);

}  // namespace varve::record::observe
