// SPDX-License-Identifier: MIT
// flags: -I. -shared -fPIC -fvisibility=hidden -Wl,-z,now -static-libstdc++ -lgcc_s -lunwind -lunwind-x86_64
// A preloaded library that compares our unwinder with libunwind on live programs: ITIMER_PROF ticks, both
// walks in the handler, counts written to the file that ORACLE_OUT names. Only the program ORACLE_PROGRAM
// names is looked at: an interval timer outlives exec and the handler does not, so a shell that finds the
// program and becomes it (python3 is often such a script) would be killed by its own tick. libunwind may
// deadlock in a handler (dl_iterate_phdr), so a run wants a time limit. Context: test, inside a stranger's
// process.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>

#include "test/programs/oracle.h"

using namespace varve;

namespace {

struct Count {
  unsigned long ticks, verdicts[4], whole, frames, frame_pointer, hits, misses, ends[16];
} count;

agent::RuleCache cache;
agent::StackBounds main_stack;
int out = -1;
unsigned printed;
std::atomic_flag busy = ATOMIC_FLAG_INIT;
test::Stack ours, theirs;

void print_frames(const char* name, const test::Stack& stack) {
  dprintf(out, "#  %s %u:", name, stack.depth);
  for (unsigned i = 0; i < stack.depth; ++i) {
    Dl_info info = {};
    dladdr(reinterpret_cast<void*>(stack.frames[i]), &info);
    const char* slash = info.dli_fname ? strrchr(info.dli_fname, '/') : nullptr;
    dprintf(out, " %s+%lx", slash ? slash + 1 : "?",
            stack.frames[i] - reinterpret_cast<uint64_t>(info.dli_fbase));
  }
  dprintf(out, "\n");
}

void print_difference(const char* what, int end) {
  if (printed++ > 40) return;
  dprintf(out, "# %s, our reason %d\n", what, end);
  print_frames("ours", ours);
  print_frames("libunwind", theirs);
}

void on_tick(int, siginfo_t*, void* context) {
  if (busy.test_and_set(std::memory_order_acquire)) return;
  const int saved_errno = errno;
  auto* interrupted = static_cast<ucontext_t*>(context);
  const bool main_thread = getpid() == gettid();
  agent::UnwindResult result;
  test::our_stack(*interrupted, main_thread ? main_stack : agent::StackBounds{}, cache, &ours, &result);
  test::libunwind_stack(interrupted, &theirs);
  ++count.ticks;
  count.whole += ours.whole;
  count.frames += ours.depth;
  count.frame_pointer += result.used_frame_pointer;
  count.hits += result.cache_hits;
  count.misses += result.cache_misses;
  ++count.ends[int(result.end)];
  const test::Verdict verdict = test::compare(ours, theirs);
  ++count.verdicts[int(verdict)];
  if (verdict == test::Verdict::kDifferent) print_difference("different", int(result.end));
  if (verdict == test::Verdict::kBothPartial) print_difference("both partial", int(result.end));
  if (verdict == test::Verdict::kEqual && !ours.whole) print_difference("equal, not whole", int(result.end));
  errno = saved_errno;
  busy.clear(std::memory_order_release);
}

void write_counts() {
  dprintf(out,
          "{\"pid\": %d, \"program\": \"%s\", \"ticks\": %lu, \"equal\": %lu, \"ours_better\": %lu, "
          "\"both_partial\": %lu, \"different\": %lu, \"whole\": %lu, \"frames\": %lu, \"by_frame_pointer\": "
          "%lu, "
          "\"hits\": %lu, \"misses\": %lu, \"ends\": [",
          getpid(), program_invocation_short_name, count.ticks, count.verdicts[0], count.verdicts[1],
          count.verdicts[2], count.verdicts[3], count.whole, count.frames, count.frame_pointer, count.hits,
          count.misses);
  for (int i = 0; i < int(format::StackEnd::kCount); ++i) dprintf(out, "%s%lu", i ? ", " : "", count.ends[i]);
  dprintf(out, "]}\n");
}

[[gnu::constructor]] void start() {
  const char* path = getenv("ORACLE_OUT");
  const char* program = getenv("ORACLE_PROGRAM");
  if (!path || !program || strcmp(program, program_invocation_short_name) != 0) return;
  out = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  test::start_cache(cache);
  main_stack = test::this_stack();
  struct sigaction action = {};
  action.sa_sigaction = on_tick;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  const itimerval every{{0, 1000}, {0, 1000}};
  setitimer(ITIMER_PROF, &every, nullptr);
}

[[gnu::destructor]] void stop() {
  if (out < 0) return;
  const itimerval never = {};
  setitimer(ITIMER_PROF, &never, nullptr);
  write_counts();
}

}  // namespace
