// SPDX-License-Identifier: MIT
// See hooks.h.
// Context: agent start.
#include "agent/hooks.h"

#include "agent/descriptor_names.h"
#include "agent/signal/clock.h"
#include "agent/wait_trace.h"

namespace varve::agent {

void resolve_hooks() {
  resolve_thread_hooks();
  resolve_process_hooks();
  resolve_loader_hooks();
  resolve_signal_hooks();
  resolve_mask_hooks();
  resolve_wait_hooks();
  resolve_mutex_hooks();
  resolve_condition_hooks();
  resolve_sync_hooks();
  resolve_sleep_hooks();
  resolve_io_hooks();
  resolve_transfer_hooks();
  resolve_descriptor_hooks();
  resolve_once_hooks();
  resolve_syscall_hooks();
  resolve_ipc_hooks();
  resolve_file_lock_hooks();
  resolve_leave_hooks();
  resolve_life_hooks();
  resolve_filter_hooks();
  resolve_profil_hooks();
}

void start_hooks() {
  start_thread_hooks();
  start_process_hooks();
  start_wait_trace();
  if (traces_waits()) note_standard_pipes(monotonic_ns());
}

}  // namespace varve::agent
