// SPDX-License-Identifier: MIT
// What stays on a screen whose view is made again, by a filter, a setting, another size: the row, the column
// it is sorted by, the moment pointed at. And what each key undoes and finds. Context: tests.
#include <criterion/criterion.h>

#include <clocale>
#include <cstdlib>
#include <set>

#include "test/unit/example_profile.h"
#include "test/unit/screen_driver.h"
#include "viewer/tui/row_words.h"

using namespace varve;
using test::ScreenDriver;

namespace {

/// The words of the heading that the list is sorted by; empty: none.
std::string sorted_heading(const ScreenDriver& driver) {
  for (size_t row = 0; row < driver.canvas().size().rows; ++row) {
    std::string words;
    for (size_t column = 0; column < driver.canvas().size().columns; ++column)
      if (const auto& cell = driver.canvas().at(row, column); cell.style.reverse && cell.style.bold)
        words += driver.line(int(row))[column];
    if (!words.empty()) return words;
  }
  return "";
}

double seconds_in(const std::string& words) { return std::strtod(words.c_str(), nullptr); }

}  // namespace

TestSuite(
    tui_again, .init = [] { std::setlocale(LC_CTYPE, "C.UTF-8"); });

Test(tui_again, the_column_stays_that_sorts) {
  ScreenDriver driver({.screen = "hotspots"});
  driver.press("<lt>");
  cr_expect(sorted_heading(driver) == "Function");
  driver.press(":metric wait<Enter>");
  cr_expect(sorted_heading(driver) == "Function", "though it stands elsewhere");
}

Test(tui_again, a_column_that_is_gone_sorts_nothing) {
  ScreenDriver fresh({.screen = "critical-path"}), driver({.screen = "critical-path"});
  fresh.press(":by object<Enter>");
  driver.press(":by function<Enter><lt>:by object<Enter>");
  cr_expect(sorted_heading(driver) == "");
  cr_expect(driver.line(5) == fresh.line(5), "%s", driver.text().c_str());
}

Test(tui_again, an_order_that_is_asked_for_is_there) {
  ScreenDriver asked({.screen = "hotspots"}), driver({.screen = "hotspots"});
  asked.press(":sort poor<Enter>");
  driver.press("ss:sort poor<Enter>");
  cr_expect(driver.text() == asked.text(), "%s", driver.text().c_str());
}

Test(tui_again, sums_stay_last) {
  ScreenDriver driver({.screen = "hotspots"});
  driver.press(":limit 5<Enter>I");
  cr_expect(driver.line(3).find("more rows") == std::string::npos, "%s", driver.text().c_str());
  cr_expect(driver.line(8).find("more rows") != std::string::npos, "%s", driver.text().c_str());
}

Test(tui_again, cells_without_a_text_come_first) {
  view::Table table;
  table.columns = {{"line", "Line", view::Unit::kText}};
  for (const char* text : {"b", "", "c", "", "a"})
    table.add({}, {*text == '\0' ? view::Cell() : view::Cell(std::string_view(text))});
  std::vector<uint32_t> rows = {0, 1, 2, 3, 4};
  tui::sort_rows_by(table, 0, false, rows);
  cr_expect(rows == std::vector<uint32_t>({1, 3, 4, 0, 2}));
}

Test(tui_again, of_two_threads_of_one_name_the_same_stays) {
  test::RandomProfile made = test::example_profile();
  for (load::Thread& thread : made.profile.threads) thread.name = made.profile.threads.front().name;
  ScreenDriver at_once({.screen = "threads"}, test::example_profile());
  at_once.press("jjjt");
  ScreenDriver driver({.screen = "threads"}, std::move(made));
  driver.press("jjj:target 4<Enter>t");
  cr_expect(driver.filter() == at_once.filter(), "%s", driver.filter().c_str());
}

Test(tui_again, rows_are_kept_by_what_a_search_finds) {
  ScreenDriver driver({.size = test::kLarge, .screen = "hotspots"});
  driver.press("&libstripped<Enter>");
  cr_expect(driver.shows("libstripped.so.2+0x4f10"));
  driver.press("&raytrace$<Enter>");
  cr_expect(driver.shows("Triangle::hit") && !driver.shows("No row matches."), "%s", driver.text().c_str());
}

Test(tui_again, a_search_goes_through_callers_and_callees) {
  ScreenDriver driver({.screen = "callers"});
  driver.press(":callers trace<Enter>/.<Enter>");
  std::set<std::string> rows;
  for (int i = 0; i < 12; ++i) {
    for (const std::string& row : driver.reversed()) rows.insert(row);
    driver.press("n");
  }
  const auto found = [&](std::string_view name) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const std::string& row) { return row.find(name) != std::string::npos; });
  };
  cr_expect(found("render_tile") && found("trace") && found("Bvh::intersect") && found("shade"));
}

Test(tui_again, the_last_step_is_undone_first) {
  for (const char* screen : {"callers", "annotate"}) {
    ScreenDriver driver({.screen = screen});
    const std::string open = std::string(":") + screen;
    driver.press(open + " trace<Enter>" + open + " shade<Enter>:thread worker<Enter>u");
    cr_expect(driver.filter().empty(), "%s: %s", screen, driver.filter().c_str());
    cr_expect(driver.app().screen_name() == screen);
    const std::string shade = driver.text();
    driver.press("u");
    cr_expect(driver.text() != shade, "%s: back to trace", screen);
    driver.press("u");
    cr_expect(driver.text() != shade);
  }
}

Test(tui_again, the_timeline_stays_at_the_moment_and_the_thread) {
  ScreenDriver driver({.screen = "timeline"}), at_once({.screen = "timeline"});
  at_once.press("jjt");
  driver.press("jj}}}");
  const double before = seconds_in(driver.message());
  driver.press("<Resize 111x24>");
  cr_expect_lt(std::abs(seconds_in(driver.message()) - before), 0.2, "%s", driver.message().c_str());
  driver.press("+");
  cr_expect_lt(std::abs(seconds_in(driver.message()) - before), 0.2, "%s", driver.message().c_str());
  driver.press("-");
  cr_expect_lt(std::abs(seconds_in(driver.message()) - before), 0.2, "%s", driver.message().c_str());
  driver.press("+t");
  cr_expect(driver.filter() == at_once.filter(), "%s", driver.filter().c_str());
}

Test(tui_again, options_of_which_one_is_refused_change_nothing) {
  ScreenDriver driver({.screen = "timeline"});
  driver.press("+");
  const std::string zoomed = driver.line(1) + driver.line(2);
  driver.press(":module raytrace --function '('<Enter>");
  cr_expect(driver.line(1) + driver.line(2) == zoomed, "%s", driver.text().c_str());
  cr_expect(driver.shows("--function") && driver.filter().empty(), "%s", driver.text().c_str());
}

Test(tui_again, waits_may_be_asked_for_before_they_are_read) {
  for (const char* least : {"50000", "0"}) {
    test::RandomProfile made = test::example_profile();
    made.profile.without_samples = true;
    made.profile.waits = {};
    made.profile.run_states = {};
    made.profile.session.texts.emplace_back("wait_min_ns", least);
    ScreenDriver driver({.screen = "hotspots"}, std::move(made));
    driver.press(":metric wait<Enter>");
    cr_expect_eq(driver.message().starts_with("No metric wait"), *least == '0', "%s", driver.text().c_str());
  }
}

Test(tui_again, a_marked_range_outlives_another_size) {
  ScreenDriver driver({.screen = "timeline"});
  driver.press("<Right><Right> <Right><Right><Right> <Resize 111x24>f");
  cr_expect(driver.filter().starts_with("time "), "%s", driver.text().c_str());
}

/// Before 3.3 s there is no worker: a double click there shows less time, and fewer threads.
Test(tui_again, a_search_that_is_given_up_goes_back_to_a_thread_that_is_there) {
  ScreenDriver driver({.screen = "timeline"});
  driver.press("G/<DoubleClick 13,20>");
  cr_assert(!driver.shows("worker 5"), "%s", driver.text().c_str());
  driver.press("<Esc>");
  cr_expect(driver.message().ends_with("raytrace (TID 4711): running"), "%s", driver.text().c_str());
}

Test(tui_again, a_flame_that_is_still_to_come_has_no_cells) {
  test::RandomProfile made = test::example_profile();
  made.profile.without_samples = true;
  ScreenDriver driver({.screen = "flame"}, std::move(made));
  driver.press("/x<Enter>n");
  cr_expect(driver.message() == "No match.", "%s", driver.text().c_str());
  driver.press("<Click 3,3>");
  cr_expect(driver.shows("which are being read"));
}

Test(tui_again, sums_above_are_of_what_is_listed) {
  ScreenDriver driver;
  driver.press(":metric wait<Enter>");
  cr_expect(driver.line(1).starts_with("Wait"), "%s", driver.line(1).c_str());
  ScreenDriver path({.screen = "critical-path"});
  path.press(":thread worker<Enter>");
  cr_expect(path.line(1).starts_with("whole run: only --time changes it"), "%s", path.line(1).c_str());
}

Test(tui_again, the_key_bar_has_what_does_something) {
  for (const char* screen : {"top-down", "callers", "flame", "quality"})
    cr_expect(ScreenDriver({.screen = screen}).line(-1).find("Sort") == std::string::npos, "%s", screen);
  ScreenDriver quality({.screen = "quality"});
  cr_expect(quality.line(-1).find("Thread") == std::string::npos);
  quality.press("%");
  cr_expect(quality.message() == "That key does nothing here.");
}
