// SPDX-License-Identifier: MIT
// Lays out one table: formats every shown cell, finds the widths, and gives what is left to the last name.
// Where that is too little, columns that can be spared go, in their order. Context: viewer.
#include "viewer/render/text_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "viewer/render/numbers.h"
#include "viewer/render/tree_lines.h"

namespace varve::render {
namespace {

constexpr size_t kLeastName = 24;  // columns a name should have before a spare column gives way
constexpr size_t kMostName = 40;   // of a name that is not the last column, where the width is limited

constexpr const char* kReset = "\x1b[0m";
constexpr const char* kBold = "\x1b[1m";
constexpr const char* kDim = "\x1b[2m";
constexpr const char* kUnderline = "\x1b[4m";
constexpr const char* kRed = "\x1b[31m";
constexpr const char* kGreen = "\x1b[32m";

/// One shown column: its heading, and its cells as text.
struct Shown {
  size_t column;
  bool left;  // text stands left, numbers right
  std::string title;
  std::vector<std::string> texts;
  size_t width = 0;
};

uint64_t largest(const view::Table& table, size_t column) {
  uint64_t most = 0;
  for (size_t i = 0; i < table.rows.size(); ++i) {
    if (const auto* number = std::get_if<uint64_t>(&table.row(i)[column])) most = std::max(most, *number);
  }
  return most;
}

/// All times of a table in one unit, so that columns can be compared.
TimeScale common_scale(const view::Table& table) {
  uint64_t most = 0;
  for (size_t j = 0; j < table.columns.size(); ++j) {
    const view::Column& column = table.columns[j];
    if (!column.title.empty() && column.unit == view::Unit::kTime) most = std::max(most, largest(table, j));
  }
  return time_scale(most);
}

std::string number_text(const view::Cell& cell, view::Unit unit, const TimeScale& scale) {
  if (const auto* share = std::get_if<double>(&cell)) return percent(*share);
  const auto* number = std::get_if<uint64_t>(&cell);
  if (number == nullptr) return "";
  if (unit == view::Unit::kTime) return time_number(*number, scale);
  if (unit == view::Unit::kBytes) return bytes_text(*number);
  if (unit == view::Unit::kFlag) return *number != 0 ? "yes" : "no";
  return fmt::format("{}", *number);
}

class Layout {
 public:
  Layout(const view::Table& table, const TextStyle& style) : table_(table), style_(style) {
    const TimeScale scale = common_scale(table);
    for (size_t j = 0; j < table.columns.size(); ++j) {
      if (!table.columns[j].title.empty()) shown_.push_back(numbers_and_names(j, scale));
    }
    last_ = shown_.empty() ? 0 : shown_.size() - 1;
    find_tree_lines();
    spare();
    fit();
  }

  std::string text() const {
    std::string out = heading();
    for (size_t i = 0; i < table_.rows.size(); ++i) out += line(i);
    return out;
  }

 private:
  Shown numbers_and_names(size_t j, const TimeScale& scale) const {
    const view::Column& column = table_.columns[j];
    Shown shown{j, column.unit == view::Unit::kText, column.title, {}, 0};
    if (column.unit == view::Unit::kTime) shown.title += fmt::format(" {}", scale.unit);
    for (size_t i = 0; i < table_.rows.size(); ++i) {
      const view::Cell& cell = table_.row(i)[j];
      const auto* name = std::get_if<std::string_view>(&cell);
      shown.texts.push_back(name != nullptr ? escape(*name, style_.charset)
                                            : number_text(cell, column.unit, scale));
      shown.width = std::max(shown.width, display_width(shown.texts.back()));
    }
    shown.width = std::max(shown.width, shown.title.size());
    return shown;
  }

  bool limited() const { return style_.width != 0; }

  /// Columns beside the last one, and the gaps.
  size_t used() const {
    size_t sum = 0;
    for (size_t j = 0; j < last_; ++j) sum += std::min(shown_[j].width, most(j)) + 2;
    return sum;
  }
  size_t room() const { return style_.width > used() ? style_.width - used() : 1; }

  /// A name left of the last column gets at most a sixth of the line, for its tail says as much as its
  /// length.
  size_t most(size_t j) const {
    if (!limited() || !shown_[j].left) return SIZE_MAX;
    return std::clamp(style_.width / 6, size_t(10), kMostName);
  }

  void find_tree_lines() {
    if (shown_.empty() || !table_.columns[shown_[last_].column].tree) return;
    const size_t most_levels = limited() ? std::max<size_t>(2, style_.width / 12) : 40;
    lines_ = tree_lines(table_.rows, style_.charset, most_levels);
  }

  void spare() {
    for (int order = 1; limited() && order < 10; ++order) {
      if (room() >= kLeastName) return;
      for (size_t j = 0; j < last_; ++j) {
        if (table_.columns[shown_[j].column].spare != order) continue;
        shown_.erase(shown_.begin() + ptrdiff_t(j--));
        --last_;
      }
    }
  }

  /// Where the width is limited all names of a column take their short form, so that rows read alike, and are
  /// elided if that is still too long.
  void fit() {
    for (size_t j = 0; (limited() || table_.narrow_names) && j < shown_.size(); ++j) {
      Shown& shown = shown_[j];
      if (!shown.left) continue;
      const int narrow = table_.columns[shown.column].narrow;
      size_t widest = shown.title.size();
      for (size_t i = 0; i < shown.texts.size(); ++i) {
        const size_t taken = j == last_ && !lines_.empty() ? display_width(lines_[i]) : 0;
        const size_t limit = j != last_ || !limited() ? most(j) : room() - std::min(room() - 1, taken);
        if (narrow >= 0) {
          const auto* name = std::get_if<std::string_view>(&table_.row(i)[size_t(narrow)]);
          if (name != nullptr) shown.texts[i] = escape(*name, style_.charset);
        }
        shown.texts[i] = elide_middle(shown.texts[i], limit);
        widest = std::max(widest, display_width(shown.texts[i]));
      }
      shown.width = widest;
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

  /// perf's convention: red from 5 %, green from 0.5 %; sums and special rows stand back; the hot path is
  /// bold.
  std::string_view paint_of(const Shown& shown, size_t row) const {
    const view::Row& mark = table_.rows[row];
    if (mark.kind != view::RowKind::kOrdinary) return kDim;
    if (const auto* share = std::get_if<double>(&table_.row(row)[shown.column])) {
      return *share >= 0.05 ? kRed : *share >= 0.005 ? kGreen : "";
    }
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
      const std::string painted = paint(text, text.empty() ? "" : paint_of(shown, row));
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

std::string text_table(const view::Table& table, const TextStyle& style) {
  return Layout(table, style).text();
}

std::string cell_text(const view::Cell& cell, view::Unit unit, Charset charset) {
  if (const auto* name = std::get_if<std::string_view>(&cell)) return escape(*name, charset);
  if (const auto* number = std::get_if<uint64_t>(&cell); number != nullptr && unit == view::Unit::kTime) {
    return time_text(*number);
  }
  if (std::holds_alternative<double>(cell)) return number_text(cell, unit, {}) + "%";
  return number_text(cell, unit, {});
}

}  // namespace varve::render
