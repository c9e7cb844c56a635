// SPDX-License-Identifier: MIT
// TableWidget: a table of a view on a pane, with a cursor. It draws only the rows that are on the screen, so
// a million rows cost a key press nothing; widths are found once, when the table is set. Which rows are there
// and in which order is said by its owner: a list sorts them, a tree folds them. Context: viewer.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "viewer/analyze/filter.h"
#include "viewer/render/column_fit.h"
#include "viewer/render/numbers.h"
#include "viewer/tui/canvas.h"
#include "viewer/tui/keymap.h"
#include "viewer/tui/units.h"
#include "viewer/view/view.h"

namespace varve::tui {

class TableWidget {
 public:
  /// `table` outlives its being shown. All rows in their order; the cursor goes to the first.
  void set_table(const view::Table* table, Units units);
  void set_units(Units units);
  /// Gives tables with the same columns the same widths and units of time.
  static void align(std::span<TableWidget> widgets);
  /// Indices of rows; the cursor stays on its row if that is among them, else at its place.
  void set_rows(std::vector<uint32_t> rows);
  /// What stands before the name of the n-th row shown: branches of a tree.
  void set_prefixes(std::vector<std::string> prefixes) { prefixes_ = std::move(prefixes); }
  void set_sorted(std::optional<size_t> column) { sorted_ = column; }
  void set_match(const analyze::Pattern& pattern) { match_ = pattern; }
  void set_active(bool active) { active_ = active; }
  /// Rows that belong together with one elsewhere; they are drawn in bold.
  void mark(std::function<bool(uint32_t row)> marked) { marked_ = std::move(marked); }
  /// Draws the cursor in the middle next time, so that what is around it can be seen.
  void center() { centered_ = true; }

  const view::Table* table() const { return table_; }
  const std::vector<uint32_t>& rows() const { return rows_; }
  /// Of rows(); nothing where there are none.
  std::optional<uint32_t> selected() const;
  size_t cursor() const { return cursor_; }
  void select(uint32_t row);  // an index of the table; one that is not shown changes nothing
  void set_cursor(size_t place);

  /// Moves of the cursor and sideways; false: the action is something else.
  bool act(Action action);
  /// Heading and rows.
  void draw(Pane pane);
  /// On the pane last drawn: true if it hit the row that was selected already.
  bool click(Point at);
  /// The column of the table whose heading is there.
  std::optional<size_t> heading_at(Point at) const;
  /// To the next row shown that matches.
  bool search(const analyze::Pattern& pattern, Direction direction, bool again);
  /// Whether one of the texts of a row that are shown has a match.
  bool matches(const analyze::Pattern& pattern, uint32_t row) const;
  /// Undoes searches from now on; the table stays the same, but not its rows.
  std::function<void()> way_back();
  /// The name of a row, as it is drawn but whole.
  std::string name_of(uint32_t row) const;
  /// Columns that are numbers or text, for choosing one to sort by.
  const std::vector<size_t>& shown_columns() const { return columns_; }

 private:
  struct Place {
    size_t column;  // of the table
    size_t at, width;
  };

  void find_columns(const render::TimeScale& scale);
  size_t width_of(size_t column);
  std::vector<Place> places(size_t columns) const;
  size_t hidden(size_t index) const;
  size_t most_hidden() const;
  void draw_heading(Pane& pane) const;
  void draw_row(Pane& pane, size_t line, size_t place) const;
  void draw_cursor(Pane& pane, size_t line) const;
  void draw_cell(Pane& pane, size_t line, const Place& place, size_t index) const;
  void draw_name(Pane& pane, size_t line, const Place& place, size_t index, Style style) const;
  std::string text_of(uint32_t row, size_t column) const;
  Style style_of(const view::Cell& cell, const view::Row& row, size_t column) const;

  const view::Table* table_ = nullptr;
  Units units_ = Units::kAll;
  render::TimeScale scale_;
  std::vector<size_t> columns_;                // shown, by index of the table
  std::vector<render::ColumnNeed> needs_;      // of them
  std::vector<std::optional<size_t>> widths_;  // of the texts of each column of the table, where known
  std::vector<uint32_t> rows_;
  std::vector<std::string> prefixes_;
  std::vector<Place> places_;  // as last drawn
  std::optional<size_t> sorted_;
  analyze::Pattern match_;
  size_t cursor_ = 0, top_ = 0, lines_ = 1, scroll_ = 0;
  bool active_ = true, centered_ = false;
  std::function<bool(uint32_t)> marked_;
};

}  // namespace varve::tui
