// SPDX-License-Identifier: MIT
// See summary_screen.h.
// Context: viewer.
#include "viewer/tui/summary_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "viewer/render/cells.h"
#include "viewer/render/wrap.h"
#include "viewer/tui/bars.h"
#include "viewer/tui/row_words.h"
#include "viewer/view/band_words.h"

namespace varve::tui {
namespace {

constexpr size_t kLeastHotspots = 6;  // rows of the list, with its heading, on the smallest screen
constexpr size_t kLeastLevels = 3;    // a heading, a level, and what the others are
constexpr size_t kEachClass = 6;      // a heading and a level of each class
constexpr size_t kLabels = 10;        // columns of the labels of facts

/// In the order of the screen; other facts of the summary are in other views.
constexpr const char* kFacts[] = {"Command", "End", "CPU time", "Cores", "Waits", "Samples", "Quality"};

/// Of each class the level with the most time, then those of the rest, in the order of levels: a class that
/// is not seen would be one that is not there.
std::vector<uint32_t> largest_levels(const view::Table& table, size_t most) {
  std::vector<uint32_t> rows(table.rows.size());
  std::iota(rows.begin(), rows.end(), 0u);
  if (rows.size() <= most) return rows;
  const auto time = [&](uint32_t row) { return number_of(table, row, "elapsed_ns"); };
  std::ranges::stable_sort(rows, std::greater<>(), time);
  std::set<std::string> seen;
  std::stable_partition(rows.begin(), rows.end(), [&](uint32_t row) {
    return time(row) != 0 && seen.insert(cell_of(table, row, "class")).second;
  });
  rows.resize(most);
  std::ranges::sort(rows);
  return rows;
}

/// What stands in levels that have no row.
std::string others_words(const view::Table& table, const std::vector<uint32_t>& shown) {
  uint64_t time = 0;
  for (uint32_t row = 0; row < table.rows.size(); ++row)
    if (!std::ranges::binary_search(shown, row)) time += number_of(table, row, "elapsed_ns");
  const size_t count = table.rows.size() - shown.size();
  return fmt::format("{} {} more, {}: see :concurrency", count, count == 1 ? "level" : "levels",
                     render::time_text(time));
}

}  // namespace

void SummaryScreen::refresh() {
  if (!up_to_date()) {
    summary_ = workspace_.make("summary");
    levels_ = workspace_.make("concurrency");
  }
  ListScreen::refresh();
}

size_t SummaryScreen::draw_facts(Pane& pane, size_t row, bool waits) const {
  const auto charset = pane.look().utf8 ? render::Charset::kUtf8 : render::Charset::kAscii;
  for (const std::string_view label : kFacts) {
    if (label == "Waits" && !waits) continue;
    const auto fact = std::ranges::find(summary_->facts, label, &view::Fact::label);
    if (fact == summary_->facts.end()) continue;
    const std::string words = render::cell_text(fact->value, fact->unit, charset);
    pane.put(row, 0, label, kBold);
    if (fact->one_line) {
      pane.put_name(row++, kLabels, words, pane.columns() - kLabels);
      continue;
    }
    for (const std::string& line :
         render::wrap_words(words, pane.columns() - std::min(pane.columns(), kLabels)))
      pane.put(row++, kLabels, line);
  }
  return row;
}

size_t SummaryScreen::draw_levels(Pane& pane, size_t row, size_t most) const {
  if (!levels_ || levels_->tables.empty() || levels_->tables.front().columns.size() < 4 ||
      most < kLeastLevels)
    return row;
  const view::Table& table = levels_->tables.front();
  const auto target = std::ranges::find(levels_->facts, "Target", &view::Fact::label);
  std::string words;
  const view::Request& request = workspace_.request();
  const bool utilization = request.bands.scale == analyze::Scale::kUtilization;
  if (target != levels_->facts.end())
    if (const auto* text = std::get_if<std::string_view>(&target->value)) words = *text;
  const std::vector<uint32_t> levels = largest_levels(table, most - 1);
  pane.put_name(
      row++, 0,
      fmt::format("Elapsed time by {}threads that ran{}; target {}",
                  view::levels_are_of_all(request) ? "all " : "", utilization ? "" : " or were ready", words),
      pane.columns(), kHeading);
  const size_t bar_at = 18, after = 22;
  const size_t bar_room = pane.columns() > bar_at + after ? pane.columns() - bar_at - after : 0;
  const render::TimeScale scale = render::common_scale(table);
  for (const uint32_t level : levels) {
    const auto cells = table.row(level);
    const std::string time = render::number_text(cells[1], view::Unit::kTime, scale);
    pane.put(row, 0, fmt::format("{:>4} {:>8} {}", cell_of(table, level, "level"), time, scale.unit));
    if (const auto* bar = std::get_if<view::Bar>(&cells[3])) draw_bar(pane, row, bar_at, bar_room, *bar);
    pane.put(row, bar_at + bar_room + 1,
             fmt::format("{:<6}{}", cell_of(table, level, "band"), cell_of(table, level, "class")));
    ++row;
  }
  if (levels.size() < table.rows.size())
    pane.put_name(row, 0, others_words(table, levels), pane.columns(), kDim);
  return row;
}

void SummaryScreen::draw(Pane pane) {
  refresh();
  size_t row = 0;
  if (summary_) {
    row = draw_facts(pane, 0, true) + 1;
    size_t taken = row + kLeastHotspots + 1;
    if (taken + kEachClass > pane.rows()) {
      // What the processors did comes before what was waited for, which has a screen of its own.
      for (size_t i = 0; i < row; ++i) pane.repeat(i, 0, U' ', pane.columns());
      row = draw_facts(pane, 0, false) + 1;
      taken = row + kLeastHotspots + 1;
    }
    const size_t after = draw_levels(pane, row, pane.rows() > taken ? pane.rows() - taken : 0);
    if (after > row) row = after + 1;
  }
  list_at_ = std::min(row, pane.rows() > kLeastHotspots ? pane.rows() - kLeastHotspots : 0);
  Pane list = pane.below(list_at_);
  for (size_t i = 0; i < list.rows(); ++i) list.repeat(i, 0, U' ', list.columns());
  ListScreen::draw(list);
}

bool SummaryScreen::click(Point at) {
  return at.row >= list_at_ && ListScreen::click({at.row - list_at_, at.column});
}

bool SummaryScreen::sort_at(Point at) {
  return at.row >= list_at_ && ListScreen::sort_at({at.row - list_at_, at.column});
}

}  // namespace varve::tui
