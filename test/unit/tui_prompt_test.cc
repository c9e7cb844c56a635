// SPDX-License-Identifier: MIT
// What is typed: commands, options, searches, files; filters, their breadcrumbs and undo; screens and places
// that are kept; sizes. Context: tests.
#include <criterion/criterion.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>

#include "test/unit/example_profile.h"
#include "test/unit/odd_profiles.h"
#include "test/unit/screen_driver.h"
#include "viewer/render/render.h"

using namespace varve;
using namespace varve::tui;

namespace {

using test::RandomProfile;
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

Test(tui_workspace, steps) {
  ScreenDriver driver;
  Workspace& workspace = driver.workspace();
  cr_expect(workspace.narrow({"--thread", "worker 1"}).has_value());
  cr_expect(workspace.narrow({"--min-share", "5"}, "above 5%").has_value());
  cr_expect(workspace.crumbs() == "--thread 'worker 1' > above 5%", "%s", workspace.crumbs().c_str());
  const uint64_t revision = workspace.revision();
  for (const std::vector<std::string>& bad : {std::vector<std::string>{"--nonsense"},
                                              {"--thread", "("},
                                              {"--thread"},
                                              {"-h"},
                                              {"--help"},
                                              {"x"},
                                              {"--time", "mark:nowhere.."},
                                              {"--target", "0"},
                                              {"--thresholds", "3,2,1"},
                                              {"--format", "csv"}}) {
    const auto refused = workspace.narrow(bad);
    cr_expect(!refused.has_value() && !refused.error().empty(), "%s", bad[0].c_str());
  }
  cr_expect_eq(workspace.revision(), revision, "what is refused changes nothing");
  cr_expect(workspace.undo());
  cr_expect(workspace.crumbs() == "--thread 'worker 1'");
  cr_expect(workspace.narrow({"--module", "libc"}).has_value());
  workspace.clear();
  cr_expect(workspace.crumbs().empty());
  cr_expect_gt(workspace.revision(), revision);
  cr_expect(workspace.undo());
  cr_expect(workspace.crumbs() == "--thread 'worker 1' > --module libc", "what was cleared comes back");
  while (workspace.undo()) continue;
  cr_expect(workspace.crumbs().empty());
}

Test(tui_workspace, settings_are_no_filters) {
  ScreenDriver driver;
  Workspace& workspace = driver.workspace();
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--sort", "poor"},
                                                {"--thread", "worker"},
                                                {"--target", "4"},
                                                {"--sort", "total"},
                                                {"--metric", "poor"}})
    cr_assert(workspace.narrow(words).has_value());
  cr_expect(workspace.crumbs() == "--thread worker", "%s", workspace.crumbs().c_str());
  cr_expect(workspace.settings() == "--target 4 > --sort total", "%s", workspace.settings().c_str());
  cr_expect(workspace.narrowed());
  workspace.clear();
  cr_expect_not(workspace.narrowed());
  cr_expect(workspace.crumbs().empty());
  cr_expect(workspace.settings() == "--target 4 > --sort total", "what is no filter stays");
  cr_expect_eq(workspace.request().metric, analyze::kPoor);
  cr_expect(workspace.undo() && workspace.undo());
  cr_expect_eq(workspace.request().metric, analyze::kCpu);
}

Test(tui_workspace, filters_add_up) {
  ScreenDriver driver;
  const auto shown = [&] { return driver.workspace().make("hotspots")->ledger.shown.count; };
  const auto narrow = [&](const char* option, const char* value) {
    cr_assert(driver.workspace().narrow({option, value}).has_value());
  };
  narrow("--function", "shade");
  const uint64_t shade = shown();
  narrow("--function", "powf");
  const uint64_t both = shown();
  cr_expect_lt(both, shade);
  driver.workspace().clear();
  narrow("--function", "powf");
  narrow("--function", "deflate");
  cr_expect_eq(shown(), 0u, "no stack has both");
  driver.workspace().clear();
  narrow("--thread", "worker");
  narrow("--thread", "raytrace");
  cr_expect_eq(shown(), 0u, "no thread has both names");
  driver.workspace().clear();
  narrow("--time", "1-2");
  narrow("--time", "1.5-3");
  const uint64_t half = shown();
  driver.workspace().clear();
  narrow("--time", "1.5-2");
  cr_expect_eq(shown(), half);
}

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
  for (const char* script : {":--thread x<Esc>", "&x<Esc>", "L5<Esc>", "P<Esc>"}) {
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

Test(tui_filter, from_the_selected_row) {
  ScreenDriver driver({.screen = "hotspots"});
  driver.press("/^shade<Enter>f");
  cr_expect(driver.filter().starts_with("function shade("), "%s", driver.filter().c_str());
  driver.press("d");
  cr_expect(driver.filter().find(" > module raytrace") != std::string::npos, "%s", driver.filter().c_str());
  driver.press("t");
  cr_expect(driver.message() == "This row is about no thread.", "%s", driver.message().c_str());
  driver.press("8");
  cr_expect(driver.app().screen_name() == "threads");
  driver.press("t");
  cr_expect(driver.filter().find(" > thread 47") != std::string::npos, "%s", driver.filter().c_str());
  driver.press("u");
  cr_expect(driver.filter().find(" > thread") == std::string::npos);
  driver.press("<Backspace>");
  cr_expect(driver.filter().starts_with("function shade(") && driver.filter().find('>') == std::string::npos);
  driver.press("U");
  cr_expect(driver.filter().empty());
  driver.press("u");
  cr_expect(driver.filter().starts_with("function shade("), "what was cleared comes back");
  driver.press("uu");
  cr_expect(driver.message() == "There is no filter to undo.");
}

Test(tui_filter, a_thread_is_its_id) {
  ScreenDriver driver({.screen = "threads"});
  driver.press("/worker 2<Enter>t");
  cr_expect(driver.filter() == "thread 4713", "%s", driver.filter().c_str());
  const auto view = driver.workspace().make("threads");
  cr_expect_gt(view->ledger.shown.count, 0u);
  cr_expect_lt(view->ledger.shown.count, view->ledger.cpu.count);
}

Test(tui_filter, undo_takes_one_thing_back) {
  ScreenDriver driver({.screen = "hotspots"});
  const std::string all = driver.text();
  driver.press(":--target 4<Enter>&shade<Enter>");
  cr_expect(!driver.shows("strtod"));
  driver.press("u");
  cr_expect(driver.shows("strtod"), "the rows are there again");
  cr_expect(driver.settings() == "--target 4", "and the target still is");
  driver.press("/strtod<Enter>u");
  cr_expect(driver.settings().empty(), "a search is no filter");
  driver.press("&shade<Enter>3u");
  cr_expect(driver.message() == "There is no filter to undo.", "rows are kept in another screen");
  driver.press("q");
  cr_expect(!driver.shows("strtod"));
  cr_expect(driver.line(1).find("rows with shade") != std::string::npos, "%s", driver.line(1).c_str());
  driver.press("3U2");
  cr_expect(driver.shows("strtod"), "all filters are all of them");
  driver.press("u");
  cr_expect(driver.line(1).find("rows with shade") != std::string::npos, "and come back together");
  cr_expect_not(driver.shows("strtod"));
  driver.press("UU");
  cr_expect(driver.message() == "There is no filter to clear.", "%s", driver.message().c_str());
  driver.press("6&x<Enter>");
  cr_expect(driver.message() == "Rows can be kept in lists and trees only.");
}

/// Every metric shows its own time, and the line above says which; undo goes back as it does for filters.
Test(tui_filter, metrics_one_after_the_other) {
  ScreenDriver driver({.screen = "hotspots"});
  const std::string all = driver.text();
  const uint64_t cpu = driver.workspace().make("hotspots")->ledger.cpu.count;
  uint64_t sum = 0;
  for (const char* title : {"Poor CPU time ", "Ok CPU time ", "Ideal CPU time ", "Over CPU time "}) {
    driver.press("m");
    cr_expect(driver.line(1).starts_with(title), "%s", driver.line(1).c_str());
    cr_expect(driver.message().starts_with(title), "%s", driver.message().c_str());
    cr_expect(driver.filter().empty() && driver.settings().empty());
    sum += driver.workspace().make("hotspots")->ledger.shown.count;
  }
  cr_expect_gt(sum, 0u);
  cr_expect_leq(sum, cpu);
  driver.press("mg");
  cr_expect(driver.text() == all, "round and round");
  driver.press("u");
  cr_expect(driver.line(1).starts_with("Over CPU time "), "%s", driver.line(1).c_str());
  driver.press("uuuug");
  cr_expect(driver.text() == all);
  driver.press(":metric poor<Enter>f");
  cr_expect(driver.line(1).starts_with("Poor CPU time ") && driver.filter().starts_with("function "));
  driver.press(":metric none<Enter>");
  cr_expect(driver.message().find("not one of cpu, poor, ok, ideal, over") != std::string::npos, "%s",
            driver.message().c_str());
}

Test(tui_filter, no_metric_without_bands) {
  RandomProfile made = test::example_profile();
  made.profile.run_states = {};
  ScreenDriver driver({.screen = "hotspots"}, std::move(made));
  driver.press("m");
  cr_expect(
      driver.message() == "No metric poor: run states were not recorded; record with --run-states auto.",
      "%s", driver.message().c_str());
  cr_expect(driver.line(1).starts_with("CPU time "));
}

Test(tui_filter, range_of_time) {
  ScreenDriver driver({.screen = "timeline"});
  driver.press("<Right><Right> <Right><Right><Right>f");
  cr_expect(driver.filter().starts_with("--time "), "%s", driver.filter().c_str());
  const auto view = driver.workspace().make("hotspots");
  cr_expect_lt(view->ledger.shown.count, view->ledger.cpu.count);
  driver.press("u");
  cr_expect(driver.filter().empty());
  driver.press("f");
  cr_expect(driver.message() == "This row is about no function.", "%s", driver.message().c_str());
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

Test(tui_sums, hotspots_are_those_of_the_report) {
  ScreenDriver driver({.size = {60, 300}, .screen = "hotspots"});
  const auto view = driver.workspace().make("hotspots");
  const view::Table& table = view->tables.front();
  const auto column = [&](const char* id) {
    return size_t(std::ranges::find(table.columns, id, &view::Column::id) - table.columns.begin());
  };
  const size_t self = column("self_ns"), samples = column("samples");
  uint64_t sum = 0;
  driver.press("%%%");  // samples
  cr_expect(driver.line(2).find("Samples") != std::string::npos);
  for (size_t i = 0; i < table.rows.size(); ++i) {
    sum += std::get<uint64_t>(table.row(i)[self]);
    const std::string line = driver.line(int(3 + i));
    const std::string wanted = std::to_string(std::get<uint64_t>(table.row(i)[samples]));
    std::string digits = line.substr(0, line.find_first_of("ghijklmnopqrstuvwxyz["));
    std::erase(digits, ',');
    cr_expect(digits.find(wanted) != std::string::npos, "%s: %s", wanted.c_str(), line.c_str());
  }
  cr_expect_eq(sum, view->ledger.cpu.count, "all rows together are the CPU time");
  cr_expect(driver.line(1).starts_with("CPU time 38"), "%s", driver.line(1).c_str());
}

Test(tui_sums, self_time_on_the_screen_adds_up) {
  for (const char* screen : {"hotspots", "modules", "lines"}) {
    ScreenDriver driver({.size = {80, 300}, .screen = screen});
    const auto view = driver.workspace().make(screen);
    double sum = 0;
    size_t rows = 0;
    for (int row = 3; row < 78 && !driver.line(row).empty(); ++row, ++rows)
      sum += std::stod(driver.line(row));
    const double wanted = double(view->ledger.cpu.count) / 1e9;
    cr_expect_eq(rows, view->tables.front().rows.size(), "%s", screen);
    cr_expect(std::abs(sum - wanted) <= 0.005 * double(rows) + 1e-9, "%s: %f of %f", screen, sum, wanted);
  }
}

Test(tui_sums, a_search_of_odd_profiles_ends) {
  for (const test::OddProfile& odd : test::odd_profiles())
    for (const ScreenKind& kind : screens()) {
      ScreenDriver driver({.screen = kind.name}, odd.make());
      driver.press("/main<Enter>nnN/$<Enter>nN/zzz<Enter>nN&main<Enter>&<Enter>");
      cr_expect(!driver.line(0).empty());
    }
}
