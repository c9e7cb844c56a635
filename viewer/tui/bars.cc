// SPDX-License-Identifier: MIT
// See bars.h.
// Context: viewer.
#include "viewer/tui/bars.h"

#include <algorithm>
#include <cmath>

#include "viewer/render/bars.h"
#include "viewer/view/band_words.h"

namespace varve::tui {
namespace {

constexpr size_t kEighths = 8;
constexpr char32_t kFullBlock = U'█';

/// U+2588 is a full block; each code after it is an eighth narrower.
char32_t block(size_t eighths) { return kFullBlock + char32_t(kEighths - eighths); }

/// Where each band ends, in eighths of a cell.
std::array<size_t, analyze::kBands> ends_of(const view::Bar& bar, size_t columns) {
  std::array<size_t, analyze::kBands> ends{};
  double filled = 0;
  for (size_t band = 0; band < ends.size(); ++band) {
    filled += bar.parts[band];
    ends[band] = size_t(std::lround(std::clamp(filled, 0.0, 1.0) * double(columns * kEighths)));
  }
  return ends;
}

void draw_blocks(Pane& pane, size_t row, size_t column, size_t columns, const view::Bar& bar) {
  const auto ends = ends_of(bar, columns);
  // The band of an eighth, or none behind the end.
  const auto band_at = [&](size_t eighth) {
    return size_t(std::ranges::upper_bound(ends, eighth) - ends.begin());
  };
  const auto ink_of = [](size_t band) {
    return band < analyze::kBands ? band_ink(analyze::Band(band)) : Ink::kDefault;
  };
  for (size_t i = 0; i < columns; ++i) {
    const size_t from = i * kEighths, first = band_at(from);
    if (first == ends.size()) break;
    // At a seam the first band is drawn and the next one is the background: no gap appears.
    const size_t until = std::min(ends[first], from + kEighths);
    const size_t next = until < from + kEighths ? band_at(until) : ends.size();
    pane.repeat(row, column + i, block(until - from), 1, Style{.ink = ink_of(first), .ground = ink_of(next)});
  }
}

}  // namespace

Ink band_ink(analyze::Band band) { return Ink(size_t(Ink::kIdle) + size_t(band)); }

void draw_bar(Pane& pane, size_t row, size_t column, size_t columns, const view::Bar& bar) {
  if (pane.look().color && pane.look().utf8) return draw_blocks(pane, row, column, columns, bar);
  for (const char letter : render::bar_text(bar, columns)) {
    const auto band = render::band_of(letter);
    pane.repeat(row, column++, char32_t(letter), 1, Style{.ink = band ? band_ink(*band) : Ink::kDefault});
  }
}

size_t draw_band_legend(Pane& pane, size_t row, size_t column) {
  for (const analyze::Band band :
       {analyze::Band::kPoor, analyze::Band::kOk, analyze::Band::kIdeal, analyze::Band::kOver}) {
    const char letter = render::band_letter(band);
    const bool block = pane.look().color && pane.look().utf8;
    pane.repeat(row, column, block ? kFullBlock : char32_t(letter), 1, Style{.ink = band_ink(band)});
    column = pane.put(row, column + 1, view::band_name(band)) + 1;
  }
  return column;
}

}  // namespace varve::tui
