#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that take something from themselves (rights, root, files, descriptors, memory, timers, system calls) or look at themselves:
# the same output and exit code as bare, and where less is recorded the report says why.
. "$(dirname "$0")/agent.inc"

# same DIR COMMAND...: bare and recorded, with the options in the array record_options, to a pipe: a limit on files is not for the
# output. Leaves the words of the report in said.
record_options=()
same() {
  local directory=$1
  shift
  rm -rf taken "$directory"
  "$@" 2>&1 | cat >bare
  local bare=${PIPESTATUS[0]}
  rm -rf taken
  { timeout 60 "$VARVE" record -q "${record_options[@]}" -o "$directory" "$@" 2>&1; echo $? >code; } | cat >out
  [ ! -f taken ] || mv taken "$directory.taken"
  expect_eq "exit code of $*" "$(cat code)" "$bare"
  sed -i '/^_=/d' bare out
  diff bare out >difference || fail "$* prints something else: $(cat difference)"
  "$VARVE" report quality "$directory" >said 2>&1 || fail "report quality of $directory: $(cat said)"
}
odd() { same "$1" "$programs/odd_guest" "$1" taken; }

odd dumpable
holds "samples where no core may be dumped" "$(summary samples dumpable) > 0"
odd directory
holds "samples in a removed directory" "$(summary samples directory) > 0"
odd reopen
expect_eq "what the program wrote by numbers that it had closed" "$(sort -u reopen.taken) $(wc -l <reopen.taken)" "mine 100"
odd descriptors
expect_match said 'Process [0-9]+ was not recorded: its file could not be made \(Too many open files\)'
expect_match said 'Threads not sampled: child \([0-9]+\)'
odd files
expect_match said 'there was no room for it on its disk, or within ulimit -f'
record_options=(--timer cpu)  # who is refused a timer has an event where that is allowed
odd timers
record_options=()
for name in first second child; do expect_match said "Threads not sampled: .*$name \\([0-9]+\\)"; done
expect_match said '3 were refused a timer: Resource temporarily unavailable'
odd memory
for name in first second; do expect_match said "Threads not sampled: .*$name \\([0-9]+\\)"; done
expect_match said 'Cannot allocate memory'
odd blocked
expect_match said 'Threads that ran without a tick: .*child \([0-9]+\)'
odd self
if [ "$(id -u)" = 0 ]; then
  for what in user root; do
    odd $what
    expect_match said 'Threads not sampled: child \([0-9]+\)\..*another user or root directory'
  done
  "$programs/odd_guest" namespaces taken >/dev/null
  if [ $? = 6 ]; then odd namespaces; else echo "SKIPPED: namespaces of its own; not allowed here"; fi
else
  echo "SKIPPED: another user, root directory and namespaces; this needs root"
fi

# Filters of system calls: none kills the program for what the agent asks of the kernel.
filter() { same "$1-$2" "$programs/own_filter" "$1" "$2"; }
for how in prctl syscall; do
  filter $how kill
  expect_match said 'seccomp filter that kills'
  holds "time until the filter" "$(summary sampled_ns $how-kill) > 0"
done
filter strict kill
expect_match said 'seccomp filter that kills'
filter prctl threads
filter prctl killexec
expect_eq "programs behind a filter that kills" "$(agent_files prctl-killexec)" 1
filter prctl errno
expect_match said 'the kernel refused the CPU clock'
filter syscall exec

# To ask what filters the kernel offers, as libseccomp does, ends nothing.
build asks -I"$root" <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "test/programs/work.h"
int main(void) {
  uint64_t x = 5;
  const long strict = syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL);
  printf("%ld %d, ", strict, errno);
  const long flag = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL);
  printf("%ld %d\n", flag, errno);
  SPIN(x, 300 * STEPS_PER_MS);
  return x ? 6 : 7;
}
C
same asks.p ./asks
expect_match out '^-1 22, -1 14$'
holds "time after asking for filters" "$(summary sampled_ns asks.p) > 0.8 * $(summary cpu_ns asks.p)"

# What an emulator runs is in its process, and has its environment: without the agent.
cp "$(command -v env)" qemu-x86_64
same emulator.p ./qemu-x86_64
expect_match out '^PATH='
expect_eq "the agent in what an emulator runs" "$(grep -cE 'libvarve|VARVE_' out)" 0
expect_eq "files of the emulator" "$(agent_files emulator.p)" 1
build qemu-arm-static -static <<'C'
#include <stdlib.h>
int main(void) { return getenv("LD_PRELOAD") || getenv("VARVE_SESSION"); }
C
same static_emulator.p sh -c './qemu-arm-static; exit $?'

# A child into which nothing can be preloaded is named.
build still -static <<'C'
int main(void) {
  for (volatile long i = 0; i < 60000000; ++i) {}
  return 2;
}
C
same still.p sh -c './still; exit $?'
expect_match said 'Threads not sampled: still \([0-9]+\)\. Static'
build small -m32 -ffreestanding -nostdlib -static -no-pie -fno-pie -fno-stack-protector <<'C'
void _start(void) {
  for (volatile long i = 0; i < 60000000; ++i) {}
  asm volatile("int $0x80" : : "a"(1), "b"(2));
}
C
./small
if [ $? = 2 ]; then
  same small.p sh -c './small; exit $?'
  expect_match said 'Threads not sampled: small'
else
  echo "SKIPPED: a child of 32 bits; this kernel runs none"
fi
