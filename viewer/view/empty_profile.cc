// SPDX-License-Identifier: MIT
// The reasons, from the most certain to the most general; counters and damages of the profile are the
// witnesses. Context: viewer.
#include "viewer/view/empty_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "common/units.h"
#include "viewer/load/cut_files.h"
#include "viewer/view/counter_words.h"

namespace varve::view {

std::vector<std::string> why_empty(const load::Profile& profile) {
  if (profile.sample_count > 0) return {};
  std::vector<std::string> reasons = {"There are no samples."};
  const auto say = [&](std::string sentence) { reasons.push_back(std::move(sentence)); };
  const bool agents = std::ranges::any_of(profile.processes, std::logical_not(), &load::Process::seen_only);
  const auto is_missing = [](const load::Damage& damage) {
    return damage.sentence.starts_with(load::kMissing);
  };
  if (!agents && profile.refusals.empty() && std::ranges::all_of(profile.damages, is_missing)) {
    say("No process wrote anything: the agent was not loaded into the program, or its files (*.agent) were "
        "not copied here. A statically linked, setuid or Go program does not load it; 'varve check CMD' says "
        "which.");
  }
  for (const load::Damage& damage : profile.damages) {
    say(fmt::format("{}: {}.", damage.file, damage.sentence));
  }
  for (const load::Refusal& refusal : profile.refusals)
    say(fmt::format("Process {} was not recorded: {}.", refusal.pid, load::refusal_words(refusal)));
  for (CounterSentence& sentence : counter_sentences(profile)) say(std::move(sentence.text));
  const uint64_t interval = profile.session.interval.count;
  if (!profile.processes.empty() && interval > 0 && profile.kernel_cpu.count < 2 * interval) {
    say(fmt::format(
        "The program used {:.4f} s of CPU time, {} than the interval of {} ms between samples: give it more "
        "work or a shorter --interval. varve report waits says what it waited for.",
        in_seconds(profile.kernel_cpu), profile.kernel_cpu.count < interval ? "less" : "hardly more",
        double(interval) / 1e6));
  }
  if (profile.unsampled.count > interval && profile.unsampled > profile.residual)
    say(fmt::format(
        "{:.3f} s of {:.3f} s of CPU time were spent where the agent is not, or was not recording: varve "
        "report quality says what it knows of that.",
        in_seconds(profile.unsampled), in_seconds(profile.kernel_cpu)));
  if (!profile.session.finished) say("The recorder did not see the end of the run.");
  return reasons;
}

}  // namespace varve::view
