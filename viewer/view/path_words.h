// SPDX-License-Identifier: MIT
// The words of the critical path: its classes, and the threads that are on it. Objects:
// analyze/object_names.h. Context: viewer.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "viewer/analyze/path_sums.h"
#include "viewer/view/request.h"

namespace varve::view {

/// The classes in the order in which they are shown: what is done first, then what delays.
inline constexpr std::array kShownClasses = {analyze::PathClass::kCruise, analyze::PathClass::kImpact,
                                             analyze::PathClass::kOverhead, analyze::PathClass::kBlocking,
                                             analyze::PathClass::kNotRecorded};

struct PathClassWords {
  std::string_view name;  // "Cruise"
  const char* column;     // "cruise_ns"
  char letter;            // in a strip
};
const PathClassWords& words_of(analyze::PathClass what);

/// Of Blocking that only the observer saw: "I/O", "lock".
std::string_view observed_words(WaitKind kind);

/// A thread's name, with its tid where others have the name too: there are many of one name.
class ThreadNames {
 public:
  explicit ThreadNames(const load::Profile& profile);
  std::string of(ThreadId thread) const;
  /// Beside `other`: its tid alone where the name is the same.
  std::string beside(ThreadId thread, ThreadId other) const;

 private:
  const load::Profile& profile_;
  std::vector<bool> shared_;  // by thread
};

struct TimePart {
  std::string name;
  uint64_t ns = 0;
};
/// "1.204 s = 0.800 s of this + 0.404 s of that": parts that are 0 are left out, and what is printed adds up.
/// The parts add up to `whole_ns`.
std::string parts_words(uint64_t whole_ns, const std::vector<TimePart>& parts);

/// Likewise of the classes: "1.204 s = 0.800 s Cruise + 0.404 s Impact".
std::string sum_words(std::span<const uint64_t> by_class, uint64_t filtered_out_ns);

}  // namespace varve::view
