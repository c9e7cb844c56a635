// SPDX-License-Identifier: MIT
// Where a report's text goes: stdout, or a pager where stdout is a terminal and the text is longer than it.
// Context: viewer.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "viewer/render/escape.h"

namespace varve {

enum class ColorChoice { kAuto, kAlways, kNever };

/// Auto: a terminal that knows colours, and NO_COLOR is not set.
bool use_color(ColorChoice choice);

/// By the locale's character set.
render::Charset output_charset();

/// The pager is $VARVE_PAGER, else $PAGER, else "less -FRX"; "cat" or an empty one means none. The error is a
/// sentence: stdout could not take all of it. A reader that leaves early (head) is no error.
tl::expected<void, std::string> write_output(std::string_view text, bool may_page);

}  // namespace varve
