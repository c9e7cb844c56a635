// SPDX-License-Identifier: MIT
// Stacked bars of bands and strips of states, as text. Without colour each band has a glyph of its own:
// '-' Poor, '=' Ok, '#' Ideal, '!' Over. Context: viewer.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "viewer/render/render.h"
#include "viewer/view/view.h"

namespace varve::render {

/// Ends every colour and style.
inline constexpr const char* kReset = "\x1b[0m";

/// As many columns as a full bar has. The widths of its parts are rounded so that they add up.
inline constexpr size_t kBarColumns = 16;
std::string bar_text(const view::Bar& bar, size_t columns = kBarColumns);
char band_letter(analyze::Band band);
std::optional<analyze::Band> band_of(char letter);
/// The same text with the colours of its bands.
std::string painted_bar(std::string_view bar);

/// The letters of a strip, as they are or as blocks where the terminal has them.
std::string strip_text(std::string_view letters, const TextStyle& style);

}  // namespace varve::render
