// SPDX-License-Identifier: MIT
// Waiting for time to pass, and pause, which waits for a signal. Context: any thread of the target.
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "agent/hooks.h"
#include "agent/real.h"
#include "agent/wait_trace.h"

namespace varve::agent {
namespace {

Real<int(const timespec*, timespec*)> real_nanosleep{"nanosleep"};
Real<int(clockid_t, int, const timespec*, timespec*)> real_clock_nanosleep{"clock_nanosleep"};
Real<unsigned(unsigned)> real_sleep{"sleep"};
Real<int(useconds_t)> real_usleep{"usleep"};
Real<int(const timespec*, timespec*)> real_thrd_sleep{"thrd_sleep"};
Real<int()> real_pause{"pause"};

using format::ObjectKind;

template <typename Sleep>
auto slept(Sleep sleep) {
  Waiting waiting(ObjectKind::kSleep, 0);
  return sleep();
}

}  // namespace

void resolve_sleep_hooks() {
  real_nanosleep.get(), real_clock_nanosleep.get(), real_sleep.get();
  real_usleep.get(), real_thrd_sleep.get(), real_pause.get();
}

VARVE_HOOK int nanosleep(const timespec* time, timespec* left) {
  return slept([=] { return real_nanosleep(time, left); });
}
VARVE_HOOK int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  return slept([=] { return real_clock_nanosleep(clock, flags, time, left); });
}
VARVE_HOOK unsigned sleep(unsigned seconds) {
  return slept([=] { return real_sleep(seconds); });
}
VARVE_HOOK int usleep(useconds_t time) {
  return slept([=] { return real_usleep(time); });
}
VARVE_HOOK int thrd_sleep(const timespec* time, timespec* left) {
  return slept([=] { return real_thrd_sleep(time, left); });
}
VARVE_HOOK int pause() {
  Waiting waiting(ObjectKind::kSignal, 0);
  return real_pause();
}

}  // namespace varve::agent
