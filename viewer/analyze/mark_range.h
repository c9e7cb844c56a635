// SPDX-License-Identifier: MIT
// --time mark:A..B: a part of the run between two moments that the program named by varve_mark(). Context:
// viewer.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "viewer/analyze/filter.h"
#include "viewer/load/profile.h"

namespace varve::analyze {

struct MarkRange {
  std::string from, to;  // names; empty: the begin, and the end, of the run

  bool given() const { return !from.empty() || !to.empty(); }
};

/// "A..B", "A.." or "..B". The first ".." parts the names. The error is the rest of a sentence.
tl::expected<MarkRange, std::string> parse_mark_range(std::string_view text);

/// Sets Filter::from to the first mark of the first name, and Filter::to to the next one after it of the
/// second, among the marks of processes that pass Filter::process. The error is a sentence, with the names
/// that there are.
tl::expected<void, std::string> resolve_marks(const load::Profile& profile, const MarkRange& range,
                                              Filter& filter);

}  // namespace varve::analyze
