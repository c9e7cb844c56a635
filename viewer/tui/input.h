// SPDX-License-Identifier: MIT
// Input: what a user does, as the terminal or a script tells it. Context: viewer.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "viewer/tui/canvas.h"

namespace varve::tui {

/// A key: the character it types, a control character, or one of those below, which are no characters.
using Key = char32_t;
namespace key {
inline constexpr Key kEnter = '\r', kEscape = 27, kTab = '\t', kBackspace = 127;
inline constexpr Key kUp = 0x110000, kDown = kUp + 1, kLeft = kUp + 2, kRight = kUp + 3, kPageUp = kUp + 4,
                     kPageDown = kUp + 5, kHome = kUp + 6, kEnd = kUp + 7, kBackTab = kUp + 8,
                     kDelete = kUp + 9, kF1 = kUp + 10;
/// The key of a letter with Control held: 'U' -> 21.
constexpr Key control(char letter) { return Key(letter & 0x1f); }
}  // namespace key

struct Input {
  enum class Kind : uint8_t { kKey, kClick, kDoubleClick, kWheelUp, kWheelDown, kResize, kQuit, kNothing };
  Kind kind = Kind::kNothing;
  Key key = 0;
  Point at;   // of the mouse
  Size size;  // after a resize
};

/// "Up", "^U", "j": as help shows it.
std::string key_name(Key key);

/// Characters stand for themselves; <Down>, <Enter>, <C-d>, <lt>, <Click 3,10>, <DoubleClick 3,10>,
/// <WheelUp 3,10>, <WheelDown 3,10> and <Resize 120x40> for the rest (row, column from 1; columns x rows).
/// The error is the rest of a sentence.
tl::expected<std::vector<Input>, std::string> parse_script(std::string_view script);

/// "120x40": columns x rows; the error is the rest of a sentence.
tl::expected<Size, std::string> parse_size(std::string_view text);

}  // namespace varve::tui
