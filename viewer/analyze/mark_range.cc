// SPDX-License-Identifier: MIT
// Ranges between marks. See mark_range.h.
// Context: viewer.
#include "viewer/analyze/mark_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "common/units.h"
#include "viewer/analyze/nearest_name.h"

namespace varve::analyze {
namespace {

constexpr size_t kMostNamed = 10;

std::string no_such_mark(std::string_view wanted, const std::vector<const load::Mark*>& marks) {
  if (marks.empty())
    return fmt::format("there is no mark '{}', and no other: programs make them with varve_mark(\"{}\")",
                       wanted, wanted);
  std::vector<std::string> names;  // in the order of the program
  std::set<std::string_view> known;
  for (const load::Mark* mark : marks)
    if (known.insert(mark->name).second) names.push_back(mark->name);
  const std::string_view near = nearest_name(wanted, names);
  const std::string hint = near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
  const size_t shown = std::min(names.size(), kMostNamed);
  const std::string more =
      names.size() > shown ? fmt::format(" and {} more", names.size() - shown) : std::string();
  names.resize(shown);
  return fmt::format("there is no mark '{}', but {}{}{}", wanted, fmt::join(names, ", "), more, hint);
}

using Marks = std::vector<const load::Mark*>;

/// Sets Filter::from and Filter::to.
tl::expected<void, std::string> find_ends(const load::Profile& profile, const Marks& marks,
                                          const MarkRange::Ends& ends, Filter& filter) {
  const auto find = [&marks](size_t first, std::string_view name) {
    while (first < marks.size() && marks[first]->name != name) ++first;
    return first;
  };
  const auto since_start = [&](size_t index) { return profile.since_start(marks[index]->time); };
  for (const std::string* name : {&ends.from, &ends.to})
    if (!name->empty() && find(0, *name) == marks.size()) return tl::unexpected(no_such_mark(*name, marks));
  size_t next = 0;
  if (!ends.from.empty()) {
    const size_t from = find(0, ends.from);
    filter.from = since_start(from);
    next = from + 1;
  }
  if (ends.to.empty()) return {};
  const size_t to = find(next, ends.to);
  if (to == marks.size())
    return tl::unexpected(fmt::format("no mark '{}' comes after the first '{}', at {:.3f} s", ends.to,
                                      ends.from, in_seconds(filter.from)));
  filter.to = since_start(to);
  return {};
}

}  // namespace

MarkRange MarkRange::and_also(const MarkRange& other) const {
  MarkRange both = *this;
  both.parts.insert(both.parts.end(), other.parts.begin(), other.parts.end());
  return both;
}

tl::expected<MarkRange, std::string> parse_mark_range(std::string_view text) {
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos || text.size() == 2)
    return tl::unexpected<std::string>(
        "is not a range between marks such as mark:A..B, mark:A.. or mark:..B");
  return MarkRange{{{std::string(text.substr(0, dots)), std::string(text.substr(dots + 2))}}};
}

tl::expected<void, std::string> resolve_marks(const load::Profile& profile, const MarkRange& range,
                                              Filter& filter) {
  Marks marks;
  for (const load::Mark& mark : profile.marks)
    if (process_passes(profile, mark.process, filter)) marks.push_back(&mark);
  for (const MarkRange::Ends& ends : range.parts) {
    Filter found;
    if (auto done = find_ends(profile, marks, ends, found); !done) return done;
    filter = filter.and_also(found);
    if (filter.from >= filter.to)
      return tl::unexpected<std::string>(
          filter.from == found.from && filter.to == found.to
              ? fmt::format("no moment is between the marks of mark:{}..{}", ends.from, ends.to)
              : "no moment is in all ranges of --time");
  }
  return {};
}

}  // namespace varve::analyze
