// SPDX-License-Identifier: MIT
// Escaping, width and elision of text, character by character.
// Context: viewer.
#include "viewer/render/escape.h"

#include <fmt/format.h>
#include <wchar.h>

#include <cstdint>

namespace varve::render {
namespace {

/// Characters that act on a terminal or reorder a line instead of showing something: C0, DEL, C1, line and
/// paragraph separators, direction marks, embeddings, overrides and isolates, the byte order mark.
bool acts(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c ||
         (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
}

/// Leaves out the first characters until those take `columns` of them, and the marks that combine with the
/// last. Returns how many columns those took.
size_t skip(std::string_view& escaped, size_t columns) {
  size_t skipped = 0;
  while (!escaped.empty()) {
    const Character each = next_character(escaped);
    const size_t width = character_width(each.code);
    if (skipped >= columns && (width > 0 || skipped == 0)) break;
    skipped += width;
    escaped.remove_prefix(each.bytes);
  }
  return skipped;
}

/// Where the first characters end that take at most `columns`.
size_t end_of_first(std::string_view escaped, size_t columns) {
  size_t at = 0;
  for (size_t used = 0; at < escaped.size();) {
    const Character each = next_character(escaped.substr(at));
    used += character_width(each.code);
    if (used > columns) break;
    at += each.bytes;
  }
  return at;
}

}  // namespace

Character next_character(std::string_view text) {
  const auto byte = [&](size_t i) { return uint8_t(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};
  char32_t code = lead & (0x7f >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  static constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {code, length, true};
}

void append_utf8(std::string& out, char32_t code) {
  const auto tail = [&](int shift) { out += char(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    out += char(code);
  } else if (code < 0x800) {
    out += char(0xc0 | code >> 6), tail(0);
  } else if (code < 0x10000) {
    out += char(0xe0 | code >> 12), tail(6), tail(0);
  } else {
    out += char(0xf0 | code >> 18), tail(12), tail(6), tail(0);
  }
}

size_t character_width(char32_t code) {
  if (code < 0x80) return 1;
  const int width = ::wcwidth(wchar_t(code));
  return width < 0 ? 1 : size_t(width);
}

std::string escape(std::string_view text, Charset charset) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character at = next_character(text);
    if (!at.valid) {
      out += fmt::format("\\x{:02x}", uint8_t(text[0]));
    } else if (acts(at.code)) {
      out += at.code < 0x80 ? fmt::format("\\x{:02x}", uint32_t(at.code))
                            : fmt::format("\\u{{{:x}}}", uint32_t(at.code));
    } else if (at.code >= 0x80 && charset == Charset::kAscii) {
      out += fmt::format("\\u{{{:x}}}", uint32_t(at.code));
    } else {
      out += text.substr(0, at.bytes);
    }
    text.remove_prefix(at.bytes);
  }
  return out;
}

size_t display_width(std::string_view escaped) {
  size_t width = 0;
  while (!escaped.empty()) {
    const Character at = next_character(escaped);
    width += character_width(at.code);
    escaped.remove_prefix(at.bytes);
  }
  return width;
}

std::string skip_columns(std::string_view escaped, size_t columns) {
  const size_t skipped = skip(escaped, columns);
  return std::string(skipped > columns ? skipped - columns : 0, ' ').append(escaped);
}

std::string elide_middle(std::string_view escaped, size_t width) {
  if (escaped.size() <= width) return std::string(escaped);
  const size_t whole = display_width(escaped);
  if (whole <= width) return std::string(escaped);
  const size_t dots = width < 4 ? (width > 0 ? 1 : 0) : 3;
  const size_t left_room = (width - dots + 1) / 2, right_room = width - dots - left_room;
  std::string_view last = escaped;
  skip(last, whole - right_room);
  return fmt::format("{}{}{}", escaped.substr(0, end_of_first(escaped, left_room)), std::string(dots, '.'),
                     last);
}

}  // namespace varve::render
