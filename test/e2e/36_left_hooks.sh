#!/bin/bash
# SPDX-License-Identifier: MIT
# A handler of the program's that leaves a hook by siglongjmp, after each of its instructions: what the thread waits for afterwards is
# recorded all the same. The trap flag counts the instructions; where the hook has all signals blocked a trap ends the process, and
# there is no handler to leave by.
# idle
. "$(dirname "$0")/guest.inc"

build steps -D_GNU_SOURCE -Wl,-z,now <<'E2'
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
static sigjmp_buf place;
static long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}
static volatile long left;  /* instructions to go */
static void step(int number, siginfo_t* info, void* context) {
  (void)number, (void)info;
  ucontext_t* at = context;
  if (--left > 0) return;
  at->uc_mcontext.gregs[REG_EFL] &= ~0x100L;
  siglongjmp(place, 1);
}
static inline void trap_flag(void) { __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc"); }
static inline void no_trap_flag(void) { __asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc"); }
/* 0: left after so many instructions; 1: it had fewer. */
static int leave_after(long count) {
  struct timespec some = {0, 200000}, more = {0, 3000000};
  int done = 1;
  left = count;
  if (!sigsetjmp(place, 1)) {
    trap_flag();
    nanosleep(&some, 0);
    no_trap_flag();
  } else {
    done = 0;
  }
  for (int i = 0; i < 3; ++i) nanosleep(&more, 0);
  return done;
}
int main(void) {
  struct sigaction action = {.sa_sigaction = step, .sa_flags = SA_SIGINFO | SA_NODEFER};
  struct timespec some = {0, 200000};
  sigaction(SIGTRAP, &action, 0);
  nanosleep(&some, 0);
  long children = 0, longest_ns = 0;
  for (long count = 1; count < 4000; count += 1) {
    int status;
    const long begin_ns = now_ns();
    pid_t child = fork();
    if (child == 0) _exit(leave_after(count));
    while (syscall(SYS_wait4, child, &status, 0, 0) < 0) continue;
    if (!WIFEXITED(status)) break;
    ++children;
    if (now_ns() - begin_ns > longest_ns) longest_ns = now_ns() - begin_ns;
    if (WEXITSTATUS(status)) break;
  }
  FILE* file = fopen("children", "w");
  fprintf(file, "%ld %ld\n", children, longest_ns);
  fclose(file);
  return 0;
}
E2
record -q --run-states off -o p ./steps
expect_eq "exit code" $code 0
read -r children longest <children
holds "children, each left after one instruction more" "$children > 50"
# Each has three waits of 3 ms; the one that it leaves may be there too.
expect_eq "processes with all their waits" "$(rows waits p "sum(n(r, 'wait_count') >= 3 for r in rows)" --by thread --limit 10000)" "$children"
holds "longest waits of a process, in its life" "$(rows waits p "max(n(r, 'wait_ns') for r in rows)" --by thread --limit 10000) < $longest"
