// SPDX-License-Identifier: MIT
// See hooks.h.
// Context: agent start.
#include "agent/hooks.h"

namespace varve::agent {

void resolve_hooks() {
  resolve_thread_hooks();
  resolve_process_hooks();
  resolve_loader_hooks();
  resolve_signal_hooks();
  resolve_wait_hooks();
}

void start_hooks() {
  start_thread_hooks();
  start_process_hooks();
}

}  // namespace varve::agent
