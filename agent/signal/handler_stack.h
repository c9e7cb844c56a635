// SPDX-License-Identifier: MIT
// The stack that the program's signal handlers run on. Where a thread's alternate stack is ours the kernel
// begins there what asked for SA_ONSTACK, and every tick; without us it would have stayed on the stack that
// was interrupted, or have ended the process where that has overflowed. So the frame is moved there, and the
// handler entered as the kernel enters it: nothing of it stays on our stack, where the next tick begins at
// the top. Context: signal, the handler of the kernel's; hooks (the table).
#pragma once

#include <signal.h>
#include <ucontext.h>

namespace varve::agent {

using AnyHandler = void (*)(int, siginfo_t*, void*);

inline constexpr int kSignals = 64;

/// The program's handlers that are entered by enter_on_its_stack(), by number of signal (1 to kSignals).
/// Returns the one before; null: none.
AnyHandler entered_handler(int number);
AnyHandler set_entered_handler(int number, AnyHandler handler);

/// What the kernel has for those: enters the program's, on the stack that it would have had without us.
void enter_on_its_stack(int number, siginfo_t* info, void* context);

/// Enters `handler` in place of the handler whose signal frame this is; it returns to what was interrupted.
/// `alternate`: it asked for SA_ONSTACK.
[[noreturn]] void enter_handler(AnyHandler handler, bool alternate, int number, siginfo_t& info,
                                ucontext_t& context);

}  // namespace varve::agent
