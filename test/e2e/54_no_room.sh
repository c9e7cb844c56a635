#!/bin/bash
# SPDX-License-Identifier: MIT
# D-28: no disk, no file size, no timers, no memory, a directory that turned read-only: the program does not notice, the report
# says why there is less.
. "$(dirname "$0")/agent.inc"

# short NAME THREADS REASON SHELL-SETUP [OPTIONS]: the target's output is whole, its exit code its own, and the report gives the reason.
short() {
  run timeout 60 bash -c "$4; exec \"\$@\"" setup "$VARVE" record -q "${@:5}" -o $1 sh -c "\"$programs/thread_churn\" $2 1; exit 3"
  expect_eq "exit code with $1" $code 3
  expect_eq "threads of the program" "$(truth threads)" $2
  { "$VARVE" report quality $1; "$VARVE" report summary $1; } >said 2>&1
  [ -z "$3" ] || grep -qiE "$3" said || fail "$1: nothing says $3: $(cat said)"
}
short signals 400 'refused a timer' 'ulimit -i 0' --timer cpu
holds "time without timers is not sampled" "$(summary unsampled_ns signals) > 0.8 * $(summary cpu_ns signals)"
# Two hundred megabytes are enough for all of it.
if sanitized; then
  echo "SKIPPED: little memory: varve is built with AddressSanitizer"
else
  short memory 1000 '' 'ulimit -v 200000'
  expect_eq "threads with little memory" "$(summary threads memory)" 1002
  holds "with little memory nothing is missing" "$(summary unsampled_ns memory) < 0.01 * $(summary cpu_ns memory)"
fi
# The records of 1500 threads alone are 180 KB.
short size 1500 'recording ended there|File too large' 'ulimit -f 100'
holds "threads before the limit" "$(summary threads size) > 20"

# The file of run states wants more: the report says so, and does not advise what was done.
run bash -c "ulimit -f 32; exec \"\$@\"" setup "$VARVE" record -o states "$programs/busy_threads" 1 300
expect_match err 'varve: run states could not be written: File too large'
"$VARVE" report idle states >said
expect_match said 'not recorded: run states could not be written: File too large'
! grep -q 'run-states auto' said || fail "advice that cannot help: $(cat said)"
# Names are looked up by threads with a stack of their own size.
run bash -c "ulimit -s 128; exec \"\$@\"" setup "$VARVE" record -o stack "$programs/busy_threads" 1 300
expect_eq "what a small stack made it say" "$(grep -c 'could not be stored' err)" 0
[ -f stack/symbols ] || fail "no symbols with a small stack$(show)"

# A limit below a page: the program runs unrecorded, its file is empty and says so, and so does the recorder.
record -o nothing sh -c "ulimit -f 1; exec '$programs/busy_threads' 1 300"
expect_eq "exit code without room for a file" $code 0
expect_match err 'varve: 1 program was not recorded: no room for the profile'
"$VARVE" report quality nothing >said || fail "the profile of a program without a file does not open"
expect_match said '\.agent: is empty: there was no room'
holds "time of the program that was not recorded" "$(summary unsampled_ns nothing) > 0.8 * $(summary cpu_ns nothing)"
# A limit of a few pages: the file begins with the one page that it needs, and holds what there is room for.
record -q -o little sh -c "ulimit -f 20; exec '$programs/busy_threads' 1 300"
expect_eq "files within a small limit" "$(agent_files little)" 2
holds "samples within a small limit" "$(summary samples little) >= 5"

if [ $(id -u) = 0 ] && mkdir disk && mount -t tmpfs -o size=1m tmpfs disk 2>mount.err; then
  trap 'umount -l "$work/disk"; leave' EXIT
  dd if=/dev/zero of=disk/filler bs=1k count=800 2>/dev/null
  short disk/full 1500 'space|room' true
  holds "threads before the disk was full" "$(summary threads disk/full) > 20"
else
  echo "SKIPPED: the full disk; this needs root and mount: $(cat mount.err 2>/dev/null)"
fi

# Root may write all the same, so another user records.
as_user=
mkdir -m 777 open
if [ "$(id -u)" = 0 ]; then
  as_user="setpriv --reuid=65534 --regid=65534 --clear-groups"
  chmod 755 "$work"
fi
if $as_user test -x "$VARVE" -a -x "$programs/busy_threads"; then
  run $as_user "$VARVE" record -q -o open/readonly sh -c "chmod a-w open/readonly; '$programs/busy_threads' 1 100; exit 4"
  expect_eq "exit code in a read-only profile" $code 4
  chmod u+w open/readonly
  "$VARVE" report quality open/readonly >said || fail "the profile that was read-only for a while does not open"
  expect_match said 'Threads not sampled: busy_threads .*a profile that was made read-only'
  holds "time in a read-only profile that was not sampled" "0.9 * $(truth process) < $(summary unsampled_ns open/readonly) < $(summary cpu_ns open/readonly)"
else
  echo "SKIPPED: the read-only directory; varve cannot be run by others"
fi

# A program that is at its limit of descriptors for a while is recorded again afterwards: no sentence says that recording ended, nothing
# is damaged, and what a thread that began meanwhile did is [lost samples].
cat >limit.py <<'P'
import resource, threading, time
def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: pass
def crowd():
    threads = [threading.Thread(target=burn, args=(0.01,)) for _ in range(60)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
for _ in range(3): crowd()
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
crowd()
burn(0.5)
P
record --interval 1ms -o limit /usr/bin/python3 limit.py
expect_eq "exit code at a limit of descriptors" $code 0
expect_match err 'for a while the profile could not grow \(Too many open files\)'
expect_no_match err 'recording ended'
expect_eq "damages after a limit of descriptors" "$(summary damages limit)" 0
holds "samples of the first thread after it" "$(rows threads limit 'max(n(r, "samples") for r in rows)') > 60"

# Nor does a file grow through a link that somebody has put into its place: what that leads to stays as it was.
cat >swap.py <<'P'
import glob, os, threading, time
def burn():
    end = time.thread_time() + 0.01
    while time.thread_time() < end: pass
own, = glob.glob(f"linked/*-{os.getpid()}-*.agent")
os.rename(own, "kept")
os.symlink(os.path.abspath("victim"), own)
threads = [threading.Thread(target=burn) for _ in range(100)]
for thread in threads: thread.start()
for thread in threads: thread.join()
os.unlink(own)
os.rename("kept", own)
P
head -c 200000 /dev/zero | tee victim >as_it_was
record --interval 1ms -o linked /usr/bin/python3 swap.py
expect_eq "exit code with a link in the file's place" $code 0
expect_match err '\(Too many levels of symbolic links\)'
cmp victim as_it_was || fail "the agent wrote through a link"
