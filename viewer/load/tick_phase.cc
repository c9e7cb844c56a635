// SPDX-License-Identifier: MIT
// See tick_phase.h.
// Context: viewer.
#include "viewer/load/tick_phase.h"

#include <algorithm>
#include <cmath>

#include "common/session_keys.h"

namespace varve::load {
namespace {

/// Expirations that were due and that came, of threads whose timers ran from begin to end.
struct Expirations {
  double due = 0, came = 0;
};

bool ran_all_along(const Profile& profile, const Thread& thread) {
  const Process& process = profile.processes[thread.process.index()];
  return !thread.no_timer && !thread.seen_only && !thread.interval_doublings && thread.end_cpu.count &&
         !process.counter(format::Counter::kFiltered);
}

Expirations expirations(const Profile& profile) {
  Expirations sum;
  for (const Thread& thread : profile.threads) {
    if (!ran_all_along(profile, thread)) continue;
    sum.due += double(saturating_sub(thread.end_cpu, thread.start_cpu).count) /
               double(profile.session.interval.count);
    sum.came += double(thread.ticks + thread.overruns);
  }
  return sum;
}

}  // namespace

bool works_in_step(const Profile& profile) {
  const Session& session = profile.session;
  const uint64_t tick = session.number(session_key::kKernelTickNs);
  // A recording that ended before its threads took their timers with it.
  if (session.text(session_key::kTimer) != "cpu" || !session.interval.count || !tick ||
      !session.text(session_key::kStopReason).empty())
    return false;
  constexpr double kLeastShare = 0.3, kStandardErrors = 5;
  const auto [due, came] = expirations(profile);
  // A tick of the kernel's stands for several intervals below it, so there are fewer of these to be chance.
  const double at_once = std::max(1.0, double(tick) / double(session.interval.count));
  return std::abs(came - due) > std::max(kLeastShare * due, kStandardErrors * std::sqrt(due * at_once));
}

}  // namespace varve::load
