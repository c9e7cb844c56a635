// SPDX-License-Identifier: MIT
// What the program has signals do. SIGPROF has the disposition the program gave it, not ours; masks are
// hook_signal_mask's. Its handlers of faults run with ticks held back where they ask for an alternate stack
// (SA_ONSTACK, often a small one), but not with SA_NODEFER: one that leaves by longjmp would leave them
// blocked. Its alternate stacks are its own, and ours is not shown. Of the flags of its SIGPROF handler
// SA_SIGINFO, SA_RESETHAND, SA_NODEFER and the mask are as asked. Without SA_RESTART its system calls return
// EINTR, but for ticks as well as for its own signals, because the kernel asks the flag of the one handler it
// knows; a one-shot handler (SA_RESETHAND) always restarts, as ticks come after it too. SA_ONSTACK is always
// on, with our stack where the program has none. Context: any thread of the target, its signal handlers
// included.
#include <signal.h>

#include <atomic>
#include <cerrno>

#include "agent/hooks.h"
#include "agent/image.h"
#include "agent/real.h"
#include "agent/signal/agent_state.h"
#include "agent/signal/tick_handler.h"
#include "agent/signal_block.h"
#include "agent/thread_registry.h"

namespace varve::agent {
namespace {

using Handler = void (*)(int);
Real<int(int, const struct sigaction*, struct sigaction*)> sigaction_real{"sigaction"};
Real<Handler(int, Handler)> real_signal{"signal"};
Real<Handler(int, Handler)> real_sysv_signal{"__sysv_signal"};
Real<int(int)> real_sigignore{"sigignore"};
Real<Handler(int, Handler)> real_sigset{"sigset"};
Real<int(const stack_t*, stack_t*)> real_sigaltstack{"sigaltstack"};

bool is_fault(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGTRAP;
}

/// A child of vfork sets dispositions of its own process; only this copy of them is shared with its parent.
bool owns_dispositions() { return in_recorded_process(); }

/// A handler of the program's that came within a tick and left it by a jump, or by an asynchronous
/// cancellation, would leave SIGPROF blocked, and perhaps a lock of ours taken. Only faults stay let in: the
/// kernel ends a process where one is blocked.
constexpr uint64_t kHeldInTicks = ~uint64_t{1u << (SIGSEGV - 1) | 1u << (SIGBUS - 1) | 1u << (SIGILL - 1) |
                                            1u << (SIGFPE - 1) | 1u << (SIGTRAP - 1)};

/// Ticks interrupt no system call, unless the program's own SIGPROFs are to do so.
bool install_handler(const struct sigaction& program, struct sigaction* before) {
  bool interrupts = agent_state.program_sigprof.handled() && !(program.sa_flags & SA_RESTART) &&
                    !(program.sa_flags & int(SA_RESETHAND));
  if (const long error = refused(__NR_rt_sigaction)) return errno = int(-error), false;
  struct sigaction ours = {};
  ours.sa_sigaction = handle_sigprof;
  ours.sa_mask.__val[0] = kHeldInTicks;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (interrupts ? 0 : SA_RESTART);
  return sigaction_real(SIGPROF, static_cast<const struct sigaction*>(&ours), before) == 0;
}

/// A copy: to read what is in no memory faults here, where the program's handler of faults is let in.
void set_program_action(const struct sigaction action) {
  bool was_handled = agent_state.program_sigprof.handled();
  {
    SignalBlock guard;
    agent_state.program_sigprof.set(action);
    install_handler(action, nullptr);
  }
  // The mask is filtered by whether there is a handler: what was blocked before is from now on, and the
  // reverse.
  bool handled = agent_state.program_sigprof.handled();
  if (handled == was_handled || !current_block || !current_block->program_blocks_sigprof) return;
  change_mask(handled ? SIG_BLOCK : SIG_UNBLOCK, kSigprofBit);
}

int program_sigaction(const struct sigaction* action, struct sigaction* before) {
  struct sigaction old = agent_state.program_sigprof.get();
  if (action) set_program_action(*action);
  if (before) *before = old;
  return 0;
}

/// Fault signals in whose masks SIGPROF stands by our doing, as a set of bits.
std::atomic<uint64_t> held_faults{0};

/// Ticks are held back from handlers that may stand on a small stack. One that leaves by longjmp with
/// SA_NODEFER would leave them blocked for good.
bool holds_ticks(const struct sigaction& action) {
  return (action.sa_flags & SA_ONSTACK) && !(action.sa_flags & SA_NODEFER) &&
         sigismember(&action.sa_mask, SIGPROF) != 1;
}

int fault_sigaction(int signal, const struct sigaction* action, struct sigaction* before) {
  uint64_t bit = uint64_t{1} << signal;
  bool was_held = held_faults.load(std::memory_order_relaxed) & bit;
  struct sigaction held = {};
  if (action) held = *action;
  bool hold = action && holds_ticks(held);
  if (hold) sigaddset(&held.sa_mask, SIGPROF);
  int result = sigaction_real(signal, action ? static_cast<const struct sigaction*>(&held) : nullptr, before);
  if (result) return result;
  if (before && was_held) sigdelset(&before->sa_mask, SIGPROF);
  if (action && hold) held_faults.fetch_or(bit, std::memory_order_relaxed);
  if (action && !hold) held_faults.fetch_and(~bit, std::memory_order_relaxed);
  return 0;
}

/// signal() and its kin for SIGPROF.
Handler set_program_handler(Handler handler, int flags) {
  struct sigaction action = {}, before = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  if (!(flags & SA_NODEFER)) sigaddset(&action.sa_mask, SIGPROF);
  program_sigaction(&action, &before);
  return before.sa_handler;
}

/// The kernel's answer is our handler in a child of vfork or of a clone, which has our dispositions and is
/// not recorded, and where the kernel did not take the program's back.
struct sigaction as_the_program_set(const struct sigaction& in_kernel) {
  return in_kernel.sa_sigaction == handle_sigprof ? agent_state.program_sigprof.get() : in_kernel;
}
Handler as_the_program_set(Handler in_kernel) {
  struct sigaction action = {};
  action.sa_handler = in_kernel;
  return as_the_program_set(action).sa_handler;
}

constexpr int kBsd = SA_RESTART;
constexpr int kSystemV = int(SA_RESETHAND | SA_NODEFER);

}  // namespace

void resolve_signal_hooks() {
  sigaction_real.get(), real_signal.get(), real_sysv_signal.get(), real_sigignore.get(), real_sigset.get();
  real_sigaltstack.get();
}

bool begin_sigprof() {
  struct sigaction before = {};
  if (!install_handler(before, &before)) return false;
  agent_state.program_sigprof.set(before);
  return true;
}

void end_sigprof(ThreadBlock* block) {
  struct sigaction program = agent_state.program_sigprof.get();
  if (agent_state.program_sigprof.handled())
    sigaction_real(SIGPROF, static_cast<const struct sigaction*>(&program),
                   static_cast<struct sigaction*>(nullptr));
  else
    agent_state.program_sigprof.put_back_unhandled();
  if (!block) return;
  remove_alternate_stack(*block);
  if (block->program_blocks_sigprof) change_mask(SIG_BLOCK, kSigprofBit);
}

void hand_on_ignored_sigprof() {
  if (agent_state.recorded() && agent_state.program_sigprof.get().sa_handler == SIG_IGN)
    agent_state.program_sigprof.put_back_unhandled();
}

void take_back_ignored_sigprof() {
  if (!agent_state.recorded()) return;
  struct sigaction program = agent_state.program_sigprof.get();
  if (program.sa_handler == SIG_IGN) install_handler(program, nullptr);
}

VARVE_HOOK int sigaction(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  if (signal == SIGPROF && owns_dispositions()) return program_sigaction(action, before);
  if (is_fault(signal) && owns_dispositions()) return fault_sigaction(signal, action, before);
  int result = sigaction_real(signal, action, before);
  if (!result && before && signal == SIGPROF) *before = as_the_program_set(*before);
  return result;
}

VARVE_HOOK Handler signal(int number, Handler handler) noexcept {
  if (number != SIGPROF || !owns_dispositions()) return as_the_program_set(real_signal(number, handler));
  return set_program_handler(handler, kBsd);
}

VARVE_HOOK Handler ssignal(int number, Handler handler) noexcept { return signal(number, handler); }
VARVE_HOOK Handler bsd_signal(int number, Handler handler) noexcept { return signal(number, handler); }

/// What signal() is in programs built for strict ISO C.
VARVE_HOOK Handler __sysv_signal(int number, Handler handler) noexcept {
  if (number != SIGPROF || !owns_dispositions()) return as_the_program_set(real_sysv_signal(number, handler));
  return set_program_handler(handler, kSystemV);
}

VARVE_HOOK Handler sysv_signal(int number, Handler handler) noexcept {
  return __sysv_signal(number, handler);
}

VARVE_HOOK int sigignore(int number) noexcept {
  if (number != SIGPROF || !owns_dispositions()) return real_sigignore(number);
  set_program_handler(SIG_IGN, 0);
  return 0;
}

VARVE_HOOK Handler sigset(int number, Handler handler) noexcept {
  if (number != SIGPROF || !owns_dispositions() || handler == SIG_HOLD)
    return as_the_program_set(real_sigset(number, handler));
  return set_program_handler(handler, 0);
}

VARVE_HOOK int sigaltstack(const stack_t* stack, stack_t* before) noexcept {
  int result = real_sigaltstack(stack, before);
  if (result) return result;
  if (before && is_our_alternate_stack(before->ss_sp)) *before = {nullptr, SS_DISABLE, 0};
  ThreadBlock* block = current_block;
  if (block && block->alternate_stack_installed && stack && (stack->ss_flags & SS_DISABLE))
    install_alternate_stack(*block);
  return result;
}

}  // namespace varve::agent
