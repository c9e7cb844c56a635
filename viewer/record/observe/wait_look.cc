// SPDX-License-Identifier: MIT
// Reads /proc/PID/task/TID/syscall. See wait_look.h.
// Context: viewer.
#include "viewer/record/observe/wait_look.h"

#include <sys/syscall.h>

#include "viewer/record/filter_trial.h"
#include "viewer/record/observe/proc_file.h"

namespace varve::record::observe {
namespace {

/// After a stop the kernel calls again, by another number; the code still has the first.
long restarted_number(pid_t process, uint64_t program_counter) {
  char code[32];
  if (program_counter < sizeof code) return -1;
  if (!read_process(process, program_counter - sizeof code, code, sizeof code)) return -1;
  return syscall_number_in({code, sizeof code});
}

/// A zombie is in no system call and has no stack.
bool is_zombie(pid_t process, pid_t thread) {
  char buffer[1024];
  auto stat = parse_stat(read_task(process, thread, "stat", buffer).text);
  return stat && (stat->state == 'Z' || stat->state == 'X');
}

}  // namespace

WaitLook look_at_wait(pid_t process, pid_t thread, const IsSibling& is_sibling) {
  char buffer[256];
  ProcRead read = read_task(process, thread, "syscall", buffer);
  if (read.gone()) return {WaitLook::Result::kGone};
  if (read.error) return {WaitLook::Result::kRefused};
  auto look = parse_syscall(read.text);
  if (!look) return {WaitLook::Result::kNotBlocked};
  if (look->number == SYS_restart_syscall) look->number = restarted_number(process, look->program_counter);
  if (look->program_counter == 0 && is_zombie(process, thread)) return {WaitLook::Result::kZombie};
  return {WaitLook::Result::kBlocked, kind_of_wait(*look, is_sibling), *look};
}

}  // namespace varve::record::observe
