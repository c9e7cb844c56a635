// SPDX-License-Identifier: MIT
// --time mark:A..B: a part of the run between two moments that the program named by varve_mark(). Context:
// viewer.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "viewer/analyze/filter.h"
#include "viewer/load/profile.h"

namespace varve::analyze {

/// What is in all of these ranges, or none, which is the whole run.
struct MarkRange {
  struct Ends {
    std::string from, to;  // names; empty: the begin, and the end, of the run
  };
  std::vector<Ends> parts;

  bool given() const { return !parts.empty(); }
  /// The moments that both have.
  MarkRange and_also(const MarkRange& other) const;
};

/// "A..B", "A.." or "..B". The first ".." parts the names. The error is the rest of a sentence.
tl::expected<MarkRange, std::string> parse_mark_range(std::string_view text);

/// Leaves of Filter::from and Filter::to what is, in each range, between the first mark of the first name and
/// the next one after it of the second, among the marks of processes that pass Filter::process. The error is
/// a sentence, with the names that there are.
tl::expected<void, std::string> resolve_marks(const load::Profile& profile, const MarkRange& range,
                                              Filter& filter);

}  // namespace varve::analyze
