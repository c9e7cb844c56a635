// SPDX-License-Identifier: MIT
// The critical path in sums, as tables: by level, by function, by thread, by object. Context: viewer.
#pragma once

#include "viewer/view/path_list.h"

namespace varve::view {

/// Functions of the program by how much shorter the run could be without their CPU time.
Table path_gain_table(View& view, const ShownPath& shown);
Table path_level_table(View& view, const ShownPath& shown);
Table path_function_table(View& view, const ShownPath& shown);
Table path_thread_table(View& view, const ShownPath& shown);
/// Objects, then which thread delayed which by each.
void add_object_tables(View& view, const ShownPath& shown);

}  // namespace varve::view
