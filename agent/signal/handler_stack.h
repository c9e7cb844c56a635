// SPDX-License-Identifier: MIT
// The stack that the program's signal handlers run on. Where a thread's alternate stack is ours the kernel
// begins there what asked for one (SA_ONSTACK); without us that would have stayed on the stack that was
// interrupted, or have ended the process where that has overflowed. So the frame is moved there, and the
// handler entered as the kernel enters it: nothing of it stays on our stack, where the next tick begins at
// the top. The kernel holds all other signals back meanwhile, for it would begin those on our stack, too.
// Context: signal, the handler of the kernel's; hooks (the table).
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <cstdint>

namespace varve::agent {

using AnyHandler = void (*)(int, siginfo_t*, void*);

inline constexpr int kSignals = 64;

/// What the kernel holds back while a handler of the program's is entered, or a tick is taken. A handler that
/// came within and left by a jump, or by an asynchronous cancellation, would leave SIGPROF blocked, and
/// perhaps a lock of ours taken. Only faults stay let in: the kernel ends a process where one is blocked.
inline constexpr uint64_t kHeldBack = ~uint64_t{
    1u << (SIGSEGV - 1) | 1u << (SIGBUS - 1) | 1u << (SIGILL - 1) | 1u << (SIGFPE - 1) | 1u << (SIGTRAP - 1)};

/// A handler that asked for an alternate stack, as the program set it, and what is blocked while it runs.
struct EnteredHandler {
  AnyHandler handler = nullptr;
  uint64_t mask = 0;
  uint64_t blocked = 0;
};

/// Those that are entered by enter_on_its_stack(), by number of signal (1 to kSignals).
EnteredHandler entered_handler(int number);
void set_entered_handler(int number, const EnteredHandler& entered);

/// What the kernel has for those, with a mask of kHeldBack: enters the program's, on the stack that it would
/// have had without us.
void enter_on_its_stack(int number, siginfo_t* info, void* context);

/// True: the frame is the kernel's, and not a copy that somebody else hands on who calls handlers himself (a
/// sanitizer, a program that chains them). `return_address_at`: of the function that was called with it.
inline bool is_frame_of_kernel(const ucontext_t& context, uint64_t return_address_at) {
  return return_address_at + sizeof(uint64_t) == reinterpret_cast<uint64_t>(&context);
}

/// True: a frame of the kernel's lies on our alternate stack, and on the stack below it nothing was
/// interrupted.
bool is_on_our_stack(const ucontext_t& context);

/// Enters `handler` in place of the handler whose frame this is, with `blocked` as the thread's mask; it
/// returns to what was interrupted. A frame on our stack is moved; where there is no room for it the process
/// ends by SIGSEGV, as the kernel would have it.
[[noreturn]] void enter_handler(AnyHandler handler, uint64_t blocked, int number, siginfo_t& info,
                                ucontext_t& context);

/// Calls it as a function, for somebody who called us so.
void call_handler(AnyHandler handler, uint64_t blocked, int number, siginfo_t& info, ucontext_t& context);

}  // namespace varve::agent
