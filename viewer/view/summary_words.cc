// SPDX-License-Identifier: MIT
// See summary_words.h.
// Context: viewer.
#include "viewer/view/summary_words.h"
#include "common/units.h"
#include "viewer/load/thread_count.h"

#include <fmt/format.h>

#include "viewer/load/load.h"
#include "viewer/view/rows.h"

namespace varve::view {
namespace {

/// The kernel's clock may be coarser than what was asked for; and where other programs have the processors
/// too, its ticks fall into this one by chance.
std::string period_words(const load::Profile& profile) {
  constexpr uint64_t kTold = 50;  // samples; of fewer chance says little
  if (profile.session.interval.count == 0) return "";
  const double asked = double(profile.session.interval.count) / 1e6;
  const double got = profile.sample_count ? double((profile.sampled + profile.residual_placed).count) / 1e6 /
                                                double(profile.sample_count)
                                          : 0;
  const bool differs = got > 1.2 * asked || (got < asked / 1.2 && profile.sample_count >= kTold);
  return differs ? fmt::format(", one every {:.1f} ms of CPU time ({} ms asked for)", got, asked)
                 : fmt::format(", one every {} ms of CPU time", asked);
}

/// A stack without its middle is whole, because it stands at its place in the tree.
std::string middle_words(const analyze::Quality& quality) {
  if (quality.whole_deep_samples == 0) return "";
  return fmt::format(" ({} without their middle)", quality.whole_deep_samples);
}

std::string shown_cpu_words(Nanos cpu, const ShownPart& shown) {
  std::string words = fmt::format("{} of {} pass the filter", seconds_words(shown.cpu), seconds_words(cpu));
  if (shown.elapsed.count == 0) return words;
  return words + fmt::format(": {:.2f} processors on average over {}",
                             share(shown.cpu.count, shown.elapsed.count), seconds_words(shown.elapsed));
}

std::string run_cpu_words(const load::Session& session, Nanos cpu) {
  std::string words = seconds_words(cpu);
  if (session.elapsed.count != 0)
    words += fmt::format(", {:.2f} processors busy on average", share(cpu.count, session.elapsed.count));
  if (session.user_cpu.count + session.system_cpu.count != 0)
    words += fmt::format(" ({:.2f} s user, {:.2f} s system)", in_seconds(session.user_cpu),
                         in_seconds(session.system_cpu));
  return words;
}

}  // namespace

std::string seconds_words(Nanos time) {
  return fmt::format("{:.{}f} s", in_seconds(time), time.count < 10 * kNanosPerSecond.count ? 3 : 2);
}

double unnamed_share(const analyze::Quality& quality) {
  uint64_t self = 0, unnamed = 0;
  for (const analyze::ModuleTime& module : quality.modules)
    self += module.self[analyze::kCpu], unnamed += module.unnamed_ns;
  return share(unnamed, self);
}

std::string cpu_words(const load::Session& session, Nanos cpu, const ShownPart* shown) {
  return shown != nullptr ? shown_cpu_words(cpu, *shown) : run_cpu_words(session, cpu);
}

std::string samples_words(const load::Profile& profile, const ShownPart* shown) {
  const std::string threads = plural(load::count_threads(profile), "thread", "threads");
  const std::string processes = plural(count_processes(profile), "process", "processes");
  if (shown == nullptr)
    return fmt::format("{} in {} of {}{}, {}", profile.sample_count, threads, processes,
                       period_words(profile), lost_words(profile, "lost"));
  return fmt::format("{} of {}, in {} of {} and {} of {}; in the whole run {}", shown->samples,
                     profile.sample_count, shown->threads, threads, shown->processes, processes,
                     lost_words(profile, "lost"));
}

std::string lost_words(const load::Profile& profile, std::string_view noun) {
  std::string words = fmt::format("{} {}", profile.lost_samples, noun);
  if (profile.lost_time.count != 0)
    words +=
        fmt::format(", and {} of CPU time without one that can be read", seconds_words(profile.lost_time));
  if (profile.run_states.lost != 0)
    words += fmt::format(", and {} records of context switches", profile.run_states.lost);
  return words;
}

std::string quality_words(const load::Profile& profile, const analyze::Quality& quality, Nanos cpu,
                          bool filtered) {
  std::string words = "no samples";
  if (quality.samples != 0)
    words = fmt::format("{} of stacks whole{}, {} of time named", percent_down(quality.whole_share(), 1),
                        middle_words(quality), percent_down(1 - unnamed_share(quality), 1));
  else if (!filtered)
    return words;
  words += fmt::format("{} {:.2f}% overhead", filtered ? "; in the whole run" : ",",
                       100 * share(quality.handler.count, cpu.count));
  if (!quality.unsampled_threads.empty())
    words += ", " + plural(quality.unsampled_threads.size(), "thread", "threads") + " not sampled";
  if (!profile.damages.empty()) words += ", " + plural(profile.damages.size(), "damage", "damages");
  return words;
}

}  // namespace varve::view
