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

std::string ThreadNames::beside(ThreadId id, ThreadId other) const {
  if (!id.valid() || !other.valid() || id == other) return of(id);
  const load::Thread& thread = profile_.threads[id.index()];
  return thread.name == profile_.threads[other.index()].name ? fmt::format("{}", thread.tid) : of(id);
}

std::string parts_words(uint64_t whole_ns, const std::vector<TimePart>& parts) {
  const bool seconds = whole_ns >= kNanosPerSecond.count;
  const uint64_t step = seconds ? kNanosPerMilli.count : 1000;
  const auto rounded = [step](uint64_t ns) { return (ns + step / 2) / step; };
  std::vector<TimePart> shown;
  uint64_t sum = 0;
  for (const TimePart& part : parts) {
    if (part.ns == 0) continue;
    shown.push_back({part.name, rounded(part.ns)});
    sum += shown.back().ns;
  }
  const auto text = [&](uint64_t steps) {
    return fmt::format("{}.{:03} {}", steps / 1000, steps % 1000, seconds ? "s" : "ms");
  };
  std::string words = text(rounded(whole_ns));
  if (shown.empty()) return words;
  // The largest takes up what rounding leaves; where each is no more than a step or two, several do.
  for (const uint64_t whole = rounded(whole_ns); sum != whole;) {
    uint64_t& most = std::ranges::max_element(shown, {}, &TimePart::ns)->ns;
    const uint64_t less = std::min(most, sum - std::min(sum, whole));
    most = sum > whole ? most - less : most + (whole - sum);
    sum = sum > whole ? sum - less : whole;
  }
  for (const TimePart& part : shown)
    words += fmt::format(" {} {} {}", &part == shown.data() ? "=" : "+", text(part.ns), part.name);
  return words;
}

std::string sum_words(std::span<const uint64_t> by_class, uint64_t filtered_out_ns) {
  std::vector<TimePart> parts;
  for (const PathClass what : kShownClasses)
    parts.push_back({std::string(words_of(what).name), by_class[size_t(what)]});
  parts.push_back({std::string(kFilteredOut), filtered_out_ns});
  uint64_t whole = 0;
  for (const TimePart& part : parts) whole += part.ns;
  return parts_words(whole, parts);
}

}  // namespace varve::view
