// SPDX-License-Identifier: MIT
// See bars.h.
// Context: viewer.
#include "viewer/render/bars.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace varve::render {
namespace {

struct BandLook {
  char glyph;
  const char* color;
};
/// By analyze::Band.
constexpr std::array<BandLook, analyze::kBands> kLooks = {{
    {'.', "\x1b[90m"},  // Idle
    {'-', "\x1b[31m"},  // Poor
    {'=', "\x1b[33m"},  // Ok
    {'#', "\x1b[32m"},  // Ideal
    {'!', "\x1b[34m"},  // Over
}};

struct StripLook {
  char letter;
  const char* utf8;
};
constexpr StripLook kStripLooks[] = {{'R', "█"}, {'r', "▒"}, {'-', "·"}};

}  // namespace

char band_letter(analyze::Band band) { return kLooks[size_t(band)].glyph; }

std::optional<analyze::Band> band_of(char letter) {
  for (size_t band = 0; band < kLooks.size(); ++band)
    if (kLooks[band].glyph == letter) return analyze::Band(band);
  return std::nullopt;
}

std::string bar_text(const view::Bar& bar, size_t columns) {
  std::string text;
  double filled = 0;
  size_t done = 0;
  for (size_t band = 0; band < bar.parts.size(); ++band) {
    filled += bar.parts[band];
    const auto until = size_t(std::lround(std::min(filled, 1.0) * double(columns)));
    if (until <= done) continue;
    text.append(until - done, kLooks[band].glyph);
    done = until;
  }
  return text;
}

std::string painted_bar(std::string_view bar) {
  std::string text;
  for (size_t at = 0; at < bar.size();) {
    const size_t end = std::min(bar.find_first_not_of(bar[at], at), bar.size());
    for (const BandLook& look : kLooks)
      if (look.glyph == bar[at]) text += look.color;
    text += bar.substr(at, end - at);
    text += kReset;
    at = end;
  }
  return text;
}

std::string strip_text(std::string_view letters, const TextStyle& style) {
  std::string text;
  for (const char letter : letters) {
    const char* block = nullptr;
    for (const StripLook& look : kStripLooks)
      if (style.charset == Charset::kUtf8 && look.letter == letter) block = look.utf8;
    if (block != nullptr)
      text += block;
    else
      text += letter >= ' ' && letter <= '~' ? letter : '?';
  }
  return text;
}

}  // namespace varve::render
