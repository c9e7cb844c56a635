// SPDX-License-Identifier: MIT
// Waits by what waited, not by what for: lists by function, by thread, by call path. Context: viewer.
#pragma once

#include "viewer/view/wait_table.h"

namespace varve::view {

/// Functions of the program: the innermost that is not the C or C++ library's.
Table wait_function_table(View& view, const ShownWaits& shown);
Table wait_thread_table(View& view, const ShownWaits& shown);
/// Whole stacks, of which those that differ only in lines are one.
Table wait_path_table(View& view, const ShownWaits& shown);

}  // namespace varve::view
