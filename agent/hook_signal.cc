// SPDX-License-Identifier: MIT
// What the program has signals do. Those that ticks come by (SIGPROF, and SIGTRAP where they come from
// events) have the disposition the program gave them, not ours; masks are hook_signal_mask's. Of the flags of
// its handler of such a signal SA_SIGINFO, SA_RESETHAND, SA_NODEFER and the mask are as asked. Without
// SA_RESTART its system calls return EINTR, but for ticks as well as for its own signals, because the kernel
// asks the flag of the one handler it knows; a one-shot handler (SA_RESETHAND) always restarts, as ticks come
// after it too. Its handlers that ask for an alternate stack (SA_ONSTACK) are entered by
// signal/handler_stack: the program's alternate stacks are its own, and ours is not shown. Such handlers of
// faults run with ticks held back, for that stack is often a small one, but not with SA_NODEFER: one that
// leaves by longjmp would leave them blocked. Not kept apart: two handlers with SA_ONSTACK of one signal,
// while one takes the place of the other; a signal of that moment may go to the new one with the old one's
// mask. Context: any thread of the target, its signal handlers included.
#include <signal.h>

#include <atomic>
#include <cerrno>
#include <optional>

#include "agent/hooks.h"
#include "agent/image.h"
#include "agent/real.h"
#include "agent/signal/agent_state.h"
#include "agent/signal/alternate_stack.h"
#include "agent/signal/handler_stack.h"
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
Real<int(int, int)> real_siginterrupt{"siginterrupt"};
Real<int(const stack_t*, stack_t*)> real_sigaltstack{"sigaltstack"};

bool is_fault(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGTRAP;
}

/// A handler of the program's that came within a tick and left it by a jump, or by an asynchronous
/// cancellation, would leave SIGPROF blocked, and perhaps a lock of ours taken. Only breakpoints stay let in:
/// where one meets a blocked SIGTRAP the kernel takes the program's handler of it away. A fault of ours is
/// the end either way; one that the program sent to itself would stand on a tick that came first, with its
/// mask.
constexpr uint64_t kHeldInTicks = ~(uint64_t{1} << (SIGTRAP - 1));

/// Ticks interrupt no system call, unless the program's own signals of that number are to do so.
bool install_handler(int number, const struct sigaction& program, bool handled, struct sigaction* before) {
  const bool interrupts = handled && !(program.sa_flags & (SA_RESTART | int(SA_RESETHAND)));
  const bool on_own_stack = handled && !(program.sa_flags & SA_ONSTACK);
  if (const long error = refused(__NR_rt_sigaction)) return errno = int(-error), false;
  struct sigaction ours = {};
  ours.sa_sigaction = handle_tick_signal;
  ours.sa_mask.__val[0] = kHeldInTicks;
  ours.sa_flags = SA_SIGINFO | (on_own_stack ? 0 : SA_ONSTACK) | (interrupts ? 0 : SA_RESTART);
  return sigaction_real(number, static_cast<const struct sigaction*>(&ours), before) == 0;
}

constexpr int kRestorer = 0x04000000;  // SA_RESTORER of the kernel's asm/signal.h
/// Flags that the kernel keeps (UAPI_SA_FLAGS, since Linux 5.11).
constexpr int kKeptFlags = SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER |
                           int(SA_RESETHAND) | 0x800 /* SA_EXPOSE_TAGBITS */ | kRestorer;
constexpr uint64_t kNeverBlocked = uint64_t{1} << (SIGKILL - 1) | uint64_t{1} << (SIGSTOP - 1);
void (*restorer_of_c_library)() = nullptr;

/// As it would be read back: with what the C library adds, and without what the kernel takes out.
struct sigaction as_the_kernel_keeps(struct sigaction action) {
  action.sa_flags = (action.sa_flags & kKeptFlags) | kRestorer;
  action.sa_restorer = restorer_of_c_library;
  action.sa_mask.__val[0] &= ~kNeverBlocked;
  return action;
}

}  // namespace

void let_left_in(ThreadBlock& block) {
  if (!block.held.signals || block.held.here()) return;
  change_mask(SIG_UNBLOCK, block.held.signals & ~block.program_blocks);
  block.held = {};
}

/// A copy: to read what is in no memory faults here, where the program's handler of faults is let in.
void set_program_action(ProgramSignal& of_program, const struct sigaction wanted) {
  const struct sigaction action = as_the_kernel_keeps(wanted);
  if (current_block) let_left_in(*current_block);
  bool was_handled = of_program.handled();
  {
    SignalBlock guard;
    of_program.set(action);
    install_handler(of_program.number(), action, of_program.handled(), nullptr);
    siginfo_t ignored;  // as POSIX has it, one that waits is gone
    if (action.sa_handler == SIG_IGN) of_program.take_pending(ignored);
  }
  // The mask is filtered by whether there is a handler: what was blocked before is from now on, and the
  // reverse.
  bool handled = of_program.handled();
  if (handled == was_handled || !current_block || !(current_block->program_blocks & of_program.bit())) return;
  change_mask(handled ? SIG_BLOCK : SIG_UNBLOCK, of_program.bit());
}

namespace {

int program_sigaction(ProgramSignal& of_program, const struct sigaction* action, struct sigaction* before) {
  struct sigaction old = of_program.get();
  // Ours is what somebody read from the kernel past our hook, and puts back.
  if (action) set_program_action(of_program, action->sa_sigaction == handle_tick_signal ? old : *action);
  if (before) *before = old;
  return 0;
}

/// Ticks are held back from handlers of faults, which may stand on a small stack: a fault and a tick may come
/// at once. One that leaves by longjmp with SA_NODEFER would leave them blocked for good.
uint64_t ticks_to_hold(int signal, const struct sigaction& action) {
  const bool holds = is_fault(signal) && !(action.sa_flags & SA_NODEFER);
  return holds ? agent_state.tick_signals & ~action.sa_mask.__val[0] : 0;
}

/// Those who read the kernel's disposition past our hook, and set what they have read, set that.
bool is_to_be_entered(const struct sigaction& action) {
  return (action.sa_flags & SA_ONSTACK) && is_handler(action.sa_handler) &&
         action.sa_sigaction != enter_on_its_stack;
}

/// The handler is known before the kernel can call it.
int set_entered(int signal, struct sigaction action, struct sigaction* before) {
  const EnteredHandler was = entered_handler(signal);
  const uint64_t held = ticks_to_hold(signal, action);
  set_entered_handler(signal, {action.sa_sigaction, held, action.sa_flags, true});
  action.sa_sigaction = enter_on_its_stack;
  action.sa_flags |= SA_SIGINFO;
  action.sa_mask.__val[0] |= held;
  const int result = sigaction_real(signal, static_cast<const struct sigaction*>(&action), before);
  if (result) set_entered_handler(signal, was);
  return result;
}

void note_not_entered(int signal, EnteredHandler was) {
  was.current = false;
  set_entered_handler(signal, was);
}

/// The program's copy of a signal that ticks come by; null: the kernel has what it set. A child of vfork sets
/// dispositions of its own process; only this copy of them is shared with its parent.
ProgramSignal* owned(int number) {
  return in_recorded_process() ? agent_state.program_signal(number) : nullptr;
}

/// signal() and its kin.
Handler set_program_handler(ProgramSignal& of_program, Handler handler, int flags) {
  if (handler == SIG_ERR) return errno = EINVAL, SIG_ERR;
  struct sigaction action = {}, before = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  if (!(flags & SA_NODEFER)) action.sa_mask.__val[0] = of_program.bit();
  program_sigaction(of_program, &action, &before);
  return before.sa_handler;
}

/// Those of ticks whose handlers by signal() interrupt system calls, as siginterrupt() said.
std::atomic<uint64_t> interrupting{0};

int bsd_flags(const ProgramSignal& of_program) { return interrupting & of_program.bit() ? 0 : SA_RESTART; }
constexpr int kSystemV = int(SA_RESETHAND | SA_NODEFER);

/// The kernel's answer is our handler of ticks in a child of vfork or of a clone, which has our dispositions
/// and is not recorded, and where the kernel did not take the program's back.
struct sigaction as_the_program_set(int number, struct sigaction in_kernel, const EnteredHandler& entered) {
  ProgramSignal* of_ticks = agent_state.program_signal(number);
  if (of_ticks && in_kernel.sa_sigaction == handle_tick_signal) return of_ticks->get();
  // A one-shot handler that was called leaves its flags and its mask.
  const bool called = entered.current && in_kernel.sa_handler == SIG_DFL;
  const bool enters = in_kernel.sa_sigaction == enter_on_its_stack;
  if (!enters && !called) return in_kernel;
  if (enters) in_kernel.sa_sigaction = entered.handler;
  if (!(entered.flags & SA_SIGINFO)) in_kernel.sa_flags &= ~SA_SIGINFO;
  in_kernel.sa_mask.__val[0] &= ~entered.held;
  return in_kernel;
}
Handler as_the_program_set(int number, Handler in_kernel) {
  if (in_kernel == SIG_ERR) return in_kernel;
  struct sigaction action = {};
  action.sa_handler = in_kernel;
  return as_the_program_set(number, action, entered_handler(number)).sa_handler;
}

void note_stack_of_program(ThreadBlock& block, const stack_t& stack) {
  const bool gives = !(stack.ss_flags & SS_DISABLE);
  block.program_gave_stack = gives && (block.record->header.flags & format::kThreadMain);
  if (block.alternate_stack_installed && !gives) install_alternate_stack(block);
  change_ticks_with_stack(block, gives && !holds_frame(stack.ss_size));
}

/// From here to below SIGRTMIN the C library has signals to itself, and refuses them unseen.
constexpr int kFirstOfLibrary = 32;

/// Of a signal that no ticks come by, or in a process that is not recorded.
int other_sigaction(int signal, const struct sigaction* action, struct sigaction* before) {
  const EnteredHandler was = entered_handler(signal);
  const bool enters = action && in_recorded_process() && is_to_be_entered(*action);
  const int result = enters ? set_entered(signal, *action, before) : sigaction_real(signal, action, before);
  if (!result && action && !enters && in_recorded_process()) note_not_entered(signal, was);
  if (!result && before) *before = as_the_program_set(signal, *before, was);
  return result;
}

}  // namespace

void resolve_signal_hooks() {
  sigaction_real.get(), real_signal.get(), real_sysv_signal.get(), real_sigignore.get(), real_sigset.get();
  real_siginterrupt.get(), real_sigaltstack.get();
}

void release_pending_signals(uint64_t signals) {
  for (ProgramSignal& each : agent_state.program_signals)
    if (signals & each.bit()) each.release_pending();
}

bool begin_tick_signal(int number) {
  struct sigaction before = {};
  if (!install_handler(number, before, false, &before)) return false;
  // A library's constructor, which came before us, may have set one, with flags of its own.
  if (is_handler(before.sa_handler)) install_handler(number, before, true, nullptr);
  struct sigaction ours = {};
  if (!sigaction_real(number, nullptr, &ours)) restorer_of_c_library = ours.sa_restorer;
  ProgramSignal& of_program = agent_state.program_signals[agent_state.tick_signals ? 1 : 0];
  of_program.begin(number, before);
  agent_state.tick_signals |= of_program.bit();
  return true;
}

void end_tick_signals(ThreadBlock* block) {
  if (block) leave_alternate_stack(*block);
  for (ProgramSignal& each : agent_state.program_signals) {
    struct sigaction program = each.get();
    if (!each.number()) continue;
    if (each.handled())
      sigaction_real(each.number(), static_cast<const struct sigaction*>(&program),
                     static_cast<struct sigaction*>(nullptr));
    else
      each.put_back_unhandled();
  }
  if (block) change_mask(SIG_BLOCK, block->program_blocks);
}

bool take_action_from_kernel(ProgramSignal& of_program) {
  struct sigaction in_kernel = {};
  if (sigaction_real(of_program.number(), nullptr, &in_kernel)) return false;
  if (in_kernel.sa_sigaction == handle_tick_signal) return false;
  set_program_action(of_program, in_kernel);
  return true;
}

bool give_back_tick_signal(int number, const struct sigaction& action) {
  struct sigaction in_kernel = {};
  return sigaction_real(number, nullptr, &in_kernel) == 0 && in_kernel.sa_sigaction == handle_tick_signal &&
         sigaction_real(number, &action, static_cast<struct sigaction*>(nullptr)) == 0;
}

void hand_on_ignored_signals() {
  for (ProgramSignal& each : agent_state.program_signals)
    if (agent_state.recorded() && each.number() && each.get().sa_handler == SIG_IGN)
      each.put_back_unhandled();
}

void take_back_ignored_signals() {
  for (ProgramSignal& each : agent_state.program_signals) {
    if (!agent_state.recorded() || !each.number()) continue;
    struct sigaction program = each.get();
    if (program.sa_handler == SIG_IGN) install_handler(each.number(), program, false, nullptr);
  }
}

VARVE_HOOK int sigaction(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  if (ProgramSignal* of_program = owned(signal)) return program_sigaction(*of_program, action, before);
  const bool is_programs =
      signal > 0 && signal <= kSignals && (signal < kFirstOfLibrary || signal >= SIGRTMIN);
  return is_programs ? other_sigaction(signal, action, before) : sigaction_real(signal, action, before);
}

VARVE_HOOK Handler signal(int number, Handler handler) noexcept {
  ProgramSignal* of_program = owned(number);
  return of_program ? set_program_handler(*of_program, handler, bsd_flags(*of_program))
                    : as_the_program_set(number, real_signal(number, handler));
}

VARVE_HOOK Handler ssignal(int number, Handler handler) noexcept { return signal(number, handler); }
VARVE_HOOK Handler bsd_signal(int number, Handler handler) noexcept { return signal(number, handler); }

/// What signal() is in programs built for strict ISO C.
VARVE_HOOK Handler __sysv_signal(int number, Handler handler) noexcept {
  ProgramSignal* of_program = owned(number);
  return of_program ? set_program_handler(*of_program, handler, kSystemV)
                    : as_the_program_set(number, real_sysv_signal(number, handler));
}

VARVE_HOOK Handler sysv_signal(int number, Handler handler) noexcept {
  return __sysv_signal(number, handler);
}

VARVE_HOOK int sigignore(int number) noexcept {
  ProgramSignal* of_program = owned(number);
  if (!of_program) return real_sigignore(number);
  set_program_handler(*of_program, SIG_IGN, 0);
  return 0;
}

VARVE_HOOK Handler sigset(int number, Handler handler) noexcept {
  ProgramSignal* of_program = handler == SIG_HOLD ? nullptr : owned(number);
  return of_program ? set_program_handler(*of_program, handler, 0)
                    : as_the_program_set(number, real_sigset(number, handler));
}

/// The C library's changes the kernel's copy, which is ours, and what its own signal() does.
VARVE_HOOK int siginterrupt(int number, int interrupts) noexcept {
  const int result = real_siginterrupt(number, interrupts);
  ProgramSignal* of_program = result ? nullptr : owned(number);
  if (!of_program) return result;
  struct sigaction action = of_program->get();
  action.sa_flags = interrupts ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
  interrupting = interrupts ? interrupting | of_program->bit() : interrupting & ~of_program->bit();
  set_program_action(*of_program, action);
  return result;
}

VARVE_HOOK int sigaltstack(const stack_t* stack, stack_t* before) noexcept {
  ThreadBlock* block = stack && in_recorded_process() ? current_block : nullptr;
  std::optional<SignalBlock> no_ticks;
  if (block) no_ticks.emplace(agent_state.tick_signals);
  const int result = real_sigaltstack(stack, before);
  if (!result && before && is_our_alternate_stack(before->ss_sp)) *before = {nullptr, SS_DISABLE, 0};
  if (!result && block) note_stack_of_program(*block, *stack);
  return result;
}

}  // namespace varve::agent
