// SPDX-License-Identifier: MIT
// How a cell of the screen looks, by what it means. Which colour that is, is the terminal's and the saved
// screen's. The background is never painted, but where two bands of a bar meet in one cell. Context: viewer.
#pragma once

#include <cstdint>

namespace varve::tui {

/// Five bands in the order of analyze::Band, after what has no meaning; then a thread that is ready, one more
/// that only modules are told apart by, and keys.
enum class Ink : uint8_t { kDefault, kIdle, kPoor, kOk, kIdeal, kOver, kReady, kOther, kAccent };
inline constexpr int kInks = 9;

struct Style {
  Ink ink = Ink::kDefault;
  Ink ground = Ink::kDefault;
  bool bold = false;
  bool dim = false;
  bool underline = false;
  bool reverse = false;
  bool operator==(const Style&) const = default;
};

inline constexpr Style kPlain{};
inline constexpr Style kBold{.bold = true};
inline constexpr Style kDim{.dim = true};
inline constexpr Style kHeading{.underline = true};
inline constexpr Style kReverse{.reverse = true};

/// What the screen can show.
struct Look {
  bool color = true;
  bool utf8 = true;
};

}  // namespace varve::tui
