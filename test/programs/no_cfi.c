// SPDX-License-Identifier: MIT
// flags: -fno-omit-frame-pointer
// no_cfi pointer|none [MS]: a function without unwind information calls leaf(): with a frame pointer, as JIT
// code has it, or with nothing that says where its caller is. Context: test 49.
#include "work.h"

static uint64_t x = 13, steps;

__attribute__((noinline, used)) void leaf(void) { SPIN(x, steps); }

// No .cfi directives: the assembler makes no FDE.
__asm__(
    ".text\n"
    ".type with_pointer, @function\n"
    "with_pointer: push %rbp\n mov %rsp, %rbp\n call leaf\n pop %rbp\n ret\n"
    ".size with_pointer, . - with_pointer\n"
    ".type without_pointer, @function\n"
    "without_pointer: push %rbp\n push %rbx\n sub $56, %rsp\n mov $3, %ebp\n call leaf\n add $56, %rsp\n pop "
    "%rbx\n pop %rbp\n ret\n"
    ".size without_pointer, . - without_pointer\n");
void with_pointer(void);
void without_pointer(void);

__attribute__((noinline)) static void caller(int pointer) {
  if (pointer)
    with_pointer();
  else
    without_pointer();
  x += 1;
}

int main(int argc, char** argv) {
  steps = number_argument(argc, argv, 2, 300) * STEPS_PER_MS;
  uint64_t begin = thread_ns();
  caller(argc > 1 && argv[1][0] == 'p');
  printf("{\"leaf\": %lu, \"result\": %lu}\n", thread_ns() - begin, x & 1);
}
