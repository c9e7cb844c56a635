// SPDX-License-Identifier: MIT
// Who had what others waited for: a row for each thread and place of the program, for ways to one place would
// read alike. Context: viewer.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "viewer/analyze/wait_objects.h"
#include "viewer/view/wait_table.h"

namespace varve::view {

struct HolderRow {
  const analyze::WaitObject* object;
  analyze::Holder holder;          // of all paths with that place
  std::string place, short_place;  // empty where no stack is known
};

/// Of all the objects, by the time they caused, the largest first.
std::vector<HolderRow> holder_rows(const Source& source, std::span<const analyze::WaitObject> objects);

/// The table of them, also of objects that the list of waits has no row for; with what nobody caused, by its
/// reason, the rows add up to the waits that pass. Text has it only where somebody was seen.
Table holder_table(const ShownWaits& shown, std::span<const analyze::WaitObject> objects, View& view);

}  // namespace varve::view
