// SPDX-License-Identifier: MIT
// costly_stacks [CALLS]: stacks of 4000 frames in 40,000 functions, in turn: no two ticks meet the same ones,
// so that nothing is remembered of how to leave them, and a sample costs milliseconds. Prints what was
// counted. Context: test 65.
#include "work.h"

enum { kFunctions = 40000, kDepth = 4000, kFunctionBytes = 32 };

/// Each calls the one behind it until %rdi is used up, the last one the leaf; a page of unwind rules for each
/// to be read makes them slower to leave.
__asm__(
    ".text\n.globl chain\n.p2align 5\nchain:\n"
    ".rept 40000\n.p2align 5\n"
    "1: .cfi_startproc\n sub $8, %rsp\n .cfi_def_cfa_offset 16\n"
    ".rept 150\n .cfi_remember_state\n .cfi_restore_state\n .endr\n"
    " dec %rdi\n jz 2f\n call 1f\n add $8, %rsp\n .cfi_remember_state\n .cfi_def_cfa_offset 8\n ret\n"
    " .cfi_restore_state\n"
    "2: call leaf\n add $8, %rsp\n .cfi_def_cfa_offset 8\n ret\n .cfi_endproc\n"
    ".endr\n"
    "1: ret\n");
extern const char chain[];

static uint64_t x = 43, leaves;
__attribute__((used)) void leaf(void) {
  SPIN(x, STEPS_PER_MS / 4);
  ++leaves;
}

int main(int argc, char** argv) {
  uint64_t calls = number_argument(argc, argv, 1, 2000);
  for (uint64_t i = 0; i < calls; ++i) {
    uint64_t depth = kDepth;
    const char* first = chain + i * kDepth % (kFunctions - kDepth) * kFunctionBytes;
    __asm__ volatile("call *%1"
                     : "+D"(depth)
                     : "r"(first)
                     : "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
  }
  printf("{\"leaves\": %lu}\n", (unsigned long)leaves);
}
