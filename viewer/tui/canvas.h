// SPDX-License-Identifier: MIT
// Canvas: a screen as cells. Screens draw on a Pane of it, which lets nothing outside of itself be touched;
// the terminal, a saved file and tests read it. It knows nothing of terminals. Context: viewer.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "viewer/tui/style.h"

namespace varve::tui {

struct Size {
  size_t rows = 24, columns = 80;
  bool operator==(const Size&) const = default;
};

struct Point {
  size_t row = 0, column = 0;
};

struct Cell {
  char32_t code = U' ';
  uint8_t width = 1;  // 2: it covers the next cell too; 0: covered by the one before
  Style style;
  bool operator==(const Cell&) const = default;
};

class Pane;

class Canvas {
 public:
  Canvas(Size size, Look look) : size_(size), look_(look), cells_(size.rows * size.columns) {}

  Size size() const { return size_; }
  const Look& look() const { return look_; }
  const Cell& at(size_t row, size_t column) const { return cells_[row * size_.columns + column]; }
  Cell& at(size_t row, size_t column) { return cells_[row * size_.columns + column]; }
  Pane whole();

  /// The rows without trailing blanks, each with a newline. With `colored`, attributes and colours are there
  /// as SGR sequences (ECMA-48).
  std::string text(bool colored = false) const;

 private:
  Size size_;
  Look look_;
  std::vector<Cell> cells_;
};

/// A rectangle of a canvas. Rows and columns count from its corner; what would be outside is not drawn.
class Pane {
 public:
  Pane(Canvas& canvas, Point corner, Size size) : canvas_(&canvas), corner_(corner), size_(size) {}

  size_t rows() const { return size_.rows; }
  size_t columns() const { return size_.columns; }
  Point corner() const { return corner_; }
  const Look& look() const { return canvas_->look(); }

  /// The part from `row` on, `rows` high or as high as there is room.
  Pane below(size_t row, size_t rows = SIZE_MAX) const;
  /// The part from `column` on, `columns` wide or as wide as there is room.
  Pane right_of(size_t column, size_t columns = SIZE_MAX) const;

  /// Draws text in which nothing acts on a terminal (render::escape) in at most `room` columns; a wide
  /// character that would be cut is left out. Returns the column after it.
  size_t put(size_t row, size_t column, std::string_view text, Style style = {}, size_t room = SIZE_MAX);
  /// The same, escaping first and eliding the middle of what is too long.
  size_t put_name(size_t row, size_t column, std::string_view name, size_t room, Style style = {});
  /// One character `count` times.
  void repeat(size_t row, size_t column, char32_t code, size_t count, Style style = {});
  /// Changes the look of a whole row, or of some columns of it.
  void restyle(size_t row, Style style, size_t column = 0, size_t columns = SIZE_MAX);

 private:
  void set(size_t row, size_t column, char32_t code, uint8_t width, Style style);

  Canvas* canvas_;
  Point corner_;
  Size size_;
};

}  // namespace varve::tui
