// SPDX-License-Identifier: MIT
// See tick_source.h.
// Context: signal, and the thread's own start and end.
#include "agent/signal/tick_source.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "agent/signal/agent_state.h"
#include "agent/signal/clock.h"
#include "agent/signal/file_identity.h"
#include "agent/signal/kernel_signal.h"
#include "agent/signal/source_judge.h"
#include "agent/signal/tick_distance.h"
#include "common/agent_calls.h"
#include "common/tick_event.h"

namespace varve::agent {
namespace {

/// Ticks from one choice of an event's distance to the next, which costs as much as ten ticks.
constexpr uint32_t kTicksOfOneDistance = 64;
/// Ticks of a timer after which a thread that may yet turn out to be in step is judged again.
constexpr uint32_t kTicksBetweenLooks = 16;

/// The address of the event's page, or -errno.
long open_event(const ThreadBlock& block, uint64_t period_ns) {
  const perf_event_attr event = format::tick_event(period_ns, uint64_t(&block));
  const long fd = raw_syscall(__NR_perf_event_open, as_arg(&event), 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (failed(fd)) return fd;
  const FileIdentity opened(fd);
  const long page = raw_syscall(__NR_mmap, 0, format::kTickEventBytes, PROT_READ, MAP_SHARED, fd, 0);
  close_if(fd, opened);
  return page;
}

void close_event(long page) { raw_syscall(__NR_munmap, page, format::kTickEventBytes); }

/// In the place of the thread's event, if it has one. The new one comes first: the kernel switches what it
/// does for events off with the last of them.
long start_event(ThreadBlock& block, uint64_t period_ns) {
  const long page = open_event(block, period_ns);
  if (failed(page)) return page;
  if (const long before = block.event_page.exchange(page)) close_event(before);
  return 0;
}

void set_timer(const ThreadBlock& block, uint64_t first_ns, uint64_t interval_ns) {
  const itimerspec times{to_timespec(interval_ns), to_timespec(first_ns)};
  raw_syscall(__NR_timer_settime, block.timer, 0, as_arg(&times), 0);
}

void end_event(ThreadBlock& block) {
  if (const long page = block.event_page.exchange(0)) close_event(page);
}

void end_timer(ThreadBlock& block) {
  if (const int timer = block.timer.exchange(-1); timer >= 0) raw_syscall(__NR_timer_delete, timer);
}

/// Another thread may have ended the recording, and all that it saw, while this one was given a new source.
void end_if_left(ThreadBlock& block) {
  if (agent_state.recorded()) return;
  end_timer(block);
  end_event(block);
}

long start_timer(ThreadBlock& block, uint64_t interval_ns) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGPROF;
  event.sigev_value.sival_ptr = &block;
  event._sigev_un._tid = int(raw_syscall(__NR_gettid));
  int timer = -1;
  // Timers of any CPU clock expire at ticks only. On the exact clock one is late then, by up to a tick in a
  // thread that runs on and by much more in one that runs for less than a tick at a time: of 20,000 threads
  // of 0.1 ms it saw none, of 200 that work a millisecond each in turn 3 of 10 samples. On the clock of ticks
  // it is as often as it should be.
  long result = raw_syscall(__NR_timer_create, kTickClock, as_arg(&event), as_arg(&timer));
  if (failed(result)) return result;
  itimerspec times{to_timespec(interval_ns), to_timespec(random_up_to(interval_ns))};
  result = raw_syscall(__NR_timer_settime, timer, 0, as_arg(&times), 0);
  if (failed(result)) {
    raw_syscall(__NR_timer_delete, timer);
    return result;
  }
  block.timer.store(timer);
  end_if_left(block);
  return 0;
}

/// Where it is refused one, which a limit may have come to do meanwhile, an event stays, at another distance
/// if another may be had.
long tick_by_timer(ThreadBlock& block, uint64_t interval_ns) {
  const long result = block.timer >= 0 ? 0 : start_timer(block, interval_ns);
  if (!failed(result)) return end_event(block), 0;
  if (!block.event_page) return result;
  if (agent_state.uses_events()) start_event(block, random_distance(interval_ns));
  block.ticks_of_distance = kTicksOfOneDistance;
  return 0;
}

/// For the rest of the thread. The program's limits or a filter of system calls of its own may refuse an
/// event where the recorder had one.
long keep_to_timer(ThreadBlock& block, uint64_t interval_ns, long error) {
  if (error) agent_state.counters->values[uint32_t(format::Counter::kLastErrno)] = uint64_t(-error);
  block.ticks_of_distance = 0;
  const long result = tick_by_timer(block, interval_ns);
  if (!block.event_page) count(format::Counter::kEventsRefused);
  return result;
}

/// Signals of the program's own that were pending beside a tick are sent again. The kernel keeps one of each
/// number for the thread and one for the process.
void drain_ticks(const ThreadBlock& block) {
  constexpr unsigned kMost = 2 * std::size(agent_state.program_signals);
  timespec now{};
  siginfo_t foreign[kMost];
  for (unsigned count = 0;;) {
    siginfo_t& info = foreign[count];
    const long number = raw_syscall(__NR_rt_sigtimedwait, as_arg(&agent_state.tick_signals), as_arg(&info),
                                    as_arg(&now), kKernelSetBytes);
    if (!failed(number) && is_tick(info, &block)) continue;
    if (!failed(number) && ++count < kMost) continue;
    while (count) send_again(foreign[--count]);
    return;
  }
}

/// A program that handles SIGTRAP itself means what it says of it: where it blocks that no event's tick
/// comes.
bool blocks_events(const ThreadBlock& block) {
  return agent_state.uses_events() && (agent_state.handled_trap() & block.program_blocks);
}

/// By an event at this distance, for so many ticks; by the timer where there can be none.
long tick_by_event(ThreadBlock& block, uint64_t distance_ns, uint64_t interval_ns, uint32_t ticks) {
  block.ticks_of_distance = ticks;
  const bool allowed = agent_state.uses_events();
  const long error = allowed ? start_event(block, distance_ns) : 0;
  if (!allowed || failed(error)) return keep_to_timer(block, interval_ns, error);
  end_timer(block);
  end_if_left(block);
  return 0;
}

/// Of a thread that is to have an event only where it works in step: until it does.
void tick_by_timer_for_now(ThreadBlock& block, uint64_t cpu_ns, uint64_t interval_ns) {
  block.ticks_of_distance = kTicksBetweenLooks;
  if (!block.event_page) return;
  tick_by_timer(block, interval_ns);
  begin_timer_evidence(block, cpu_ns);
}

void by_event(ThreadBlock& block, uint64_t cpu_ns, uint64_t interval_ns, uint32_t ticks) {
  if (blocks_events(block)) return tick_by_timer_for_now(block, cpu_ns, interval_ns);  // or for a moment
  const bool by_timer = !block.event_page;
  tick_by_event(block, random_distance(interval_ns), interval_ns, ticks);
  if (!by_timer || !block.event_page) return;
  block.event_cpu_ns = cpu_ns;
  if (agent_state.events_in_step) count(format::Counter::kEventsInStep);
}

/// The thread has used `cpu_ns` so far.
void choose_source(ThreadBlock& block, uint64_t cpu_ns, uint64_t interval_ns) {
  switch (judge_source(block, cpu_ns, interval_ns)) {
    case Suits::kTimer:
      if (agent_state.events_in_step) return tick_by_timer_for_now(block, cpu_ns, interval_ns);
      keep_to_timer(block, interval_ns, 0);
      return;
    case Suits::kEvent:
      return by_event(block, cpu_ns, interval_ns, kTicksOfOneDistance);
    case Suits::kUnknown:
      // What a timer's tick says nothing of yet the next one does.
      if (!block.event_page) return void(block.ticks_of_distance = 1);
      by_event(block, cpu_ns, interval_ns, uint32_t(least_judged_ns(interval_ns) / interval_ns) + 1);
  }
}

}  // namespace

bool is_tick(const siginfo_t& info, const ThreadBlock* block) {
  if (!block || !block->live) return false;
  if (info.si_code == SI_TIMER) return info.si_value.sival_ptr == block;
  if (info.si_signo != SIGTRAP || info.si_code != format::kTrapPerf) return false;
  // The C library's siginfo_t has no name for it: _perf._data stands behind si_addr.
  uint64_t word = 0;
  std::memcpy(&word, reinterpret_cast<const uint8_t*>(&info.si_addr) + sizeof info.si_addr, sizeof word);
  return word == uint64_t(block);
}

uint64_t merged_ticks(const ThreadBlock& block, const siginfo_t& info, uint64_t weight_ns) {
  if (info.si_code == SI_TIMER) return info.si_overrun > 0 ? uint64_t(info.si_overrun) : 0;
  // What the thread ran by its timer before is of no tick that merged.
  const uint64_t by_event_ns = std::min(weight_ns, block.last_cpu_ns + weight_ns - block.event_cpu_ns);
  const uint64_t interval_ns = interval_of(block), intervals = (by_event_ns + interval_ns / 2) / interval_ns;
  return intervals > 1 ? intervals - 1 : 0;
}

long start_ticks(ThreadBlock& block, uint64_t interval_ns) {
  if (agent_state.events_wanted && agent_state.events_at_once && !blocks_events(block))
    return tick_by_event(block, first_distance(interval_ns), interval_ns, 1);
  block.ticks_of_distance = agent_state.events_wanted;
  begin_timer_evidence(block, block.last_cpu_ns);
  const long result = start_timer(block, interval_ns);
  if (!failed(result) || !agent_state.uses_events()) return result;
  return tick_by_event(block, first_distance(interval_ns), interval_ns, 1);
}

void change_interval(ThreadBlock& block, uint64_t interval_ns) {
  if (block.event_page)
    tick_by_event(block, random_distance(interval_ns), interval_ns, kTicksOfOneDistance);
  else
    set_timer(block, interval_ns, interval_ns), begin_timer_evidence(block, block.last_cpu_ns);
}

void vary_interval(ThreadBlock& block, uint64_t interval_ns) {
  if (block.ticks_of_distance == 0 || --block.ticks_of_distance != 0) return;
  choose_source(block, block.last_cpu_ns, interval_ns);
}

void look_for_event(ThreadBlock& block, uint64_t now_ns) {
  block.event_look_ns = now_ns;
  // A child that no hook saw begin has this thread's block, and may have a filter that ends it for its clock.
  if (raw_syscall(__NR_getpid) != agent_state.pid || !agent_state.takes_samples(agent_state.state())) return;
  const uint64_t cpu_ns = thread_cpu_ns();
  if (cpu_ns < block.judged.cpu_ns + least_judged_ns(interval_of(block))) return;
  // A handler of the program's that left from here by a jump would leave ticks blocked.
  const uint64_t all = ~uint64_t{0};
  uint64_t before = 0;
  raw_syscall(__NR_rt_sigprocmask, SIG_BLOCK, as_arg(&all), as_arg(&before), kKernelSetBytes);
  if (agent_state.recorded() && awaits_event(block)) choose_source(block, cpu_ns, interval_of(block));
  raw_syscall(__NR_rt_sigprocmask, SIG_SETMASK, as_arg(&before), 0, kKernelSetBytes);
}

void stop_ticks(ThreadBlock& block) {
  end_timer(block);
  end_event(block);
  block.ticks_of_distance = 0;
}

void end_ticks(ThreadBlock& block) {
  if (block.timer < 0 && !block.event_page) return;
  stop_ticks(block);
  drain_ticks(block);
}

}  // namespace varve::agent
