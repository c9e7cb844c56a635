// SPDX-License-Identifier: MIT
// Processes: fork's child gets a file of its own; exec and posix_spawn carry the recording on in the new
// program's environment; exec and _exit write the ends that no destructor would. vfork needs no hook: its
// child has no timers, and everything below asks in_recorded_process() before it touches state that the child
// shares with its parent. Context: any thread of the target; exec hooks also in vfork children.
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>

#include "agent/child_environment.h"
#include "agent/hooks.h"
#include "agent/image.h"
#include "agent/program_kind.h"
#include "agent/program_memory.h"
#include "agent/real.h"
#include "agent/signal/agent_state.h"
#include "agent/signal/tick_source.h"
#include "agent/signal_block.h"
#include "agent/thread_registry.h"

namespace varve::agent {
namespace {

using Exec = int(const char*, char* const*, char* const*);
using Spawn = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                  char* const*, char* const*);
Real<Exec> real_execve{"execve"};
Real<Exec> real_execvpe{"execvpe"};
Real<int(int, char* const*, char* const*)> real_fexecve{"fexecve"};
Real<int(int, const char*, char* const*, char* const*, int)> real_execveat{"execveat"};
Real<Spawn> real_posix_spawn{"posix_spawn"};
Real<Spawn> real_posix_spawnp{"posix_spawnp"};
Real<void(int)> real_exit{"_exit"};

/// The new program inherits the mask and pending signals as the program believes them to be.
void block_as_the_program_does(bool on) {
  if (!current_block) return;
  // Those that it handles are blocked already.
  const uint64_t blocked = current_block->program_blocks & ~agent_state.handled_signals();
  if (!blocked) return;
  change_mask(on ? SIG_BLOCK : SIG_UNBLOCK, blocked);
  if (on) release_pending_signals(blocked);
}

/// The moments around an exec. Ticks do not survive it, but a pending signal would, and would kill the new
/// program; so they end first. If the exec fails everything is taken back.
class ExecAttempt {
 public:
  ExecAttempt() : ours_(in_recorded_process()) {
    hand_on_ignored_signals();  // in a vfork's child too: its dispositions are its own
    if (!ours_) return;
    {
      SignalBlock guard;
      if (current_block) end_ticks(*current_block);
      end_image(format::ImageEnd::kExec);
    }
    block_as_the_program_does(true);
  }
  ~ExecAttempt() {
    int saved_errno = errno;
    take_back_ignored_signals();
    if (ours_) go_on();
    errno = saved_errno;
  }
  ExecAttempt(const ExecAttempt&) = delete;
  ExecAttempt& operator=(const ExecAttempt&) = delete;

 private:
  static void go_on() {
    block_as_the_program_does(false);
    SignalBlock guard;
    revoke_end_of_image();
    if (current_block) begin_ticks(*current_block);
  }

  bool ours_;
};

template <typename Function, typename... Arguments>
int exec(Function& real, Arguments... arguments) {
  ExecAttempt attempt;
  return real(arguments...);
}

/// posix_spawn's child is the C library's, no code of ours runs in it: it inherits what the caller has
/// meanwhile.
std::atomic<int> spawns{0};

template <typename Function, typename... Arguments>
int spawn(Function& real, Arguments... arguments) {
  if (!in_recorded_process()) return real(arguments...);
  if (spawns.fetch_add(1) == 0) hand_on_ignored_signals();
  block_as_the_program_does(true);
  int result = real(arguments...);
  block_as_the_program_does(false);
  if (spawns.fetch_sub(1) == 1) take_back_ignored_signals();
  return result;
}

/// A fork of a large process takes long; were a tick to interrupt it, the kernel would start it again, and
/// again.
void before_fork() {
  if (!current_block || !in_recorded_process()) return;
  const uint64_t blocked = change_mask(SIG_BLOCK, agent_state.tick_signals);
  // One that was left by a jump out of a handler has let them in again.
  if (agent_state.tick_signals & ~blocked) current_block->forks = 0;
  if (current_block->forks++ == 0) current_block->blocked_before_fork = blocked;
}

/// Also where recording has ended meanwhile: what was blocked before the fork must not stay so.
void let_ticks_in(ThreadBlock* block) {
  if (!block || block->forks == 0 || --block->forks != 0) return;
  change_mask(SIG_UNBLOCK, agent_state.tick_signals & ~block->blocked_before_fork);
}

void after_fork_in_parent() { let_ticks_in(current_block); }

/// current_block is the forking thread's, copied with its memory.
void after_fork_in_child() {
  ThreadBlock* block = current_block;
  if (!agent_state.recorded()) return let_ticks_in(block);
  {
    SignalBlock guard;
    spawns.store(0);
    begin_forked_image();
  }
  let_ticks_in(block);
  if (!in_recorded_process()) end_tick_signals(block);
}

void end_recorded_image() {
  if (in_recorded_process()) end_image(format::ImageEnd::kExit);
}

[[noreturn]] void leave(int status) {
  end_recorded_image();
  real_exit(status);
  __builtin_unreachable();
}

template <typename Preloads>
Takes takes(Preloads preloads) {
  return carries_recording() && preloads() ? Takes::kYes : Takes::kNo;
}

bool takes_preloads_at(int fd, const char* path, int flags) {
  const bool of_descriptor = (flags & AT_EMPTY_PATH) && can_read(path, 1) && !*path;
  return of_descriptor ? open_takes_preloads(fd) : takes_preloads(fd, path);
}

/// The arguments of execl and its kin as an array in `out`, or their number where `out` is null. `list` is
/// left at the NULL.
size_t collect(const char* first, va_list& list, char** out) {
  size_t count = 0;
  for (const char* argument = first; argument; argument = va_arg(list, const char*), ++count)
    if (out) out[count] = const_cast<char*>(argument);
  if (out) out[count] = nullptr;
  return count;
}

size_t count_arguments(const char* first, va_list& list) {
  va_list copy;
  va_copy(copy, list);
  size_t count = collect(first, copy, nullptr);
  va_end(copy);
  return count;
}

}  // namespace

void resolve_process_hooks() {
  real_execve.get(), real_execvpe.get(), real_fexecve.get(), real_execveat.get();
  real_posix_spawn.get(), real_posix_spawnp.get(), real_exit.get();
}

void start_process_hooks() {
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  at_quick_exit(end_recorded_image);  // the first of these is called last, when the program's own are done
  // The program that an emulator runs has its environment, and is in its process: there would be two agents.
  if (agent_state.follow && !is_emulator(program_file()))
    learn_carried_environment();
  else
    drop_carried_environment();
}

VARVE_HOOK int execve(const char* path, char* const* argv, char* const* environment) noexcept {
  return with_carried_environment(
      environment, takes([=] { return takes_preloads(AT_FDCWD, path); }),
      [=](char* const* carried) { return exec(real_execve, path, argv, carried); });
}

VARVE_HOOK int execv(const char* path, char* const* argv) noexcept { return execve(path, argv, environ); }

VARVE_HOOK int execvpe(const char* file, char* const* argv, char* const* environment) noexcept {
  return with_carried_environment(
      environment, takes([=] { return searched_takes_preloads(file); }),
      [=](char* const* carried) { return exec(real_execvpe, file, argv, carried); });
}

VARVE_HOOK int execvp(const char* file, char* const* argv) noexcept { return execvpe(file, argv, environ); }

VARVE_HOOK int fexecve(int fd, char* const* argv, char* const* environment) noexcept {
  return with_carried_environment(
      environment, takes([=] { return open_takes_preloads(fd); }),
      [=](char* const* carried) { return exec(real_fexecve, fd, argv, carried); });
}

VARVE_HOOK int execveat(int fd, const char* path, char* const* argv, char* const* environment,
                        int flags) noexcept {
  return with_carried_environment(
      environment, takes([=] { return takes_preloads_at(fd, path, flags); }),
      [=](char* const* carried) { return exec(real_execveat, fd, path, argv, carried, flags); });
}

VARVE_HOOK int execl(const char* path, const char* first, ...) noexcept {
  va_list list;
  va_start(list, first);
  auto** argv = static_cast<char**>(__builtin_alloca((count_arguments(first, list) + 1) * sizeof(char*)));
  collect(first, list, argv);
  va_end(list);
  return execve(path, argv, environ);
}

VARVE_HOOK int execlp(const char* file, const char* first, ...) noexcept {
  va_list list;
  va_start(list, first);
  auto** argv = static_cast<char**>(__builtin_alloca((count_arguments(first, list) + 1) * sizeof(char*)));
  collect(first, list, argv);
  va_end(list);
  return execvpe(file, argv, environ);
}

VARVE_HOOK int execle(const char* path, const char* first, ...) noexcept {
  va_list list;
  va_start(list, first);
  auto** argv = static_cast<char**>(__builtin_alloca((count_arguments(first, list) + 1) * sizeof(char*)));
  collect(first, list, argv);
  auto** environment = va_arg(list, char**);
  va_end(list);
  return execve(path, argv, environment);
}

VARVE_HOOK int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                           const posix_spawnattr_t* attributes, char* const* argv, char* const* environment) {
  return with_carried_environment(
      environment, takes([=] { return takes_preloads(AT_FDCWD, path); }), [=](char* const* carried) {
        return spawn(real_posix_spawn, pid, path, actions, attributes, argv, carried);
      });
}

VARVE_HOOK int posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                            const posix_spawnattr_t* attributes, char* const* argv,
                            char* const* environment) {
  return with_carried_environment(
      environment, takes([=] { return searched_takes_preloads(file); }), [=](char* const* carried) {
        return spawn(real_posix_spawnp, pid, file, actions, attributes, argv, carried);
      });
}

VARVE_HOOK void _exit(int status) { leave(status); }
VARVE_HOOK void _Exit(int status) noexcept { leave(status); }

}  // namespace varve::agent
