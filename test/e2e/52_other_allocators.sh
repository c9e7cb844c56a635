#!/bin/bash
# SPDX-License-Identifier: MIT
# Allocators that others put before the C library's: AddressSanitizer's, in a program with threads, exceptions and forks, and a
# preloaded jemalloc. The same output as bare, and samples.
. "$(dirname "$0")/agent.inc"
export ASAN_OPTIONS=detect_leaks=0

cat >main.cc <<'C'
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
static int rounds = 300000;
static unsigned long work(unsigned seed) {
  std::map<unsigned, std::string> words;
  unsigned long sum = 0;
  for (int i = 0; i < rounds; ++i) {
    seed = seed * 1664525 + 1013904223;
    words[seed % 1000] = std::string(seed % 300, 'x');
    if (i % 100 == 0) try { throw std::runtime_error(words[seed % 1000]); } catch (const std::exception& error) { sum += error.what()[0]; }
    sum += words.size();
  }
  return sum;
}
int main(int count, char**) {
  rounds *= count > 1 ? 10 : 1;
  std::vector<unsigned long> sums(3);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 3; ++i) threads.emplace_back([&sums, i] { sums[i] = work(i); });
  for (auto& thread : threads) thread.join();
  for (unsigned long sum : sums) std::printf("%lu\n", sum);
  std::fflush(stdout);
  pid_t child = fork();
  if (child == 0) _exit(int(work(9) % 100));
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("child %d\n", WEXITSTATUS(status));
  return 4;
}
C
# same DIR PROGRAM [more]: with 4 ms between samples; "more" is ten times the work
same() {
  "${@:2}" >bare 2>&1
  local bare=$?
  record -q --interval 4ms -o "$1.p" "${@:2}"
  expect_eq "exit code with $1" $code $bare
  cat out err | diff bare - >difference || fail "$1: the output is another: $(cat difference)"
  holds "samples with $1" "$(summary samples "$1.p") >= 5"
  expect_eq "processes with $1" "$(summary processes "$1.p")" 2
}
g++ -O1 -g main.cc -o plain -lpthread || fail "cannot compile"
same plain ./plain
if g++ -O1 -g -fsanitize=address main.cc -o asan -lpthread 2>/dev/null; then
  same asan ./asan
  # A mistake is still found, and said where it was.
  g++ -O0 -g -fsanitize=address -x c++ - -o wrong <<<'int main(int count, char**) { int* memory = new int[4]; delete[] memory; return memory[count]; }'
  record -q -o wrong.p ./wrong
  expect_eq "exit code of a program with a mistake" $code 1
  expect_match err 'AddressSanitizer: heap-use-after-free'
else
  echo "SKIPPED: AddressSanitizer; there is no libasan"
fi
library=$(ldconfig -p | sed -n 's/.*libjemalloc\.so\.2.*x86-64.* => //p' | head -1)
if [ -n "$library" ]; then
  export LD_PRELOAD=$library
  same jemalloc ./plain more  # 250 samples, of which it has a tenth: of the 25 of a short run it may have none
  unset LD_PRELOAD
  rows modules jemalloc.p 'any("jemalloc" in r["module"] for r in rows)' >found
  expect_eq "jemalloc is what allocated" "$(cat found)" True
else
  echo "SKIPPED: jemalloc; there is no libjemalloc.so.2"
fi
