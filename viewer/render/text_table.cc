// SPDX-License-Identifier: MIT
// Lays out one table: formats every shown cell and finds the widths. Where the whole does not fit, names are
// elided, but not below a width at which they can be told apart; where that is not enough, columns that can
// be spared go first, in their order. Context: viewer.
#include "viewer/render/text_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "viewer/render/bars.h"
#include "viewer/render/cells.h"
#include "viewer/render/column_fit.h"
#include "viewer/render/tree_lines.h"

namespace varve::render {
namespace {

constexpr const char* kBold = "\x1b[1m";
constexpr const char* kDim = "\x1b[2m";
constexpr const char* kUnderline = "\x1b[4m";

/// One shown column: its heading, and its cells as text.
struct Shown {
  size_t column;
  bool left;  // text stands left, numbers right
  std::string title;
  std::vector<std::string> texts;
  size_t width = 0;
};

class Layout {
 public:
  Layout(const view::Table& table, const TextStyle& style) : table_(table), style_(style) {
    const TimeScale scale = common_scale(table);
    for (size_t j = 0; j < table.columns.size(); ++j) {
      if (!table.columns[j].title.empty()) shown_.push_back(numbers_and_names(j, scale));
    }
    last_ = shown_.empty() ? 0 : shown_.size() - 1;
    find_tree_lines();
    if (limited() && !shown_.empty()) fit();
  }

  bool folded() const {
    return std::any_of(lines_.begin(), lines_.end(),
                       [](const std::string& line) { return line.starts_with('+'); });
  }

  std::string text() const {
    std::string out = heading();
    for (size_t i = 0; i < table_.rows.size(); ++i) out += line(i);
    return out;
  }

 private:
  Shown numbers_and_names(size_t j, const TimeScale& scale) const {
    const view::Column& column = table_.columns[j];
    Shown shown{j, stands_left(column.unit), heading_text(column, scale), {}, 0};
    // Where the width is limited all names of a column take their short form, so that rows read alike.
    const bool narrow = column.narrow >= 0 && (limited() || table_.narrow_names);
    for (size_t i = 0; i < table_.rows.size(); ++i) {
      const view::Cell& cell = table_.row(i)[narrow ? size_t(column.narrow) : j];
      shown.texts.push_back(text_of(cell, column.unit, scale));
      shown.width = std::max(shown.width, display_width(shown.texts.back()));
    }
    shown.width = std::max(shown.width, shown.title.size());
    return shown;
  }

  std::string text_of(const view::Cell& cell, view::Unit unit, const TimeScale& scale) const {
    if (const auto* bar = std::get_if<view::Bar>(&cell)) return bar_text(*bar);
    const auto* text = std::get_if<std::string_view>(&cell);
    if (text == nullptr) return number_text(cell, unit, scale);
    return unit == view::Unit::kStrip ? strip_text(*text, style_) : escape(*text, style_.charset);
  }

  bool limited() const { return style_.width != 0; }

  void find_tree_lines() {
    if (shown_.empty() || !table_.columns[shown_[last_].column].tree) return;
    const size_t most_levels = limited() ? std::max<size_t>(2, style_.width / 12) : 40;
    lines_ = tree_lines(table_.rows, style_.charset, most_levels);
    Shown& tree = shown_[last_];
    for (size_t i = 0; i < lines_.size(); ++i)
      tree.width = std::max(tree.width, display_width(lines_[i]) + display_width(tree.texts[i]));
  }

  void fit() {
    std::vector<ColumnNeed> needs;
    for (size_t j = 0; j < shown_.size(); ++j) {
      const view::Column& column = table_.columns[shown_[j].column];
      const size_t width = shown_[j].width;
      const bool name = column.unit == view::Unit::kText;
      needs.push_back({width, name ? least_name(width, style_.width, j == last_, !lines_.empty()) : width,
                       column.spare, name});
    }
    const std::vector<size_t> widths = fit_columns(needs, style_.width);
    std::vector<Shown> standing;
    for (size_t j = 0; j < shown_.size(); ++j) {
      if (widths[j] == 0) continue;
      if (needs[j].elastic) elide(shown_[j], widths[j], j == last_);
      standing.push_back(std::move(shown_[j]));
    }
    shown_ = std::move(standing);
    last_ = shown_.size() - 1;
  }

  void elide(Shown& shown, size_t limit, bool last) {
    shown.title = elide_middle(shown.title, limit);
    shown.width = shown.title.size();
    for (size_t i = 0; i < shown.texts.size(); ++i) {
      const size_t taken = last && !lines_.empty() ? display_width(lines_[i]) : 0;
      shown.texts[i] = elide_cell(table_, shown.column, shown.texts[i], limit > taken ? limit - taken : 1);
      shown.width = std::max(shown.width, display_width(shown.texts[i]));
    }
  }

  std::string paint(std::string text, std::string_view with) const {
    return style_.color && !with.empty() ? fmt::format("{}{}{}", with, text, kReset) : text;
  }

  std::string heading() const {
    std::string out;
    for (size_t j = 0; j < shown_.size(); ++j) {
      const Shown& shown = shown_[j];
      if (j != 0) out += "  ";
      const std::string blanks(shown.width > shown.title.size() ? shown.width - shown.title.size() : 0, ' ');
      const std::string title = paint(shown.title, kUnderline);
      out += shown.left ? j == last_ ? title : title + blanks : blanks + title;
    }
    return out + "\n";
  }

  /// Bold from 5 %, and the hot path; colours are left to the bands. Sums and special rows stand back.
  std::string_view paint_of(const Shown& shown, size_t row) const {
    const view::Row& mark = table_.rows[row];
    if (mark.kind != view::RowKind::kOrdinary) return kDim;
    if (const auto* share = std::get_if<double>(&table_.row(row)[shown.column]))
      return *share >= 0.05 ? kBold : "";
    return mark.hot && shown.left ? kBold : "";
  }

  std::string line(size_t row) const {
    std::string out;
    for (size_t j = 0; j < shown_.size(); ++j) {
      const Shown& shown = shown_[j];
      if (j != 0) out += "  ";
      const std::string& text = shown.texts[row];
      const size_t width = display_width(text);
      const std::string blanks(shown.width > width ? shown.width - width : 0, ' ');
      const bool bar = table_.columns[shown.column].unit == view::Unit::kBar && style_.color;
      const std::string painted =
          bar ? painted_bar(text) : paint(text, text.empty() ? "" : paint_of(shown, row));
      if (j == last_) {
        out += shown.left ? (lines_.empty() ? "" : lines_[row]) + painted : blanks + painted;
      } else {
        out += shown.left ? painted + blanks : blanks + painted;
      }
    }
    while (!out.empty() && out.back() == ' ') out.pop_back();
    return out + "\n";
  }

  const view::Table& table_;
  const TextStyle& style_;
  std::vector<Shown> shown_;
  size_t last_ = 0;
  std::vector<std::string> lines_;
};

}  // namespace

TableText text_table(const view::Table& table, const TextStyle& style) {
  const Layout layout(table, style);
  return {layout.text(), layout.folded()};
}

}  // namespace varve::render
