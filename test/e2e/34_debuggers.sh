#!/bin/bash
# SPDX-License-Identifier: MIT
# Row 33 of the hazards, D-30: a debugger and strace work on a recorded program as on a bare one: breakpoints, stacks, steps,
# watchpoints, attach and detach; the program's own system calls are the same.
. "$(dirname "$0")/guest.inc"
record_options=(--interval 1ms)

build traced -I"$root" -O0 -pthread <<'E2'
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include "test/programs/work.h"
static uint64_t x = 3;
static uint64_t* leaf_ns;  // CPU time in leaf(), of both processes
static volatile int watched = 0;
__attribute__((noinline)) static int leaf(int n) {
  uint64_t begin = thread_ns();
  SPIN(x, 15 * STEPS_PER_MS);
  *leaf_ns += thread_ns() - begin;
  watched = n;
  return n * 3;
}
__attribute__((noinline)) static int middle(int n) { int y = leaf(n); return y + 1; }
static void* run(void* number) { return (void*)(size_t)middle((int)(size_t)number); }
static void say(const char* text) { if (write(1, text, strlen(text)) < 0) exit(9); }
int main(int argc, char** argv) {
  pthread_t thread;
  void* result;
  int status = 0;
  leaf_ns = mmap(NULL, sizeof *leaf_ns, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < 4; ++i) {
    pthread_create(&thread, NULL, run, (void*)(size_t)i);
    pthread_join(thread, &result);
    say(result == (void*)(size_t)(3 * i + 1) ? "thread\n" : "wrong\n");
  }
  pid_t pid = fork();
  if (!pid) say("child\n"), _exit(middle(5));
  waitpid(pid, &status, 0);
  say(WEXITSTATUS(status) == 16 ? "reaped\n" : "wrong\n");
  FILE* file = fopen("leaf_ns", "w");
  if (!file || fprintf(file, "%ju\n", (uintmax_t)*leaf_ns) < 0 || fclose(file)) return 9;
  if (argc > 1) while (middle(7) && access(argv[1], F_OK)) {}
  return 6;
}
E2

# Numbers of processes and addresses differ from run to run; so do the threads that have ended meanwhile.
plain() { sed -E 's/0x[0-9a-f]+/0x/g; s/(process|LWP|Thread) [0-9x]+/\1/g' | grep -vE '^\[(New|Thread|Detaching)|^(warning|Download|\[Inferior)|^$|libthread_db|debuginfod'; }

# Of a virtual machine a watchpoint may never be hit, whatever the processor has.
build watched_only -g -O0 <<'W'
int watched;
int main(void) { watched = 7; return watched - 7; }
W
watches() { gdb -nx -batch -ex 'break main' -ex run -ex 'watch watched' -ex continue ./watched_only 2>&1 | grep -q 'New value = 7'; }
# To a process that is no child of gdb, which Yama's ptrace_scope may keep from who is not root.
attaches() {
  sleep 100 &
  gdb -nx -batch -p $! -ex bt >probe.attach 2>&1
  kill $!
  grep -q '^#0' probe.attach
}

if have gdb && ! gdb -nx -batch -ex run -ex 'print 6 * 7' /bin/true >probe 2>&1 || ! grep -q 'exited normally' probe; then
  echo "SKIPPED: gdb may not trace here"
else
  cat >orders <<'G'
set debuginfod enabled off
set confirm off
set pagination off
break leaf if n == 2
run >said
bt
finish
print $
up
info locals
delete
watch watched
continue
bt
delete
next
next
catch fork
continue
bt 3
delete
continue
print $_exitcode
G
  watchpoints='Hardware watchpoint|Watchpoint'
  if ! watches; then
    echo "SKIPPED: watchpoints are not hit here"
    watchpoints='Breakpoint 1'
    sed -i 's/^watch watched$/break middle if n == 3/' orders
  fi
  # The command of the debugger is what is recorded, as a user of both would type it.
  printf '%s\n' 'gdb -nx -batch -x orders ./traced 2>&1 | cat' >script
  bare bash script
  plain <bare >bare.plain
  mv said bare.said
  record "${record_options[@]}" -q -o gdb -- bash script
  expect_eq "exit code of gdb" $code $bare_code
  plain <out >recorded.plain
  diff bare.plain recorded.plain >difference || fail "gdb says otherwise, < bare, > recorded: $(cat difference)"
  diff bare.said said >difference || fail "the program says otherwise below gdb: $(cat difference)"
  for word in 'Breakpoint 1' 'Value returned' "$watchpoints" 'Catchpoint'; do expect_match recorded.plain "$word"; done
  expect_eq "values of 6 that gdb printed" "$(grep -c '= 6$' recorded.plain)" 3
  # Each of five threads of some 11 ms has a part of them before its first tick and after its last, where ticks come with the kernel's.
  holds "ticks below the debugger" "$(rows hotspots gdb "own('leaf')") > 0.5 * $(cat leaf_ns)"

  # Attached to in the middle, more than once.
  if ! attaches; then
    echo "SKIPPED: attaching; $(grep -m 1 ptrace probe.attach)"
  else
    "$VARVE" record "${record_options[@]}" -q -o attached -- ./traced stop >out 2>err &
    recorder=$!
    wait_for grep -q reaped out
    target=$(pgrep -P $recorder -x traced)
    for _ in 1 2 3; do
      gdb -nx -batch -p "$target" -ex 'bt' >attach 2>&1 || fail "gdb cannot attach: $(cat attach)"
      expect_match attach '#[0-9]+ .* main '
    done
    touch stop
    wait $recorder
    expect_eq "exit code of a program that was attached to" $? 6
    ledger attached
  fi
fi

if have strace && ! strace -o probe true; then
  echo "SKIPPED: strace may not trace here"
elif have strace >/dev/null; then
# What the program itself asks for, each call with its arguments; the ends of lines depend on who runs first.
  own_calls() { sed -nE 's/^[0-9]+ +//; s/^(write\(1, "[a-z]*.n", [0-9]+|exit_group\([0-9]+|wait4\()[0-9]*.*/\1/p' "$1" | sort; }
  mkdir -p here
  # As a user would trace it, the tracer recorded too; -c only counts.
  bare strace -f -o bare.trace ./traced
  same_as_bare strace strace -f -o recorded.trace ./traced
  own_calls bare.trace >bare.calls
  own_calls recorded.trace >recorded.calls
  diff bare.calls recorded.calls >difference || fail "other system calls, < bare, > recorded: $(cat difference)"
  holds "system calls compared" "$(wc -l <bare.calls) >= 8"
  expect_match recorded.trace 'SIGPROF'  # as varve-safety(7) says
  bare strace -f -c -o bare.counts ./traced
  same_as_bare counted strace -f -c -o recorded.counts ./traced
  expect_match recorded.counts 'clone'
fi
true
