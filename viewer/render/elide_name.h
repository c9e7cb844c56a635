// SPDX-License-Identifier: MIT
// Names of functions in too few columns. What tells one function from another is its own name, which stands
// in the middle of "ns::Queue<int>::push(int const&)" and of "LazyCompile:*push /srv/queue.js:12:3"; so that
// stays longest, then the scope next to it, then what is behind. Template arguments become "<...>" and a
// return type "..." before any of these is cut. Context: viewer.
#pragma once

#include <string>
#include <string_view>

namespace varve::render {

/// An escaped name in at most `width` columns; no character is split. Names without scope and parameters are
/// elided in the middle.
std::string elide_name(std::string_view escaped, size_t width);

}  // namespace varve::render
