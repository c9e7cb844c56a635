// SPDX-License-Identifier: MIT
// See table_widget.h.
// Context: viewer.
#include "viewer/tui/table_widget.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "viewer/render/cells.h"
#include "viewer/tui/bars.h"
#include "viewer/tui/next_match.h"
#include "viewer/tui/scroll.h"

namespace varve::tui {
namespace {

constexpr size_t kScrollStep = 8;
constexpr size_t kWidestName = 400;       // what a column of names ever asks for
constexpr double kHot = 0.05;             // a share that stands out; colours are for bands
constexpr std::string_view kCut = "...";  // what is scrolled out at the left

constexpr char kBarTitle[] = "Utilization", kShortBarTitle[] = "Bands";
constexpr int kKeptLongest =
    9;                          // Column::spare of a bar: on a screen it says more than the column it sums up
constexpr int kOnlyLength = 3;  // but not of one that draws the length beside it: views spare it early

/// Bars grow with the screen: 12 columns at 80.
size_t bar_columns(size_t columns) { return std::clamp<size_t>(columns * 3 / 20, 8, 40); }

bool is_bar(const view::Column& column) { return column.unit == view::Unit::kBar; }

/// Whether the table has the same number as a share: "Self" and "Self%".
bool has_share(const view::Table& table, const view::Column& time) {
  return std::ranges::any_of(table.columns, [&](const view::Column& each) {
    return each.unit == view::Unit::kShare && each.title == time.title + "%";
  });
}

/// Whether the samples of a row are those of this time: of the self time where there is one.
bool is_sampled(const view::Table& table, const view::Column& time) {
  const bool self = std::ranges::any_of(table.columns, [](const auto& each) { return each.title == "Self"; });
  return self ? time.title == "Self" : has_share(table, time);
}

bool wanted(const view::Table& table, const view::Column& column, Units units) {
  if (column.title.empty()) return units == Units::kSamples && column.id == "samples";
  const bool time = column.unit == view::Unit::kTime, share = column.unit == view::Unit::kShare;
  if (units == Units::kShare) return !time || !has_share(table, column);
  if (units == Units::kTime) return !share;
  return units == Units::kAll || (!share && !(time && is_sampled(table, column)));
}

}  // namespace

void TableWidget::set_table(const view::Table* table, Units units) {
  table_ = table;
  units_ = units;
  rows_.resize(table == nullptr ? 0 : table->rows.size());
  std::iota(rows_.begin(), rows_.end(), 0u);
  prefixes_.clear();
  marked_ = {};
  cursor_ = top_ = scroll_ = 0;
  widths_.clear();
  places_.clear();
  find_columns(table == nullptr ? scale_ : render::common_scale(*table));
}

void TableWidget::set_units(Units units) {
  units_ = units;
  if (table_ != nullptr) find_columns(scale_);
}

void TableWidget::find_columns(const render::TimeScale& scale) {
  columns_.clear();
  needs_.clear();
  if (table_ == nullptr) return;
  if (scale.nanos != scale_.nanos || scale.decimals != scale_.decimals) widths_.clear();
  scale_ = scale;
  widths_.resize(table_->columns.size());
  const bool own_samples =
      std::ranges::any_of(table_->columns, [](const view::Column& each) { return each.title == "Samples"; });
  for (size_t j = 0; j < table_->columns.size(); ++j) {
    const view::Column& column = table_->columns[j];
    if (!wanted(*table_, column, units_) || (column.title.empty() && own_samples)) continue;
    render::ColumnNeed need{render::heading_text(column, scale_).size(), 0, column.spare,
                            column.unit == view::Unit::kText};
    // The column that units were chosen for is not spared.
    if (units_ == Units::kSamples && column.unit == view::Unit::kCount) need.spare = 0;
    need.width = std::max(need.width, width_of(j));
    columns_.push_back(j);
    needs_.push_back(need);
  }
  // Numbers stand left of names, also one that only scripts see else.
  const auto names =
      std::ranges::find_if(columns_, [&](size_t j) { return render::stands_left(table_->columns[j].unit); });
  if (names != columns_.end() && table_->columns[columns_.back()].title.empty()) {
    std::rotate(needs_.begin() + (names - columns_.begin()), needs_.end() - 1, needs_.end());
    std::rotate(names, columns_.end() - 1, columns_.end());
  }
}

/// Of the widest text of a column; found once, for it takes all rows.
size_t TableWidget::width_of(size_t column) {
  std::optional<size_t>& known = widths_[column];
  if (known) return *known;
  size_t width = 0;
  for (size_t i = 0; i < table_->rows.size() && !is_bar(table_->columns[column]); ++i)
    width = std::max(width, std::min(kWidestName, render::display_width(text_of(uint32_t(i), column))));
  known = width;
  return width;
}

void TableWidget::align(std::span<TableWidget> widgets) {
  std::vector<render::ColumnNeed> widest;
  uint64_t largest = 0;
  for (const TableWidget& each : widgets)
    if (each.table_ != nullptr) largest = std::max(largest, render::largest_time(*each.table_));
  for (TableWidget& each : widgets) {
    if (each.table_ == nullptr) continue;
    each.find_columns(render::time_scale(largest));
    if (widest.empty()) widest = each.needs_;
    for (size_t j = 0; j < std::min(widest.size(), each.needs_.size()); ++j)
      widest[j].width = std::max(widest[j].width, each.needs_[j].width);
  }
  for (TableWidget& each : widgets)
    if (each.needs_.size() == widest.size()) each.needs_ = widest;
}

void TableWidget::set_rows(std::vector<uint32_t> rows) {
  const auto before = selected();
  rows_ = std::move(rows);
  cursor_ = std::min(cursor_, rows_.empty() ? 0 : rows_.size() - 1);
  if (before) select(*before);
}

std::optional<uint32_t> TableWidget::selected() const {
  if (cursor_ >= rows_.size()) return std::nullopt;
  return rows_[cursor_];
}

void TableWidget::select(uint32_t row) {
  const auto at = std::ranges::find(rows_, row);
  if (at != rows_.end()) cursor_ = size_t(at - rows_.begin());
}

void TableWidget::set_cursor(size_t place) {
  cursor_ = rows_.empty() ? 0 : std::min(place, rows_.size() - 1);
}

bool TableWidget::act(Action action) {
  if (scroll(action, lines_, rows_.size(), cursor_)) return true;
  if (action == Action::kLeft) scroll_ -= std::min(scroll_, kScrollStep);
  if (action == Action::kRight) scroll_ += kScrollStep;  // draw() knows how far that may be
  return action == Action::kLeft || action == Action::kRight;
}

std::vector<TableWidget::Place> TableWidget::places(size_t columns) const {
  std::vector<render::ColumnNeed> needs = needs_;
  for (size_t j = 0; j < needs.size(); ++j) {
    const view::Column& column = table_->columns[columns_[j]];
    const bool last = j + 1 == needs.size();
    if (is_bar(column)) needs[j].width = bar_columns(columns);
    if (is_bar(column) && needs[j].spare > kOnlyLength) needs[j].spare = kKeptLongest;
    if (last && column.tree) needs[j].width += 2 * columns;  // branches need what there is
    needs[j].least =
        needs[j].elastic
            ? std::min(columns / 2, render::least_name(needs[j].width, columns, last, column.tree))
            : needs[j].width;
  }
  const std::vector<size_t> widths = render::fit_columns(needs, columns);
  std::vector<Place> result;
  size_t at = 0;
  for (size_t j = 0; j < widths.size(); ++j) {
    if (widths[j] == 0) continue;
    result.push_back({columns_[j], at, widths[j]});
    at += widths[j] + render::kColumnGap;
  }
  return result;
}

void TableWidget::draw(Pane pane) {
  if (table_ == nullptr || pane.rows() == 0) return;
  places_ = places(pane.columns());
  draw_heading(pane);
  lines_ = pane.rows() - 1;
  if (std::exchange(centered_, false)) top_ = cursor_ - std::min(cursor_, lines_ / 2);
  top_ = std::min(top_, cursor_);
  if (lines_ > 0 && cursor_ >= top_ + lines_) top_ = cursor_ - lines_ + 1;
  // After a resize or with fewer rows no line stays empty while rows are above.
  if (top_ + lines_ > rows_.size()) top_ = rows_.size() > lines_ ? rows_.size() - lines_ : 0;
  if (scroll_ > 0) scroll_ = std::min(scroll_, most_hidden());
  for (size_t i = 0; i < lines_ && top_ + i < rows_.size(); ++i) draw_row(pane, 1 + i, top_ + i);
  if (rows_.empty())
    pane.put_name(1, 0, table_->rows.empty() ? table_->empty : "No row matches.", pane.columns(), kDim);
}

void TableWidget::draw_heading(Pane& pane) const {
  for (const Place& place : places_) {
    const view::Column& column = table_->columns[place.column];
    const std::string title = column.title.empty() ? "Samples"
                              : is_bar(column)
                                  ? (place.width < sizeof kBarTitle - 1 ? kShortBarTitle : kBarTitle)
                                  : render::heading_text(column, scale_);
    const bool left = render::stands_left(column.unit);
    const size_t blanks = left || title.size() >= place.width ? 0 : place.width - title.size();
    const bool sorted = sorted_ == place.column;
    pane.put_name(0, place.at + blanks, title, place.width,
                  {.bold = sorted, .underline = !sorted, .reverse = sorted});
  }
}

void TableWidget::draw_row(Pane& pane, size_t line, size_t index) const {
  for (const Place& place : places_) draw_cell(pane, line, place, index);
  if (marked_ && marked_(rows_[index])) pane.restyle(line, kBold);
  if (index == cursor_) draw_cursor(pane, line);
}

/// Over all of the row but its bars, where colours would be lost: the selected row is the one looked at.
void TableWidget::draw_cursor(Pane& pane, size_t line) const {
  pane.restyle(line, active_ ? kReverse : kHeading);
  if (!pane.look().color) return;
  for (const Place& place : places_) {
    if (!is_bar(table_->columns[place.column])) continue;
    pane.restyle(line, kPlain, place.at, place.width);
    draw_cell(pane, line, place, cursor_);
  }
}

void TableWidget::draw_cell(Pane& pane, size_t line, const Place& place, size_t index) const {
  const uint32_t row = rows_[index];
  const view::Column& column = table_->columns[place.column];
  const view::Cell& cell = table_->row(row)[place.column];
  if (const auto* bar = std::get_if<view::Bar>(&cell))
    return draw_bar(pane, line, place.at, place.width, *bar);
  const Style style = style_of(cell, table_->rows[row], place.column);
  if (column.unit == view::Unit::kText) return draw_name(pane, line, place, index, style);
  if (column.unit == view::Unit::kStrip) {
    pane.put(line, place.at, text_of(row, place.column), style, place.width);
    return;
  }
  const std::string text = render::number_text(cell, column.unit, scale_);
  pane.put(line, place.at + place.width - std::min(place.width, text.size()), text, style, place.width);
}

/// Columns of a row's name that its place has no room for.
size_t TableWidget::hidden(size_t index) const {
  if (places_.empty() || table_->columns[places_.back().column].unit != view::Unit::kText) return 0;
  const Place& place = places_.back();
  const size_t before = index < prefixes_.size() ? render::display_width(prefixes_[index]) : 0;
  const size_t width = before + render::display_width(text_of(rows_[index], place.column));
  return width - std::min(width, place.width);
}

/// Of the rows that are shown.
size_t TableWidget::most_hidden() const {
  size_t most = 0;
  for (size_t i = 0; i < lines_ && top_ + i < rows_.size(); ++i) most = std::max(most, hidden(top_ + i));
  return most;
}

void TableWidget::draw_name(Pane& pane, size_t line, const Place& place, size_t index, Style style) const {
  size_t at = place.at, room = place.width;
  const bool last = place.column == columns_.back();
  if (last && index < prefixes_.size()) {
    const size_t end = pane.put(line, at, prefixes_[index], kDim, room);
    room -= end - at;
    at = end;
  }
  const std::string text = text_of(rows_[index], place.column);
  if (last && match_.given() && matches(match_, rows_[index])) style.underline = true;
  // Each name moves only until its end is seen.
  const size_t cut = last && scroll_ > 0 ? std::min(scroll_, hidden(index)) : 0;
  pane.put(line, at,
           cut > 0 ? std::string(kCut) + render::skip_columns(text, cut + kCut.size())
                   : render::elide_cell(*table_, place.column, text, room),
           style, room);
}

std::string TableWidget::text_of(uint32_t row, size_t j) const {
  const view::Column& column = table_->columns[j];
  // Names stand in short; the line below the table has the selected one in full.
  const view::Cell& cell = table_->row(row)[column.narrow >= 0 ? size_t(column.narrow) : j];
  const auto* text = std::get_if<std::string_view>(&cell);
  return text == nullptr ? render::number_text(cell, column.unit, scale_) : render::escape(*text);
}

Style TableWidget::style_of(const view::Cell& cell, const view::Row& row, size_t column) const {
  if (row.kind != view::RowKind::kOrdinary) return kDim;
  if (table_->columns[column].unit == view::Unit::kShare)
    if (const auto* share = std::get_if<double>(&cell)) return {.bold = *share >= kHot};
  return {.bold = row.hot && column == columns_.back()};
}

bool TableWidget::click(Point at) {
  if (at.row == 0 || at.row > lines_ || top_ + at.row - 1 >= rows_.size()) return false;
  const size_t hit = top_ + at.row - 1;
  const bool again = hit == cursor_;
  cursor_ = hit;
  return again;
}

std::optional<size_t> TableWidget::heading_at(Point at) const {
  if (at.row != 0) return std::nullopt;
  for (const Place& place : places_)
    if (at.column >= place.at && at.column < place.at + place.width) return place.column;
  return std::nullopt;
}

std::string TableWidget::name_of(uint32_t row) const {
  if (columns_.empty()) return {};
  const auto* text = std::get_if<std::string_view>(&table_->row(row)[columns_.back()]);
  return text == nullptr ? text_of(row, columns_.back()) : std::string(*text);
}

bool TableWidget::matches(const analyze::Pattern& pattern, uint32_t row) const {
  return std::ranges::any_of(columns_, [&](size_t column) {
    const auto* text = std::get_if<std::string_view>(&table_->row(row)[column]);
    return text != nullptr && pattern.matches(*text);
  });
}

bool TableWidget::search(const analyze::Pattern& pattern, Direction direction, bool again) {
  const auto fits = [&](size_t at) { return matches(pattern, rows_[at]); };
  const auto found = next_match(rows_.size(), cursor_, direction, again, fits);
  if (found) cursor_ = *found;
  return found.has_value();
}

std::function<void()> TableWidget::way_back() {
  return [this, row = selected(), top = top_, match = match_] {
    match_ = match;
    if (row) select(*row);
    top_ = top;
    centered_ = false;
  };
}

}  // namespace varve::tui
