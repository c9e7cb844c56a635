#!/bin/bash
# SPDX-License-Identifier: MIT
# Names that a program gives itself - its file, arguments, threads, sockets, pipes, files, code made at run time - with terminal
# escapes, line breaks, quotes and bytes that are no UTF-8, or like formulas: no view, in no format and no locale, passes them on to a
# terminal, CSV and JSON stay what they are, and no cell of CSV is a formula.
. "$(dirname "$0")/common.inc"

build named -lpthread <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
static volatile unsigned long sink;
static void burn(unsigned long n) { for (unsigned long i = 0; i < n; ++i) sink += i; }
static const char* const names[] = {"a\033[2Jb\n\"", "\xff\xfe\x80,", "\xc2\x9b" "31m", "\xe2\x80\xae" "abc", "a\tb\\\x7f", "\r\nX: y", "=1+1;@x"};
enum { N = sizeof names / sizeof *names };
static void wait_at_socket(int i) {
  struct sockaddr_un place = {.sun_family = AF_UNIX};
  snprintf(place.sun_path, sizeof place.sun_path, "so\033[31m\"%d\n\x9b\xff,x", i);
  int s = socket(AF_UNIX, SOCK_STREAM, 0);
  bind(s, (struct sockaddr*)&place, sizeof place);
  listen(s, 1);
  struct timeval limit = {0, 20000};
  setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  accept(s, 0, 0);
  close(s);
}
static void wait_at_pipe(int i) {
  char name[64], byte = 0;
  snprintf(name, sizeof name, "ff\033]0;x\a\"%d\n\xc2", i);
  mkfifo(name, 0600);
  int d = open(name, O_RDWR);
  if (fork() == 0) {
    usleep(20000);
    _exit(write(d, &byte, 1) != 1);
  }
  read(d, &byte, 1);
  close(d);
}
static void* run(void* number) {
  int i = (int)(long)number;
  prctl(PR_SET_NAME, names[i]);
  burn(30000000);
  wait_at_socket(i);
  wait_at_pipe(i);
  return 0;
}
// Code that only a perf map names: for (; n; --n);
static void burn_nameless(void) {
  static const unsigned char code[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3};
  void* at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(at, code, sizeof code);
  char name[64];
  snprintf(name, sizeof name, "/tmp/perf-%d.map", getpid());
  FILE* map = fopen(name, "w");
  fprintf(map, "%lx 1000 evil\033[31m\"\r\xff,\n", (unsigned long)at);
  fclose(map);
  ((void (*)(unsigned long))at)(300000000);
}
int main(void) {
  pthread_t threads[N];
  for (long i = 0; i < N; ++i) pthread_create(&threads[i], 0, run, (void*)i);
  for (int i = 0; i < N; ++i) pthread_join(threads[i], 0);
  burn_nameless();
  printf("%d\n", getpid());
  return 0;
}
END
odd=./$(printf 'n\033[31m"\n\xff,y')
cp named "$odd"
mkdir "$(printf 'in\033[1m\xfe')" && cd "$(printf 'in\033[1m\xfe')" || fail "no folder"
record -o p ".$odd" "$(printf 'arg\033[2J\xff\n')"
rm -f "/tmp/perf-$(cat out).map"
expect_eq "exit code" $code 0

cat >../look.py <<'END'
import csv, io, json, os, subprocess, sys
varve, views, program, found = sys.argv[1], sys.argv[2].split(), sys.argv[3], []
# Of the C1 controls, too, and what turns the direction of what follows.
FORBIDDEN = {chr(c) for c in (*range(32), *range(127, 160), *range(0x202a, 0x202f), *range(0x2066, 0x206a))}
def judge(what, bytes, breaks):
    text = bytes.decode("utf-8", "replace")
    bad = sorted(set(text) & (FORBIDDEN - set(breaks)) | ({"\ufffd"} & set(text)))
    if bad: found.append(f"{what}: prints {bad!r} in {text[max(0, text.index(bad[0]) - 60):][:120]!r}")
def look(what, arguments, locale, breaks):
    end = subprocess.run([varve, *arguments], capture_output=True, env={**os.environ, "LC_ALL": locale})
    if end.returncode: found.append(f"{what}: ended with {end.returncode}: {end.stderr!r}")
    for bytes in (end.stdout, end.stderr): judge(what, bytes, breaks)
    return end.stdout.decode("utf-8", "replace")
everything = ""
for locale in ("C.UTF-8", "C"):
    for view in views:
        name = f"{view} in {locale}"
        everything += look(name, ["report", view, "p"], locale, "\n")
        look(f"screen {name}", ["view", view, "p", "--script", "", "--save-screen", "-"], locale, "\n")
        rows = list(csv.reader(io.StringIO(look(f"CSV of {name}", ["report", view, "p", "--format", "csv"], locale, "\r\n"), newline="")))
        formulas = [cell for row in rows[1:] for cell in row if cell[:1] in "=+@" and cell or cell[:1] == "-" and not cell[1:].isdigit()]
        if formulas: found.append(f"CSV of {name}: a spreadsheet computes {formulas[:3]}")
        if len({len(row) for row in rows if row}) != 1: found.append(f"CSV of {name}: rows of {sorted({len(row) for row in rows})} cells")
        try: json.loads(look(f"JSON of {name}", ["report", view, "p", "--format", "json"], locale, "\n"))
        except ValueError as error: found.append(f"JSON of {name}: {error}")
    for function in ("^burn$", "evil"):
        everything += look(f"callers of {function} in {locale}", ["report", "callers", function, "p"], locale, "\n")
    everything += look(f"annotate in {locale}", ["annotate", "^burn$", "p"], locale, "\n")
    everything += look(f"check in {locale}", ["check", program], locale, "\n")
# The name of the profile is the program's; and a program that is not there is named, too.
look("record", ["record", "--no-finalize", program], "C.UTF-8", "\n")
missing = subprocess.run([varve, "record", "./\x1b[31mgone\x9b"], capture_output=True)
judge("record of what is not there", missing.stderr, "\n")
if b"gone" not in missing.stderr: found.append(f"record does not name what is not there: {missing.stderr!r}")
# What was to be hidden was there.
for text in (r"a\x1b[2Jb\x0a", r"so\x1b[31m", r"ff\x1b]0;x\x07", r"evil\x1b[31m", r"n\x1b[31m", r"arg\x1b[2J", "=1+1;@x"):
    if text not in everything: found.append(f"no view has {text}")
print("\n".join(found))
sys.exit(bool(found))
END
python3 ../look.py "$VARVE" "summary hotspots top-down bottom-up threads processes programs modules lines concurrency tlp waits idle timeline critical-path quality" \
  ".$odd" >told 2>&1 || fail "$(head -c 3000 told)"
