// SPDX-License-Identifier: MIT
// Marks and pauses in words, as strips of a timeline and as data. Context: viewer.
#pragma once

#include <string>
#include <vector>

#include "viewer/analyze/timeline.h"
#include "viewer/load/profile.h"
#include "viewer/view/request.h"
#include "viewer/view/view.h"

namespace varve::view {

/// "Paused from 1.200 s to 3.400 s.", for the run and for processes that paused themselves; none without
/// pauses.
std::vector<std::string> pause_sentences(const load::Profile& profile);

using Marks = std::vector<const load::Mark*>;
/// Those of processes that pass the filter, within its time.
Marks marks_that_pass(const load::Profile& profile, const analyze::Filter& filter);

/// "Marks: load at 0.120 s, solve at 2.004 s.", and how many more there are; empty without marks.
std::string mark_sentence(const load::Profile& profile, const Marks& marks);

/// A letter a slice: '|' a mark, '+' several.
std::string mark_strip(const analyze::Timeline& line, const Marks& marks);
/// A letter a slice: '=' where the run, or a process, was paused for some of it.
std::string pause_strip(const analyze::Timeline& line, const load::Profile& profile);

/// For JSON. Times are since the start of the run; a pause without a pid was the whole run's.
Table mark_table(const load::Profile& profile, const Marks& marks);
Table pause_table(const load::Profile& profile);

}  // namespace varve::view
