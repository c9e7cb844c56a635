// SPDX-License-Identifier: MIT
// The one way in which text from a profile, an ELF file or the command line reaches a terminal: control
// characters and bytes that are no UTF-8 become \x1b and the like, so that no name can move a cursor, change
// a title or break a row. Also the width of text in columns, and elision in the middle. Context: viewer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace varve::render {

/// What the output can show: a locale without UTF-8 gets ASCII, other characters as \u{...}.
enum class Charset { kUtf8, kAscii };

/// The first character of a text that is not empty. Where it is no UTF-8 (overlong forms, surrogates and
/// codes above 10FFFF are none, RFC 3629) it is one byte with code 0xFFFD.
struct Character {
  char32_t code = 0xfffd;
  size_t bytes = 1;
  bool valid = false;
};
Character next_character(std::string_view text);
void append_utf8(std::string& out, char32_t code);
/// Columns of one character. The C locale knows no wide characters; one column is then the best guess.
size_t character_width(char32_t code);

/// Control characters (C0, DEL, C1), direction overrides and invalid UTF-8 escaped. The text is one line
/// afterwards.
std::string escape(std::string_view text, Charset charset = Charset::kUtf8);

/// Columns that escaped text takes: wide characters two, combining ones none.
size_t display_width(std::string_view escaped);

/// Escaped text without what stands in its first `columns`; half of a wide character becomes a blank.
std::string skip_columns(std::string_view escaped, size_t columns);

/// Escaped text in at most `width` columns: the middle gives way to "..." so that both ends, where names
/// differ, are kept. No character is split.
std::string elide_middle(std::string_view escaped, size_t width);

}  // namespace varve::render
