// SPDX-License-Identifier: MIT
// Trees: folding, the hot path, siblings, search that unfolds, rows that are kept; and the flame, which moves
// in the same tree. Context: tests.
#include <criterion/criterion.h>

#include <algorithm>
#include <numeric>

#include "test/unit/example_profile.h"
#include "test/unit/odd_profiles.h"
#include "test/unit/screen_driver.h"
#include "viewer/render/numbers.h"

using namespace varve;
using namespace varve::tui;

namespace {

/// A large screen, so that all rows of the example stand on it.
test::ScreenDriver tree(const char* screen = "top-down") {
  return test::ScreenDriver({.size = {100, 160}, .look = {false, false}, .screen = screen});
}

/// Rows of the body: those below the heading that are not empty.
size_t rows(const test::ScreenDriver& driver) {
  size_t count = 0;
  for (int row = 3; row < 98; ++row) count += !driver.line(row).empty();
  return count;
}

std::string selected(const test::ScreenDriver& driver) {
  const std::string line = driver.line(-2);
  return line.substr(0, line.find("   "));
}

size_t level(const test::ScreenDriver& driver) {
  const std::string line = driver.line(-2);
  const size_t at = line.rfind("level ");
  return at == std::string::npos ? 0 : std::stoul(line.substr(at + 6));
}

/// The example with names as they are before lines and inlined calls have been looked up.
test::RandomProfile with_quick_names() {
  test::RandomProfile made = test::example_profile();
  symbol::SymbolTable& names = made.symbols;
  std::vector<symbol::Frame> outermost;
  for (uint32_t site = 0; site + 1 < names.site_first.size(); ++site) {
    outermost.push_back(names.frames({site}).back());
    outermost.back().inlined = false;
  }
  names.frame_rows = std::move(outermost);
  std::iota(names.site_first.begin(), names.site_first.end(), 0u);
  return made;
}

/// A screen with quick names, and what comes later.
struct LateNames {
  explicit LateNames(const char* screen)
      : driver({.size = {100, 160}, .look = {false, false}, .screen = screen}, with_quick_names()) {}
  void come() {
    driver.workspace().use(late.profile, late.symbols);
    driver.press("<Resize 160x100>");
  }
  test::RandomProfile late = test::example_profile();
  test::ScreenDriver driver;
};

}  // namespace

Test(tui_tree, better_names_leave_folds_alone) {
  for (const char* screen : {"top-down", "bottom-up"}) {
    for (const char* keys : {"C", "E", "Cjj<Right>", "EG"}) {
      LateNames late(screen);
      late.driver.press(keys);
      const std::string at = selected(late.driver);
      const size_t before = rows(late.driver);
      late.come();
      cr_expect(selected(late.driver) == at, "%s after %s: %s, not %s", screen, keys,
                selected(late.driver).c_str(), at.c_str());
      // Inlined calls are rows that were not there.
      cr_expect_geq(rows(late.driver), before, "%s after %s", screen, keys);
      const bool same_roots = std::string_view(screen) == "top-down";
      if (same_roots && std::string_view(keys) == "C") cr_expect_eq(rows(late.driver), before);
    }
  }
}

Test(tui_tree, better_names_show_what_was_seen) {
  LateNames late("top-down");
  late.driver.press("E/Aabb<Enter>");
  cr_expect(late.driver.message() == "No match.", "inlined, so not known yet");
  late.driver.press("/powf<Enter>");
  const std::string seen = selected(late.driver);
  late.come();
  cr_expect(selected(late.driver) == seen && late.driver.reversed().size() == 1, "%s",
            late.driver.text().c_str());
}

Test(tui_flame, better_names_leave_zoom_and_place_alone) {
  LateNames late("flame");
  late.driver.press("g<Down><Down><Enter><Down>");
  const std::string at = selected(late.driver), top = late.driver.line(3);
  late.come();
  cr_expect(selected(late.driver) == at, "%s, not %s", selected(late.driver).c_str(), at.c_str());
  cr_expect(late.driver.line(3) == top, "%s", late.driver.text().c_str());
}

Test(tui_timeline, the_second_mark_ends_the_range) {
  test::ScreenDriver driver({.screen = "timeline"});
  driver.press("<Right><Right> <Right><Right> <Right><Right><Right>f");
  const std::string range = driver.filter();
  cr_expect(range == "time 0.45..1.13 s", "the cursor goes on, the range stays: %s", range.c_str());
  test::ScreenDriver open({.screen = "timeline"});
  open.press("<Right><Right> <Right><Right>f");
  cr_expect(open.filter() == range, "%s", open.filter().c_str());
  test::ScreenDriver third({.screen = "timeline"});
  third.press("<Right><Right> <Right><Right> <Right> <Right>f");
  cr_expect(third.filter().starts_with("time ") && third.filter() != range, "the third begins another");
}

Test(tui_timeline, better_names_leave_zoom_and_mark_alone) {
  LateNames late("timeline");
  late.driver.press("<Right><Right><Right>+<Right><Right> <Right><Right>j");
  const std::string before = late.driver.text();
  late.come();
  cr_expect(late.driver.text() == before, "%s", late.driver.text().c_str());
  late.driver.press(":--process raytrace<Enter>");
  cr_expect(late.driver.text() != before, "another question begins anew");
}

Test(tui_callers, better_names_leave_the_place_alone) {
  LateNames late("callers");
  late.driver.press(":callers trace<Enter><Down>");
  const std::string at = selected(late.driver);
  late.come();
  cr_expect(selected(late.driver) == at, "%s, not %s", selected(late.driver).c_str(), at.c_str());
}

Test(tui_tree, opens_along_the_hot_path) {
  test::ScreenDriver driver = tree();
  cr_expect(driver.shows("- Bvh::intersect") || driver.shows("- Bvh<"), "%s", driver.text().c_str());
  cr_expect(!driver.shows("parse_obj"), "what is not hot is folded");
  cr_expect_eq(level(driver), 1u);
}

Test(tui_tree, folds_and_unfolds) {
  test::ScreenDriver driver = tree();
  const std::string opened = driver.text();
  driver.press("C");
  const size_t folded = rows(driver);
  cr_expect(driver.text() != opened);
  driver.press("<Right>");
  cr_expect_gt(rows(driver), folded);
  driver.press("<Left>");
  cr_expect_eq(rows(driver), folded);
  for (const char* twice : {"<Enter><Enter>", " <Space>", "+-", "=-"}) {
    driver.press(twice);
    cr_expect_eq(rows(driver), folded, "%s", twice);
  }
  driver.press("e");
  const size_t below = rows(driver);
  driver.press("E");
  cr_expect_gt(rows(driver), below);
  cr_expect(!driver.shows("+ "), "everything is open");
  driver.press("C");
  cr_expect_eq(rows(driver), folded);
}

Test(tui_tree, one_level_at_a_time) {
  test::ScreenDriver driver = tree();
  driver.press("C");
  std::vector<size_t> opened = {rows(driver)};
  for (int i = 0; i < 20; ++i) {
    driver.press("+");
    if (rows(driver) == opened.back()) break;
    opened.push_back(rows(driver));
  }
  driver.press("Ce");
  cr_expect_eq(opened.back(), rows(driver), "level by level is all below the row in the end");
  cr_expect_gt(opened.size(), 5u);
  while (opened.size() > 1) {
    opened.pop_back();
    driver.press("-");
    cr_expect_eq(rows(driver), opened.back());
  }
}

Test(tui_tree, moves_in_the_family) {
  test::ScreenDriver driver = tree();
  driver.press("Eg");
  const std::string first = selected(driver);
  driver.press("<Right>");
  cr_expect_eq(level(driver), 2u, "to the first child");
  driver.press("<Left>");
  cr_expect(!driver.line(3).empty());
  driver.press("<Left><Left>");
  cr_expect_eq(level(driver), 1u);
  driver.press("}");
  cr_expect_eq(level(driver), 1u);
  cr_expect(selected(driver) != first);
  driver.press("{");
  cr_expect(selected(driver) == first);
  driver.press("{");
  cr_expect(selected(driver) == first, "there is none before");
}

Test(tui_tree, hottest) {
  test::ScreenDriver driver = tree();
  driver.press("CH");
  cr_expect_gt(level(driver), 3u);
  const std::string at = selected(driver);
  driver.press("CgH");
  cr_expect(selected(driver) == at);
}

Test(tui_tree, folding_all_stays_in_the_subtree) {
  test::ScreenDriver driver = tree();
  driver.press("C");
  const std::string first = selected(driver);
  driver.press("HC");
  cr_expect(selected(driver) == first);
  cr_expect_eq(level(driver), 1u);
}

Test(tui_tree, search_unfolds) {
  test::ScreenDriver driver = tree();
  driver.press("n");
  cr_expect(driver.message().starts_with("Search first"), "%s", driver.message().c_str());
  driver.press("C/strtod<Enter>");
  cr_expect(selected(driver).starts_with("strtod"), "%s", driver.text().c_str());
  cr_expect(driver.shows("parse_obj"));
  driver.press("n");
  cr_expect(selected(driver).starts_with("strtod"), "the only one, all the way round");
  driver.press("/no_such_name<Enter>");
  cr_expect(driver.message() == "No match.");
}

Test(tui_tree, search_goes_both_ways) {
  test::ScreenDriver driver = tree();
  driver.press("Eg/trace<Enter>");
  const std::vector<std::string> first = driver.reversed();
  driver.press("n");
  const std::vector<std::string> second = driver.reversed();
  cr_expect(first != second);
  driver.press("N");
  cr_expect(driver.reversed() == first);
}

Test(tui_tree, kept_rows_and_their_parents) {
  test::ScreenDriver driver = tree();
  const std::string before = driver.text();
  driver.press("&strtod<Enter>");
  cr_expect(driver.shows("strtod") && driver.shows("parse_obj"));
  cr_expect(!driver.shows("deflate"));
  driver.press("/deflate<Enter>");
  cr_expect(driver.message() == "No match.", "what is not kept is not found: %s", driver.message().c_str());
  driver.press("&strtod<Enter>:--target 4<Enter>");
  cr_expect(!driver.shows("deflate"), "another filter leaves them kept");
  driver.press("uu");
  cr_expect(driver.filter().empty());
  driver.press("E");
  cr_expect(driver.shows("deflate"));
}

Test(tui_tree, bottom_up_is_inverted) {
  test::ScreenDriver driver = tree();
  driver.press("i");
  cr_expect(driver.app().screen_name() == "bottom-up");
  driver.press("i");
  cr_expect(driver.app().screen_name() == "top-down");
}

Test(tui_tree, a_thousand_levels) {
  for (const test::OddProfile& odd : test::odd_profiles()) {
    if (std::string_view(odd.name) != "deep-stacks") continue;
    test::ScreenDriver driver({.size = {24, 80}, .screen = "top-down"}, odd.make());
    driver.press("E/f1023_9<Enter>");
    cr_expect_eq(level(driver), 1024u, "%s", driver.text().c_str());
    cr_expect(driver.shows("f1023_9"));
    driver.press("6H");
    cr_expect(selected(driver).starts_with("f1023_"), "%s", driver.text().c_str());
  }
}

Test(tui_flame, moves_and_zooms) {
  test::ScreenDriver driver = tree("flame");
  driver.press("g");
  cr_expect(driver.shows("[all threads] 100.0%"));
  driver.press("<Down><Down>");
  const std::string deep = selected(driver);
  driver.press("<Enter>");
  const std::string zoomed = driver.text();
  driver.press("<Esc>");
  cr_expect(driver.text() != zoomed);
  cr_expect(selected(driver) == deep);
  driver.press("i");
  cr_expect(driver.line(2).find("[all threads]") == std::string::npos, "the root is at the bottom");
  driver.press("i/deflate<Enter>");
  cr_expect(selected(driver).starts_with("deflate"));
  driver.press("n");
  cr_expect(selected(driver).starts_with("deflate"));
  cr_expect(driver.message() != "No match.", "the only one, all the way round");
}

Test(tui_flame, cells_are_clicked) {
  test::ScreenDriver driver = tree("flame");
  driver.press("<Click 4,3>");
  const std::string name = selected(driver);
  cr_expect(!name.empty());
  driver.press("<Click 4,3>");
  cr_expect(driver.shows("[all threads] 100.0%"), "the second click zooms");
  driver.press("<Click 3,1>");
  cr_expect(selected(driver) != name);
}

Test(tui_flame, keys_before_it_was_drawn) {
  test::ScreenDriver driver({.size = {11, 59}, .screen = "flame"});
  driver.press("<Enter><Up><Down><Left><Right>+-HciG/a<Enter>nNfdt");
  driver.press("<Resize 80x24>");
  cr_expect(driver.shows("[all threads] 100.0%"), "%s", driver.text().c_str());
}

/// A filter makes cells wider, and leaves shares those of all CPU time, as in the tree.
Test(tui_flame, shares_are_those_of_the_tree) {
  test::ScreenDriver driver = tree("flame");
  driver.press(":--thread worker<Enter>g");
  const auto made = driver.workspace().make("top-down");
  const double part = double(made->ledger.shown.count) / double(made->ledger.cpu.count);
  const std::string root = "[all that passes the filter] " + render::percent(part) + "%";
  cr_expect(driver.shows(root), "%s", root.c_str());
  cr_expect(driver.shows(render::percent(part) + "% of all CPU time"));
  cr_expect_lt(part, 0.9);
}

/// Samples stand for self time; totals, by which trees are sorted, have no samples and stay.
Test(tui_tree, samples_leave_the_total) {
  test::ScreenDriver driver = tree();
  driver.press("%%%");
  const std::string heading = driver.line(2);
  cr_expect(heading.find("Total") != std::string::npos, "%s", heading.c_str());
  cr_expect(heading.find("Samples") != std::string::npos || driver.shows("samples"), "%s", heading.c_str());
  cr_expect(heading.find("Self") == std::string::npos && heading.find("Total%") == std::string::npos);
}
