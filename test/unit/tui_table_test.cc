// SPDX-License-Identifier: MIT
// TableWidget and lists: cursor, pages, sorting, search, resize. Context: tests.
#include <criterion/criterion.h>
#include <fmt/format.h>

#include <algorithm>
#include <clocale>
#include <deque>
#include <numeric>

#include "test/unit/screen_driver.h"
#include "viewer/tui/row_words.h"
#include "viewer/tui/table_widget.h"

using namespace varve;
using namespace varve::tui;

namespace {

/// Rows "name0" and on, with the numbers i % 7; the last row is a sum.
struct Numbers {
  view::Table table;
  std::deque<std::string> texts;

  explicit Numbers(size_t rows) {
    table.columns = {{"count", "Count", view::Unit::kCount}, {"function", "Function", view::Unit::kText}};
    for (size_t i = 0; i < rows; ++i) {
      const bool sum = i + 1 == rows;
      table.add(
          {.kind = sum ? view::RowKind::kRest : view::RowKind::kOrdinary},
          {uint64_t(sum ? 1000 : i % 7), std::string_view(texts.emplace_back(fmt::format("name{}", i)))});
    }
  }
};

struct Shown {
  Numbers numbers;
  TableWidget widget;
  Canvas canvas;
  explicit Shown(size_t rows, Size size = {11, 40}) : numbers(rows), canvas(size, {false, true}) {
    widget.set_table(&numbers.table, Units::kAll);
    draw(size);
  }
  void draw(Size size) {
    canvas = Canvas(size, {false, true});
    widget.draw(canvas.whole());
  }
  void draw() { draw(canvas.size()); }
  /// The row of the table that the n-th line below the heading shows.
  std::string line(size_t n) const {
    const std::string text = canvas.text();
    size_t at = 0;
    for (; n > 0; --n) at = text.find('\n', at) + 1;
    return text.substr(at, text.find('\n', at) - at);
  }
};

analyze::Pattern searched(const char* words) { return *analyze::Pattern::parse(words); }

}  // namespace

TestSuite(
    tui_table, .init = [] { std::setlocale(LC_CTYPE, "C.UTF-8"); });

Test(tui_table, moves) {
  Shown shown(100);  // ten rows on the screen
  struct Step {
    Action action;
    size_t cursor;
  };
  const Step steps[] = {{Action::kUp, 0},        {Action::kDown, 1},    {Action::kPageDown, 10},
                        {Action::kHalfDown, 15}, {Action::kHalfUp, 10}, {Action::kMark, 19},
                        {Action::kPageUp, 10},   {Action::kLast, 99},   {Action::kDown, 99},
                        {Action::kPageDown, 99}, {Action::kUp, 98},     {Action::kFirst, 0},
                        {Action::kPageUp, 0}};
  for (const Step& step : steps) {
    cr_expect(shown.widget.act(step.action));
    shown.draw();
    cr_expect_eq(shown.widget.cursor(), step.cursor, "%d: %zu", int(step.action), shown.widget.cursor());
  }
  cr_expect(!shown.widget.act(Action::kSearch));
}

Test(tui_table, the_cursor_stays_on_the_screen) {
  Shown shown(100);
  shown.widget.act(Action::kLast);
  shown.draw();
  cr_expect(shown.line(10).find("name99") != std::string::npos);
  cr_expect(shown.canvas.at(10, 0).style.reverse);
  shown.draw({31, 40});
  cr_expect(shown.line(30).find("name99") != std::string::npos, "a larger screen is full");
  cr_expect(shown.line(1).find("name70") != std::string::npos);
  shown.draw({4, 40});
  cr_expect(shown.line(3).find("name99") != std::string::npos, "a smaller one still has the cursor");
  shown.draw({1, 40});
  shown.draw({0, 40});
  shown.widget.set_rows({1, 2, 3});
  shown.draw({11, 40});
  cr_expect(shown.line(1).find("name1") != std::string::npos);
}

Test(tui_table, set_rows_keeps_the_row) {
  Shown shown(100);
  shown.widget.select(42);
  shown.widget.set_rows({1, 42, 50});
  cr_expect_eq(*shown.widget.selected(), 42u);
  shown.widget.set_rows({1, 50});
  cr_expect_eq(*shown.widget.selected(), 50u);
  shown.widget.set_rows({});
  cr_expect(!shown.widget.selected());
  shown.widget.act(Action::kDown);
  cr_expect(!shown.widget.search(searched("name"), Direction::kForward, true));
  shown.draw();
  cr_expect(shown.line(1).find("No row matches.") != std::string::npos);
}

Test(tui_table, search_wraps_around) {
  Shown shown(100);
  const auto find = [&](const char* words, Direction direction, bool again) {
    return shown.widget.search(searched(words), direction, again) ? int(*shown.widget.selected()) : -1;
  };
  cr_expect_eq(find("name5", Direction::kForward, false), 5);
  cr_expect_eq(find("name5", Direction::kForward, false), 5);
  cr_expect_eq(find("name5", Direction::kForward, true), 50);
  cr_expect_eq(find("name5$", Direction::kForward, true), 5);
  cr_expect_eq(find("name5$", Direction::kForward, true), 5, "the only one, all the way round");
  cr_expect_eq(find("name9", Direction::kBackward, true), 99);
  cr_expect_eq(find("nothing", Direction::kForward, true), -1);
  cr_expect_eq(*shown.widget.selected(), 99u);
}

Test(tui_table, clicks) {
  Shown shown(100);
  cr_expect(!shown.widget.click({3, 5}));
  cr_expect_eq(shown.widget.cursor(), 2u);
  cr_expect(shown.widget.click({3, 5}), "the second click on a row opens it");
  cr_expect(!shown.widget.click({0, 5}));
  cr_expect(!shown.widget.click({11, 5}), "below the pane");
  cr_expect_eq(shown.widget.cursor(), 2u);
  cr_expect_eq(*shown.widget.heading_at({0, 0}), 0u);
  cr_expect(!shown.widget.heading_at({1, 0}));
}

/// A view that could not be made again has no table, and nothing of the one before can be chosen or clicked.
Test(tui_table, without_a_table_there_are_no_columns) {
  Shown shown(5);
  cr_assert_not(shown.widget.shown_columns().empty());
  cr_assert(shown.widget.heading_at({0, 2}).has_value());
  shown.widget.set_table(nullptr, Units::kAll);
  cr_expect(shown.widget.shown_columns().empty());
  cr_expect_not(shown.widget.heading_at({0, 2}).has_value());
  shown.draw();
}

Test(tui_table, sideways_keeps_characters_whole) {
  const Size size{11, 31};  // 24 of them for names
  Shown shown(3, size);
  shown.numbers.texts[0] = "日本語日本語日本語日本語日本語";
  shown.numbers.table.cells[1] = std::string_view(shown.numbers.texts[0]);
  shown.widget.set_table(&shown.numbers.table, Units::kAll);
  shown.widget.act(Action::kRight);
  shown.draw(size);
  cr_expect(shown.line(1).ends_with("  ... 語日本語日本語日本語"), "%s", shown.line(1).c_str());
  cr_expect(shown.line(1).find("\uFFFD") == std::string::npos);
  shown.widget.act(Action::kLeft);
  shown.draw({11, 40});
  cr_expect(shown.line(1).find("日本語日本語日本語日本語日本語") != std::string::npos);
}

Test(tui_table, sideways_only_as_far_as_something_is_hidden) {
  Shown shown(3);
  const std::string whole = shown.canvas.text();
  shown.widget.act(Action::kRight);
  shown.draw();
  cr_expect(shown.canvas.text() == whole, "all names fit:\n%s", shown.canvas.text().c_str());
  shown.numbers.texts[0] = "0123456789 0123456789 0123456789 01234567END";  // 44, for which 33 columns are
  shown.numbers.table.cells[1] = std::string_view(shown.numbers.texts[0]);
  shown.widget.set_table(&shown.numbers.table, Units::kAll);
  for (const char* wanted : {"  ...0123456789 0123456789 01234567", "  ...3456789 0123456789 01234567END",
                             "  ...3456789 0123456789 01234567END"}) {
    shown.widget.act(Action::kRight);
    shown.draw();
    cr_expect(shown.line(1).find(wanted) != std::string::npos, "%s", shown.line(1).c_str());
    cr_expect(shown.line(2).ends_with("  name1"), "what fits stays: %s", shown.line(2).c_str());
  }
  shown.widget.act(Action::kLeft);
  shown.widget.act(Action::kLeft);
  shown.draw();
  cr_expect(shown.line(1).find("  0123456789") != std::string::npos, "no press too many was kept");
}

Test(tui_table, sideways_leaves_the_names_of_threads) {
  test::ScreenDriver driver({.screen = "threads"});
  const std::string before = driver.text();
  driver.press("llll");
  cr_expect(driver.text() == before, "%s", driver.text().c_str());
}

Test(tui_table, rows_in_order) {
  Numbers numbers(30);
  std::vector<uint32_t> rows(30);
  std::iota(rows.begin(), rows.end(), 0u);
  const auto count = [&](uint32_t row) { return std::get<uint64_t>(numbers.table.row(row)[0]); };
  sort_rows_by(numbers.table, 0, false, rows);
  cr_expect_eq(rows.back(), 29u, "sums stay last");
  cr_expect(std::is_sorted(rows.begin(), rows.end() - 1,
                           [&](uint32_t a, uint32_t b) { return count(a) > count(b); }));
  sort_rows_by(numbers.table, 0, true, rows);
  cr_expect_eq(rows.back(), 29u);
  cr_expect(std::is_sorted(rows.begin(), rows.end() - 1,
                           [&](uint32_t a, uint32_t b) { return count(a) < count(b); }));
  sort_rows_by(numbers.table, 1, false, rows);
  cr_expect_eq(rows[1], 1u);
  cr_expect_eq(rows[2], 10u, "as in a dictionary");
}

Test(tui_table, sorting_by_keys_and_clicks) {
  test::ScreenDriver driver({.screen = "hotspots"});
  const std::string as_made = driver.text();
  driver.press("s");
  cr_expect(driver.canvas().at(2, 0).style.bold, "the first column is the one");
  driver.press("s");
  const std::string second = driver.text();
  driver.press("s<lt>");
  cr_expect(driver.text() == second, "back by one column");
  driver.press("I");
  cr_expect(driver.text() != second);
  driver.press("I");
  cr_expect(driver.text() == second);
  driver.press("<Click 3,3>");
  const std::string by_self = driver.line(3);
  driver.press("<Click 3,3>");
  cr_expect(driver.line(3) != by_self, "a second click reverses");
}

/// What the selected row says in colours can be read like that of the others.
Test(tui_table, the_selected_row_keeps_its_bar) {
  test::ScreenDriver driver({.look = {.color = true, .utf8 = true}, .screen = "hotspots"});
  const auto band_cells = [&](size_t row) {
    size_t cells = 0;
    for (size_t column = 0; column < driver.canvas().size().columns; ++column) {
      const Style style = driver.canvas().at(row, column).style;
      cells += style.ink >= Ink::kIdle && style.ink <= Ink::kOver && !style.reverse;
    }
    return cells;
  };
  const size_t first = 3;
  cr_expect(driver.canvas().at(first, 0).style.reverse, "the cursor is here");
  const size_t with_cursor = band_cells(first);
  cr_expect_gt(with_cursor, 4u);
  driver.press("j");
  cr_expect_eq(band_cells(first), with_cursor);
}
