// SPDX-License-Identifier: MIT
// The one way in which text from a profile, an ELF file or the command line reaches a terminal: control
// characters and bytes that are no UTF-8 become \x1b and the like, so that no name can move a cursor, change
// a title or break a row. Also the width of text in columns, and elision in the middle. Context: viewer.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace varve::render {

/// What the output can show: a locale without UTF-8 gets ASCII, other characters as \u{...}.
enum class Charset { kUtf8, kAscii };

/// Control characters (C0, DEL, C1), direction overrides and invalid UTF-8 escaped. The text is one line
/// afterwards.
std::string escape(std::string_view text, Charset charset = Charset::kUtf8);

/// Columns that escaped text takes: wide characters two, combining ones none.
size_t display_width(std::string_view escaped);

/// Escaped text in at most `width` columns: the middle gives way to "..." so that both ends, where names
/// differ, are kept. No character is split.
std::string elide_middle(std::string_view escaped, size_t width);

}  // namespace varve::render
