// SPDX-License-Identifier: MIT
// The stack that the program's signal handlers run on. Where a thread's alternate stack is ours the kernel
// begins there what asked for one (SA_ONSTACK); without us that would have stayed on the stack that was
// interrupted, or have ended the process where that has overflowed. So the frame is moved there, and the
// handler entered as the kernel enters it: nothing of it stays on our stack, where the next tick begins at
// the top. Only to the thread's own stack: Go's runtime takes our stack for its own where it finds it, and
// must not be on one of a goroutine's then. Nor is a second frame moved that the kernel made on top of one
// that was not moved yet. Context: signal, the handler of the kernel's; hooks (the table).
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <cstdint>

namespace varve::agent {

using AnyHandler = void (*)(int, siginfo_t*, void*);

inline constexpr int kSignals = 64;

/// A handler that asked for an alternate stack, and what of its disposition in the kernel is not as the
/// program set it.
struct EnteredHandler {
  AnyHandler handler = nullptr;  // the kernel has enter_on_its_stack
  uint64_t held = 0;             // signals of ticks that stand in its mask by our doing
  int flags = 0;                 // the program's; the kernel's have SA_SIGINFO: no signal is without siginfo
  bool current = false;          // the program has set nothing else since
};

/// Those that are entered by enter_on_its_stack(), by number of signal (1 to kSignals).
EnteredHandler entered_handler(int number);
void set_entered_handler(int number, const EnteredHandler& entered);

/// What the kernel has for those: enters the program's, on the stack that it would have had without us.
void enter_on_its_stack(int number, siginfo_t* info, void* context);

/// True: the frame is the kernel's, and not a copy that somebody else hands on who calls handlers himself (a
/// sanitizer, a program that chains them). `return_address_at`: of the function that was called with it.
inline bool is_frame_of_kernel(const ucontext_t& context, uint64_t return_address_at) {
  return return_address_at + sizeof(uint64_t) == reinterpret_cast<uint64_t>(&context);
}

/// Enters `handler` in place of the handler whose frame this is, on the stack that was interrupted; it
/// returns there. Where that has no room the process ends by SIGSEGV, as the kernel would have it. Returns
/// where the frame is not to be moved, and the handler is to be called: it is not on our stack, what was
/// interrupted is not on the thread's own, or the process is not recorded.
void enter_if_on_our_stack(AnyHandler handler, int number, siginfo_t& info, ucontext_t& context);

}  // namespace varve::agent
