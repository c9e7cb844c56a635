#!/bin/bash
# SPDX-License-Identifier: MIT
# Code of the program that it mapped a second time, as V8 does with its builtins, has the names of the first mapping.
. "$(dirname "$0")/agent.inc"

build mapped -I"$root" -fno-omit-frame-pointer -fcf-protection=none <<'E2'
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include "test/programs/work.h"
/* Pages of its own, so that a copy of them is whole. */
__attribute__((noinline, aligned(4096), section("far"))) uint64_t busy(uint64_t x) { SPIN(x, 300 * STEPS_PER_MS); return x; }
__attribute__((noinline, section("far"))) uint64_t calls_busy(uint64_t x) { return busy(x) + 1; }
__attribute__((noinline, section("far"))) uint64_t outer(uint64_t x) { return calls_busy(x) + 1; }

/* The offset in the file and the address of the mapping that has `address`. */
static int mapping_of(uint64_t address, uint64_t* begin, uint64_t* end, uint64_t* offset) {
  char line[4500];
  FILE* maps = fopen("/proc/self/maps", "r");
  int found = 0;
  while (!found && fgets(line, sizeof line, maps))
    found = sscanf(line, "%lx-%lx %*s %lx", begin, end, offset) == 3 && *begin <= address && address < *end;
  fclose(maps);
  return found;
}

int main(void) {
  uint64_t begin, end, offset;
  if (!mapping_of((uint64_t)outer, &begin, &end, &offset)) return 2;
  int file = open("/proc/self/exe", O_RDONLY);
  /* Code made at run time beside it must not keep the copy from being found. */
  char* made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* copy = mmap(NULL, end - begin, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, (off_t)offset);
  close(file);
  if (made == MAP_FAILED || copy == MAP_FAILED) return 3;
  memcpy(made, "\x48\xff\xc8\x75\xfb\xc3", 6); /* dec rax; jne -5; ret */
  long count = 200000000;
  __asm__ volatile("call *%1" : "+a"(count) : "r"(made) : "memory", "cc");
  uint64_t (*there)(uint64_t) = (uint64_t (*)(uint64_t))(copy + ((uint64_t)outer - begin));
  uint64_t cost = thread_ns(), x = 5;
  for (int i = 0; i < 3; ++i) x = there(x);
  cost = thread_ns() - cost;
  /* The copy goes, and code made at run time takes its place. */
  char* again = mmap(copy, end - begin, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (again == MAP_FAILED) return 4;
  memcpy(again, made, 6);
  uint64_t later = thread_ns();
  count = 4000000000;
  __asm__ volatile("call *%1" : "+a"(count) : "r"(again) : "memory", "cc");
  later = thread_ns() - later;
  printf("{\"copy\": %lu, \"x\": %lu, \"made\": %lu}\n", cost, x, later);
}
E2
profile twice ./mapped
found=$(rows hotspots twice "own('busy')") cost=$(truth copy)
# The copy is known to be gone when the map is read again: at most a thousand times as long as that takes.
holds "time of the copied function: $found of $cost" "-4 * 10e6 <= $found - $cost <= 14 * 10e6"
# The caller of a function without a frame is not seen by frame pointers, which are all there is in a copy.
holds "time below its callers, copied too" "$(rows hotspots twice "total('outer')") >= 0.98 * $found"
expect_eq "modules that the program appears as" "$(rows modules twice "sum(r['module'] == 'mapped' for r in rows)")" 1
# The map is read again after a thousand times as long as that took, 30 to 200 us.
made=$(rows hotspots twice "own('[unknown code]')")
holds "made code has no name, also where a copy was: $made of $(truth made)" "$made >= 0.6 * $(truth made)"
holds "whole stacks" "$(summary whole_stack_share twice) >= 0.98"
