#!/bin/bash
# SPDX-License-Identifier: MIT
# Row 24 of the hazards: programs of another C library, or of 32 bits, that a recorded one starts would not start, or would complain,
# with the agent in their LD_PRELOAD; so they get none, however they are started, and what stood there else stays.
. "$(dirname "$0")/guest.inc"

cat >main.c <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  for (volatile long i = 0; i < 20000000; ++i) {}
  printf("%s, %d arguments, preloads %s, session %d\n", argv[0], argc, getenv("PRELOADS") ? getenv("LD_PRELOAD") : "-", getenv("VARVE_SESSION") != NULL);
  return 5;
}
C
build starts -D_GNU_SOURCE <<'C'
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char** environ;
int main(int argc, char** argv) {
  char* words[] = {"foreign", "a word", NULL};
  int file = open(argv[1], O_RDONLY | O_CLOEXEC), folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (int way = 0; way < 9; ++way) {
    pid_t pid = 0;
    int status = 0, result = 0;
    if (way == 7) result = posix_spawn(&pid, argv[1], NULL, NULL, words, environ);
    if (way == 8) result = posix_spawnp(&pid, strrchr(argv[1], '/') + 1, NULL, NULL, words, environ);
    if (way < 7 && (pid = way & 1 ? vfork() : fork()) == 0) {
      if (way == 0) execve(argv[1], words, environ);
      if (way == 1) execv(argv[1], words);
      if (way == 2) execvp(strrchr(argv[1], '/') + 1, words);
      if (way == 3) execl(argv[1], "foreign", "l", (char*)NULL);
      if (way == 4) fexecve(file, words, environ);
      if (way == 5) execveat(folder, argv[1], words, environ, 0);
      if (way == 6) execveat(file, "", words, environ, AT_EMPTY_PATH);
      _exit(99);
    }
    waitpid(pid, &status, 0);
    printf("%d: %d, %d\n", way, result, WEXITSTATUS(status));
    fflush(stdout);
  }
  return argc - 2;
}
C
export PATH=$PATH:$work
# foreign NAME: started in every way, by a shell, and as a script's interpreter
foreign() {
  same "$1-started" ./starts "./$1"
  expect_eq "ways to start $1" "$(grep -c ': 0, 5$' out)" 9
  same "$1-by-shell" sh -c "./$1; echo \$?; echo ./$1 | sh; env ./$1 x"
  printf '#!%s word\n' "$work/$1" >script && chmod +x script
  same "$1-by-script" sh -c './script; echo $?'
  # What the user preloads stays, in front of it and after it.
  LD_PRELOAD=/no/such/library.so PRELOADS=1 run "$VARVE" record -q -o "$1-preload" -- sh -c "exec 2>/dev/null; ./$1"
  expect_match out 'preloads /no/such/library.so, session 0'
}
if ! command -v musl-gcc >/dev/null || ! musl-gcc -w -o musl main.c 2>/dev/null; then
  echo "SKIPPED: a program of musl; musl-gcc is not installed"
else
  foreign musl
fi
# Of 32 bits without a C library of that kind to build against: by system calls alone. One is static; the other wants the 32-bit loader
# and its library, and that loader says on the program's stderr what it cannot preload.
cat >bits32.c <<'C'
static long ask(long number, long a, long b, long c) {
  long result;
  asm volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
  return result;
}
static void say(const char* text) {
  long length = 0;
  while (text[length]) ++length;
  ask(4, 1, (long)text, length);
}
static const char* value(char** environment, const char* name) {
  for (; *environment; ++environment) {
    int i = 0;
    while (name[i] && (*environment)[i] == name[i]) ++i;
    if (!name[i] && (*environment)[i] == '=') return *environment + i + 1;
  }
  return 0;
}
__attribute__((used)) static void start(long* stack) {
  char **argv = (char**)stack + 1, **environment = argv + *stack + 1;
  char count[] = {(char)('0' + *stack), 0};
  const char* preload = value(environment, "LD_PRELOAD");
  for (volatile long i = 0; i < 20000000; ++i) {}
  say(argv[0]), say(", "), say(count), say(" arguments, preloads ");
  say(!value(environment, "PRELOADS") ? "-" : preload ? preload : "(null)");
  say(value(environment, "VARVE_SESSION") ? ", session 1\n" : ", session 0\n");
  ask(1, 5, 0, 0);
}
asm(".globl _start\n_start: mov %esp, %eax\n push %eax\n call start");
C
loader32=/lib/ld-linux.so.2
library32=$(ls /lib32/libc.so.6 /lib/i386-linux-gnu/libc.so.6 2>/dev/null | head -1)
gcc -m32 -O1 -ffreestanding -fno-pie -fno-stack-protector -c bits32.c && ld -m elf_i386 bits32.o -o static32 || fail "no program of 32 bits"
if [ "$(./static32)" != "./static32, 1 arguments, preloads -, session 0" ]; then
  echo "SKIPPED: programs of 32 bits; this kernel runs none"
else
  foreign static32
  if [ -x $loader32 ] && [ -n "$library32" ]; then
    ld -m elf_i386 -dynamic-linker $loader32 bits32.o "$library32" -o dynamic32 || fail "no dynamic program of 32 bits"
    LD_PRELOAD=$BUILD/libvarve.so run ./dynamic32
    expect_match err 'wrong ELF class'  # so it is seen where it happens
    foreign dynamic32
  else
    echo "SKIPPED: a dynamic program of 32 bits; libc6-i386 is not installed"
  fi
fi
# One of our own kind, by the same ways, is recorded.
gcc -o own main.c
run "$VARVE" record -q -o own.varve -- ./starts ./own
expect_eq "images by every way" "$(agent_files own.varve)" 14

# A pipe with a name that somebody executes is not opened to see what it is: that would let a writer go on who waits for its reader.
cat >pipe.sh <<'S'
mkfifo here/pipe && chmod +x here/pipe
(exec 3>here/pipe && echo of the writer >&3) &
sleep 0.2
/usr/bin/python3 -c 'import os
try: os.execv("here/pipe", ["pipe"])
except OSError as error: print(error.strerror)'
cat here/pipe
wait
S
guest_limit=20
same piped sh "$work/pipe.sh"
expect_eq "what came through the pipe" "$(tail -1 out)" "of the writer"

# A program executed after a change of user cannot reach the profile: its time is its own, and no sample's.
if [ "$(id -u)" = 0 ]; then
  as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
  record -o changed $as_nobody /bin/sh -c 'i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done'
  expect_match err 'were spent where the agent is not'
  report quality changed
  expect_match out 'Threads not sampled: sh \('
  report idle --band idle,poor,ok,ideal,over --format csv changed
  holds "not sampled of what ran" "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
    $at["part"] == "running" { all += $at["thread_ns"]; if ($at["what"] == "[not sampled]") unsampled += $at["thread_ns"] }
    END { printf "%.3f", unsampled / all }' out) > 0.8"
fi
