// SPDX-License-Identifier: MIT
// What is typed: commands, options, searches, files; screens and places that are kept; sizes. Context: tests.
#include <criterion/criterion.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "test/unit/example_profile.h"
#include "test/unit/screen_driver.h"
#include "viewer/render/render.h"

using namespace varve;
using namespace varve::tui;

namespace {

using test::ScreenDriver;

/// A folder of its own, which is the current one; removed in the end.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / "varve-screen-XXXXXX") {
    std::string name = path_.string();
    cr_assert_not_null(mkdtemp(name.data()));
    path_ = name;
    std::filesystem::current_path(path_);
  }
  ~Folder() {
    std::filesystem::current_path("/");
    std::filesystem::remove_all(path_);
  }

 private:
  std::filesystem::path path_;
};

std::string content(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Test(tui_prompt, options_are_those_of_report) {
  ScreenDriver driver({.screen = "hotspots"});
  driver.press(":--thread worker<Enter>");
  cr_expect(driver.filter() == "--thread worker");
  cr_expect(driver.line(1).find("filter: --thread worker") != std::string::npos);
  driver.press(":thread raytrace<Enter>");
  cr_expect(driver.filter() == "--thread worker > --thread raytrace", "%s", driver.filter().c_str());
  driver.press("U:--thread<Enter>");
  cr_expect(driver.message().find("needs a value") != std::string::npos, "%s", driver.message().c_str());
  driver.press(":--thread '('<Enter>");
  cr_expect(driver.message().find("is not a regular expression") != std::string::npos);
  driver.press(":--nonsense<Enter>");
  cr_expect(driver.message().find("unknown option '--nonsense'") != std::string::npos);
  driver.press(":-h<Enter>");
  cr_expect(driver.filter().empty(), "help is no filter");
  driver.press(":--thread 'worker 1'<Enter>");
  cr_expect(!driver.shows("strtod"), "only the main thread calls it");
  cr_expect(driver.filter() == "--thread 'worker 1'", "%s", driver.filter().c_str());
  driver.press("U:--thread \"wor\\ker\\ 1\"<Enter>");
  cr_expect(driver.filter() == "--thread 'worker 1'", "%s", driver.filter().c_str());
}

Test(tui_prompt, commands_and_screens) {
  ScreenDriver driver;
  driver.press(":modules<Enter>");
  cr_expect(driver.app().screen_name() == "modules");
  driver.press(":callers shade<Enter>");
  cr_expect(driver.app().screen_name() == "callers");
  cr_expect(driver.shows("shade"));
  driver.press(":modules x<Enter>");
  cr_expect(driver.message() == "modules takes no argument", "%s", driver.message().c_str());
  driver.press(":back<Enter>");
  cr_expect(driver.app().screen_name() == "callers");
  driver.press(":help<Enter>");
  cr_expect(driver.app().screen_name() == "help");
  driver.press("x");
  cr_expect(driver.app().screen_name() == "callers", "any key leaves the help");
  cr_expect_eq(driver.press(":quit<Enter>"), Outcome::kQuit);
  cr_expect_eq(driver.press(":reload<Enter>"), Outcome::kReload);
  driver.press(":<Enter>:   <Enter>");
  cr_expect(driver.app().screen_name() == "callers");
}

Test(tui_prompt, history_and_completion) {
  ScreenDriver driver;
  driver.press(":--tar<Tab>");
  cr_expect(driver.line(-1) == ":--target", "%s", driver.line(-1).c_str());
  driver.press(" 4<Enter>");
  cr_expect(driver.settings() == "--target 4");
  driver.press(":<Up>");
  cr_expect(driver.line(-1) == ":--target 4");
  driver.press("<Esc>:ta<Tab>");
  cr_expect(driver.line(-1) == ":target", "an option without its dashes");
  driver.press("<Esc>:conc<Tab>");
  cr_expect(driver.line(-1) == ":concurrency");
  driver.press("<Backspace><C-u>");
  driver.press("<Backspace>");
  cr_expect(!driver.line(-1).starts_with(":"), "Backspace in an empty prompt closes it");
}

Test(tui_prompt, names_are_completed) {
  ScreenDriver driver({.screen = "hotspots"});
  driver.press(":callers pars<Tab>");
  cr_expect(driver.line(-1) == ":callers parse_obj", "%s", driver.line(-1).c_str());
  driver.press("<Enter>");
  cr_expect(driver.app().screen_name() == "callers");
  cr_expect(driver.shows("parse_obj"));
  driver.press(":callers intersect<Tab>");
  cr_expect(driver.line(-1) == ":callers Bvh::intersect", "%s", driver.line(-1).c_str());
  // An option takes a regular expression: the full name, quoted, fits itself.
  driver.press("<Esc>2:function intersect<Tab><Enter>");
  cr_expect(driver.shows("Bvh::intersect"), "%s", driver.text().c_str());
  cr_expect(driver.filter().find("\\(Ray") != std::string::npos, "%s", driver.filter().c_str());
  driver.press("u:annotate <Tab>");
  const std::string hottest = driver.line(-1);
  cr_expect(driver.message().find(" fit:  " + hottest.substr(10)) != std::string::npos, "%s",
            driver.message().c_str());
  driver.press("<Tab>");
  cr_expect(driver.line(-1) != hottest, "the next one");
  driver.press("<Esc>:thread wor<Tab>");
  cr_expect(driver.line(-1).starts_with(":thread worker\\ "), "a blank is part of the name: %s",
            driver.line(-1).c_str());
  driver.press("<Enter>");
  cr_expect(driver.filter().starts_with("--thread 'worker "), "%s", driver.filter().c_str());
  driver.press(":-- <Tab><C-u>:'' <Tab><C-u>");
  driver.press("<Esc>:module libstr<Tab> --sort po<Tab>");
  cr_expect(driver.line(-1).starts_with(":module libstripped\\\\.so\\\\.2 --sort po"), "%s",
            driver.line(-1).c_str());
}

/// Where code is read behind the screen, the screen opens at once and says so.
Test(tui_prompt, annotate_does_not_wait_for_code) {
  ScreenDriver driver({.screen = "hotspots"});
  driver.workspace().read_code_later();
  driver.press(":annotate parse_obj<Enter>");
  cr_expect(driver.app().screen_name() == "annotate");
  cr_expect(driver.shows("being read"), "%s", driver.text().c_str());
  tui::LaterCode& code = *driver.workspace().later_code();
  const auto first = code.wanted();
  cr_assert(!first.empty());
  driver.press("q2a");
  cr_expect(driver.shows("being read"));
  cr_assert(code.wanted() != first, "another function");
  code.put(first, {});
  driver.press("j");
  cr_expect(driver.shows("being read"), "what came is of the function before");
  code.put(code.wanted(), {});
  driver.press("j");
  cr_expect(!driver.shows("being read"), "%s", driver.text().c_str());
  cr_expect(code.wanted().empty());
  driver.press(":annotate no_such_function<Enter>");
  cr_expect(driver.message().find("no function") != std::string::npos, "%s", driver.message().c_str());
}

Test(tui_prompt, candidates_are_shown) {
  ScreenDriver driver;
  driver.press(":--t<Tab>");
  cr_expect(driver.message().starts_with("4 fit:  --target  --thread  --thresholds  --time"), "%s",
            driver.message().c_str());
  driver.press("<Tab>");
  cr_expect(driver.message().starts_with("4 fit:  --thread  --thresholds"), "%s", driver.message().c_str());
  driver.press("x");
  cr_expect(driver.message().find("fit:") == std::string::npos, "typing goes on");
  driver.press("<Tab>");
  cr_expect(driver.message() == "No command, option or name has this.", "%s", driver.message().c_str());
  driver.press("<Esc>");
  cr_expect(driver.message().find("has this") == std::string::npos);
}

Test(tui_prompt, long_lines_show_where_one_types) {
  ScreenDriver driver;
  driver.press(":" + std::string(200, 'a') + "xyz");
  cr_expect(driver.line(-1).ends_with("axyz"), "%s", driver.line(-1).c_str());
  cr_expect(driver.canvas().at(23, driver.line(-1).size()).style.reverse, "the cursor stands behind");
}

Test(tui_prompt, escape_changes_nothing) {
  ScreenDriver driver({.screen = "hotspots"});
  const std::string before = driver.text();
  for (const char* script : {"/shade<Esc>", ":--thread x<Esc>", "&x<Esc>", "L5<Esc>", "P<Esc>"}) {
    driver.press(script);
    cr_expect(driver.text() == before, "%s", script);
  }
}

Test(tui_prompt, search_goes_along) {
  ScreenDriver driver({.screen = "hotspots"});
  driver.press("/stri");
  cr_expect(driver.line(-1) == "/stri");
  driver.press("<Backspace><Backspace><Backspace><Backspace>shade");
  cr_expect(!driver.reversed().empty() && driver.reversed()[0].find("shade") != std::string::npos);
  driver.press("<Enter>");
  cr_expect(driver.message().starts_with("shade("), "%s", driver.message().c_str());
  driver.press("/[<Enter>");
  cr_expect(driver.message().find("is not a regular expression") != std::string::npos);
}

/// Letters on the way to a word that is nowhere are somewhere.
Test(tui_prompt, a_search_without_a_match_goes_back) {
  for (const char* screen : {"summary", "hotspots", "top-down", "bottom-up", "callers", "flame", "timeline",
                             "threads", "annotate", "quality"}) {
    ScreenDriver driver({.screen = screen});
    driver.press("jj");
    const std::string detail = driver.message();
    const std::vector<std::string> begin = driver.reversed();
    driver.press("/zzz");
    cr_expect(driver.message() == "No match.", "%s: %s", screen, driver.text().c_str());
    for (const char* first : {"a", "e", "i", "o", "r", "[", "m"}) {
      driver.press(std::string("<C-u>") + first + "~zzz");
      cr_expect(driver.reversed() == begin, "%s/%s: %s", screen, first, driver.text().c_str());
      driver.press("<Enter>");
      cr_expect(driver.reversed() == begin, "%s/%s: %s", screen, first, driver.text().c_str());
      driver.press("/" + std::string(first) + "<Esc>/");
      cr_expect(driver.reversed() == begin, "%s/%s<Esc>: %s", screen, first, driver.text().c_str());
    }
    driver.press("<Esc>");
    cr_expect(driver.message() == detail, "%s: %s", screen, driver.text().c_str());
  }
}

Test(tui_prompt, a_search_leaves_folds_alone_that_it_did_not_need) {
  ScreenDriver driver({.screen = "top-down"});
  driver.press("C");
  const std::string folded = driver.text();
  driver.press("/shade");
  cr_expect(driver.shows("shade ") || driver.shows("shade("), "%s", driver.text().c_str());
  driver.press("<Esc>");
  cr_expect(driver.text() == folded, "%s", driver.text().c_str());
}

/// A better profile comes, and the rows of the screen are made again, while a search is typed.
Test(tui_prompt, a_search_has_no_way_back_into_another_view) {
  const test::RandomProfile late = test::example_profile();
  for (const char* screen : {"hotspots", "top-down", "flame", "callers", "annotate", "timeline"}) {
    ScreenDriver driver({.screen = screen});
    driver.press("jj/a");
    driver.workspace().use(late.profile, late.symbols);
    driver.press("<Resize 80x30>~zzz");
    cr_expect(driver.message() == "No match.", "%s", driver.text().c_str());
    driver.press("<Click 5,5>8<Esc>");
  }
}

Test(tui_prompt, write) {
  Folder folder;
  ScreenDriver driver({.screen = "hotspots"});
  driver.press("P<Enter>");
  cr_expect(driver.message() == "Wrote hotspots.txt.", "%s", driver.message().c_str());
  const auto view = driver.workspace().make("hotspots");
  cr_expect(content("hotspots.txt") == render::text(*view, {}));
  driver.press(":write rows.csv<Enter>:w rows.json<Enter>");
  cr_expect(content("rows.csv") == render::csv(*view));
  cr_expect(content("rows.json") == render::json(*view));
  std::ofstream("kept.txt") << "mine";
  driver.press(":write kept.txt<Enter>");
  cr_expect(driver.message() == "cannot write kept.txt: File exists", "%s", driver.message().c_str());
  cr_expect(content("kept.txt") == "mine");
  driver.press(":write no/such/folder<Enter>");
  cr_expect(driver.message() == "cannot write no/such/folder: No such file or directory");
  driver.press(":write<Enter>");
  cr_expect(driver.message() == "write needs a file name");
  driver.press("?:");
  driver.press("?");
  ScreenDriver help({.screen = "help"});
  help.press("x:write help.txt<Enter>");
}

Test(tui_app, back_keeps_the_place) {
  ScreenDriver driver({.screen = "hotspots"});
  driver.press("jjj");
  const std::string before = driver.text();
  driver.press("<Enter>");
  cr_expect(driver.app().screen_name() == "callers");
  driver.press("q");
  cr_expect(driver.text() == before);
  cr_expect_eq(driver.press("q"), Outcome::kQuit);
}

Test(tui_help, nothing_is_cut) {
  for (const size_t columns : {60u, 80u, 120u}) {
    ScreenDriver driver({.size = {200, columns}, .screen = "help"});
    const std::string text = driver.text();
    std::string words;  // all helps one after the other, without what stands at their left
    for (size_t at = 0, end; at < text.size(); at = end + 1) {
      end = text.find('\n', at);
      const size_t help_at = columns < 100 ? 14 : 32;
      if (end > at + help_at) words += text.substr(at + help_at, end - at - help_at) + " ";
    }
    for (const tui::Binding& binding : tui::bindings())
      cr_expect(words.find(binding.help + std::string(" ")) != std::string::npos, "%zu: %s", columns,
                binding.help);
  }
}

Test(tui_help, arrows_do_not_close_it) {
  ScreenDriver driver;
  driver.press("?");
  const std::string help = driver.text();
  driver.press("<Right>l<Left>h");
  cr_expect(driver.text() == help, "%s", driver.text().c_str());
  driver.press("x");
  cr_expect(driver.app().screen_name() == "summary");
}

Test(tui_app, tabs_by_digit_tab_and_click) {
  ScreenDriver driver;
  std::vector<std::string> by_digit, by_tab;
  for (char digit = '1'; digit <= '9'; ++digit) {
    driver.press(std::string(1, digit));
    by_digit.emplace_back(driver.app().screen_name());
  }
  driver.press("1");
  for (int i = 0; i < 9; ++i) {
    by_tab.emplace_back(driver.app().screen_name());
    driver.press("<Tab>");
  }
  cr_expect(by_digit == by_tab);
  cr_expect(driver.app().screen_name() == by_tab[0], "round and round");
  driver.press("<S-Tab>");
  cr_expect(driver.app().screen_name() == by_tab.back());
  driver.press("<Click 1,10>");
  cr_expect(driver.app().screen_name() == by_tab[1], "%s", driver.line(0).c_str());
  driver.press("<Click 24,2>");
  cr_expect(driver.app().screen_name() == "help", "the key bar acts");
}

Test(tui_app, outcomes) {
  ScreenDriver driver;
  cr_expect_eq(driver.press("Q"), Outcome::kQuit);
  cr_expect_eq(driver.press("<C-c>"), Outcome::kQuit);
  cr_expect_eq(driver.press("r"), Outcome::kReload);
  cr_expect_eq(driver.press("<C-l>"), Outcome::kRedraw);
  cr_expect_eq(driver.press("<C-z>"), Outcome::kSuspend);
  driver.press("M");
  cr_expect(!driver.app().mouse());
  driver.press("M");
  cr_expect(driver.app().mouse());
}

Test(tui_app, sizes) {
  ScreenDriver driver({.size = {11, 59}, .screen = "hotspots"});
  cr_expect(driver.text() == "enlarge to 60x12\n" + std::string(10, '\n'));
  driver.press("j<Resize 60x12>");
  cr_expect(driver.line(0).starts_with(" 1 [2 Hot] 3 ") || driver.line(0).starts_with(" 1  [2 Hot]"), "%s",
            driver.line(0).c_str());
  cr_expect(driver.line(0).find(" 9 ") != std::string::npos && driver.shows("?Help"));
  const std::string before = driver.reversed().at(0);
  driver.press("<Resize 300x100>");
  cr_expect_eq(driver.canvas().size().columns, 300u);
  cr_expect(driver.shows("[2 Hotspots]"));
  cr_expect_eq(driver.reversed().size(), 1u);
  driver.press("<Resize 5x1>");
  cr_expect_eq(driver.text().size(), 6u);
  driver.press("<Resize 60x12>");
  cr_expect(driver.reversed().at(0) == before, "the cursor is where it was");
}
