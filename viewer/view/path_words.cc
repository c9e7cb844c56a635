// SPDX-License-Identifier: MIT
// See path_words.h.
// Context: viewer.
#include "viewer/view/path_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "viewer/view/band_words.h"
#include "viewer/view/rows.h"

namespace varve::view {
namespace {

using analyze::PathClass;

constexpr std::array<PathClassWords, analyze::kPathClasses> kClassWords = {{
    {"Cruise", "cruise_ns", 'C'},
    {"Overhead", "overhead_ns", 'O'},
    {"Blocking", "blocking_ns", 'B'},
    {"Impact", "impact_ns", 'I'},
    {"[not recorded]", "not_recorded_ns", '?'},
}};

}  // namespace

const PathClassWords& words_of(PathClass what) { return kClassWords[size_t(what)]; }

std::string_view observed_words(WaitKind kind) {
  return letter_meaning(state_letter({RunState::kBlocked, kind}));
}

ThreadNames::ThreadNames(const load::Profile& profile) : profile_(profile), shared_(profile.threads.size()) {
  std::map<std::string_view, size_t> first;
  for (size_t i = 0; i < shared_.size(); ++i) {
    const auto [known, fresh] = first.try_emplace(profile.threads[i].name, i);
    if (!fresh) shared_[i] = shared_[known->second] = true;
  }
}

std::string ThreadNames::of(ThreadId id) const {
  if (!id.valid()) return "";
  const load::Thread& thread = profile_.threads[id.index()];
  return shared_[id.index()] || thread.name.empty() ? fmt::format("{} {}", thread.name, thread.tid)
                                                    : thread.name;
}

std::string sum_words(std::span<const uint64_t> by_class, uint64_t filtered_out_ns) {
  uint64_t whole = filtered_out_ns;
  for (const uint64_t each : by_class) whole += each;
  const bool seconds = whole >= kNanosPerSecond.count;
  const uint64_t step = seconds ? kNanosPerMilli.count : 1000;
  struct Part {
    std::string_view name;
    uint64_t steps;
  };
  std::vector<Part> parts;
  uint64_t sum = 0;
  const auto add = [&](std::string_view name, uint64_t ns) {
    if (ns == 0) return;
    parts.push_back({name, (ns + step / 2) / step});
    sum += parts.back().steps;
  };
  for (const PathClass what : kShownClasses) add(words_of(what).name, by_class[size_t(what)]);
  add(kFilteredOut, filtered_out_ns);
  const uint64_t rounded = (whole + step / 2) / step;
  const auto text = [&](uint64_t steps) {
    return fmt::format("{}.{:03} {}", steps / 1000, steps % 1000, seconds ? "s" : "ms");
  };
  if (parts.empty()) return text(0);
  // The largest takes up what rounding leaves.
  std::ranges::max_element(parts, {}, &Part::steps)->steps += rounded - sum;
  std::string words = text(rounded);
  for (const Part& part : parts)
    words += fmt::format(" {} {} {}", &part == parts.data() ? "=" : "+", text(part.steps), part.name);
  return words;
}

}  // namespace varve::view
