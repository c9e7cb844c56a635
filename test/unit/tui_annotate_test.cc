// SPDX-License-Identifier: MIT
// The screen of one function: what it shows where there is little, the keys it names, and that the cursor
// stays where the user put it when names or code come later. Context: tests.
#include <criterion/criterion.h>

#include "test/unit/example_profile.h"
#include "test/unit/screen_driver.h"

using namespace varve;
using test::ScreenDriver;

Test(tui_annotate, better_names_leave_the_cursor_alone) {
  ScreenDriver driver({.screen = "annotate"});
  const test::RandomProfile late = test::example_profile();
  const auto come = [&] {
    driver.workspace().use(late.profile, late.symbols);
    driver.press("<Resize 80x24>");
  };
  const auto hottest = driver.reversed();
  driver.press("G");
  const auto moved = driver.reversed();
  cr_assert(moved != hottest, "%s", driver.text().c_str());
  come();
  cr_expect(driver.reversed() == moved, "%s", driver.text().c_str());
  driver.press(":callers trace<Enter>a");
  const auto other = driver.reversed();
  come();
  cr_expect(driver.reversed() == other, "who has not moved is at the hottest");
}

/// Its source stands in a file of others, and its code was inlined into another function.
Test(tui_annotate, the_function_is_named) {
  test::RandomProfile made = test::example_profile();
  for (auto& function : made.symbols.functions)
    if (made.symbols.strings.text(function.short_name) == "trace")
      function.name = made.symbols.strings.intern(
          "__gnu_cxx::__normal_iterator<int*, std::vector<int, std::allocator<int> > > "
          "std::__unguarded_partition<__gnu_cxx::__normal_iterator<int*, std::vector<int> >, Less>("
          "__gnu_cxx::__normal_iterator<int*, std::vector<int> >, Less)");
  ScreenDriver driver({.screen = "hotspots"}, std::move(made));
  driver.press("/unguarded<Enter>a");
  for (const char* script : {"", "s", "s", "<Resize 60x12>", "<Resize 120x40>"}) {
    driver.press(script);
    cr_expect(driver.line(2).find("std::__unguarded_partition<") != std::string::npos, "%s: %s", script,
              driver.text().c_str());
  }
}

Test(tui_annotate, the_key_bar_is_whole) {
  for (const char* screen : {"annotate", "timeline", "hotspots"}) {
    ScreenDriver driver({.screen = screen});
    const std::string keys = driver.line(-1);
    for (const char* key : {"?Help", "/Find", "uUndo", "mMetric", "qBack"})
      cr_expect(keys.find(key) != std::string::npos, "%s: %s", screen, keys.c_str());
  }
}

Test(tui_annotate, the_totals_stand_while_code_is_read) {
  ScreenDriver driver;
  driver.workspace().read_code_later();
  driver.press(":annotate trace<Enter>");
  cr_expect(driver.shows("being read"), "%s", driver.text().c_str());
  cr_expect(driver.line(1).starts_with("CPU time "), "%s", driver.line(1).c_str());
}

Test(tui_hot_path, a_list_opens_the_tree_where_its_function_is) {
  ScreenDriver driver({.screen = "hotspots"});
  driver.press("/powf<Enter>H");
  cr_expect(driver.app().screen_name() == "top-down");
  const auto at = driver.reversed();
  cr_assert_eq(at.size(), 1);
  cr_expect(at[0].find("powf") != std::string::npos && at[0].find("1.85") != std::string::npos, "%s",
            driver.text().c_str());
  driver.press("q");
  cr_expect(driver.app().screen_name() == "hotspots", "back to the list");
  driver.press("GH");
  cr_expect(driver.message() == "This row is about no function.", "%s", driver.message().c_str());
}

Test(tui_summary, all_classes_are_seen_and_what_is_not_is_said) {
  ScreenDriver driver({.size = {24, 80}});
  const view::Made levels = driver.workspace().make("concurrency");
  cr_assert(levels.has_value() && levels->tables.front().rows.size() > 3);
  cr_expect(driver.shows("4 levels more, 159.0 ms"), "%s", driver.text().c_str());
  driver.press(":target 3<Enter><Resize 80x25>");
  cr_expect(driver.shows("Parallel"), "Less than another level that is Oversubscribed:\n%s",
            driver.text().c_str());
}
