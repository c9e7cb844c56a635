// SPDX-License-Identifier: MIT
// What the hook families (hook_*.cc) offer to the rest of the agent: their set-up, and real functions past
// their hooks. Context: agent start.
#pragma once

#include <signal.h>

#include <cstdint>

namespace varve::agent {

class ProgramSignal;
struct ThreadBlock;

/// Looks up the functions behind all hooks, while there is one thread and no signal yet.
void resolve_hooks();

/// Registers what must run at thread ends and forks. Only in a process that is recorded.
void start_hooks();

/// Starts the agent where its constructor has not run yet: for what another library does in its own.
void start_before_our_turn();

void resolve_thread_hooks();
void resolve_process_hooks();
void resolve_loader_hooks();
void resolve_signal_hooks();
void resolve_mask_hooks();
void resolve_wait_hooks();
void resolve_mutex_hooks();
void resolve_condition_hooks();
void resolve_sync_hooks();
void resolve_sleep_hooks();
void resolve_io_hooks();
void resolve_transfer_hooks();
void resolve_descriptor_hooks();
void resolve_once_hooks();
void resolve_syscall_hooks();
void resolve_ipc_hooks();
void resolve_file_lock_hooks();
void resolve_leave_hooks();
void resolve_life_hooks();
void resolve_filter_hooks();
void resolve_profil_hooks();
void start_thread_hooks();
void start_process_hooks();

/// Gives a signal that ticks come by to the tick handler, and to the program what it had for it: SIG_IGN,
/// perhaps. False: the kernel refused.
bool begin_tick_signal(int number);
/// Gives these signals the program's own dispositions, and our alternate stack back: this process is not
/// recorded. `block` is the calling thread's, or null.
void end_tick_signals(ThreadBlock* block);
/// Lets the calling thread's ticks in again that were held from a handler which it has left by a jump.
void let_left_in(ThreadBlock& block);
/// The program has it do that from now on: as its sigaction() did.
void set_program_action(ProgramSignal& of_program, const struct sigaction wanted);
/// What the C library set past our hooks becomes the program's, and the kernel has ours again. False: the
/// kernel has ours.
bool take_action_from_kernel(ProgramSignal& of_program);
/// In a process that is not recorded: `action`, if the kernel has our handler. False: it has not.
bool give_back_tick_signal(int number, const struct sigaction& action);
/// A program that ignores such a signal leaves that to the one it starts, where the kernel would have made
/// our handler the default action. The second, if the exec failed.
void hand_on_ignored_signals();
void take_back_ignored_signals();
/// Sends those of `signals`, a set, that were kept back to the calling thread, which blocks them no more.
void release_pending_signals(uint64_t signals);

/// dlclose() past our hook.
int close_library(void* handle);

}  // namespace varve::agent
