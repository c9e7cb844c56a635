// SPDX-License-Identifier: MIT
// What part of a profile the viewer looks at: steps, filters, metrics and settings, and undo of each; and
// that what screens show adds up with them. Context: tests.
#include <criterion/criterion.h>

#include "test/unit/example_profile.h"
#include "test/unit/odd_profiles.h"
#include "test/unit/screen_driver.h"
#include "viewer/narrow_options.h"

using namespace varve;
using namespace varve::tui;

namespace {

using test::RandomProfile;
using test::ScreenDriver;

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

/// So the line "Filter ..." of a report, which has all of them, is true.
Test(tui_filter, options_of_a_report_are_steps) {
  ScreenDriver driver({.screen = "hotspots"});
  const std::vector<std::string> cases[] = {{"--function", "shade", "--function", "powf"},
                                            {"--function", "powf", "--function", "deflate"},
                                            {"--thread", "worker", "--thread", "raytrace"},
                                            {"--process", "raytrace", "--process", "nobody"},
                                            {"--module", "libm", "--module", "ray"},
                                            {"--time", "1-2", "--time", "1.5-3"},
                                            {"--time", "1-2", "--time", "-1.5"}};
  for (const std::vector<std::string>& words : cases) {
    view::Request request;
    cr_assert(read_narrow_options(words, request).has_value());
    cr_assert(driver.workspace().narrow(words).has_value());
    const auto report =
        view::make(*view::find_kind("hotspots"), {driver.made().profile, driver.made().symbols}, request);
    const auto steps = driver.workspace().make("hotspots");
    cr_assert(report && steps);
    cr_expect_eq(report->ledger.shown.count, steps->ledger.shown.count, "%s %s", words[1].c_str(),
                 words[3].c_str());
    cr_expect_eq(request.filter.from.count, driver.workspace().request().filter.from.count);
    cr_expect_eq(request.filter.to.count, driver.workspace().request().filter.to.count);
    driver.workspace().clear();
  }
  view::Request request;
  const auto refused = read_narrow_options({"--time", "1-2", "--time", "2-3"}, request);
  cr_assert_not(refused.has_value());
  cr_expect_eq(refused.error(), "--time 2-3 has no moment of the --time before it", "%s",
               refused.error().c_str());
}

Test(tui_filter, from_the_selected_row) {
  ScreenDriver driver({.screen = "hotspots"});
  driver.press("/^shade<Enter>f");
  cr_expect(driver.filter().starts_with("function shade("), "%s", driver.filter().c_str());
  driver.press("d");
  cr_expect(driver.filter().find(" > module raytrace") != std::string::npos, "%s", driver.filter().c_str());
  driver.press("t");
  cr_expect(driver.message() == "This row is about no thread.", "%s", driver.message().c_str());
  driver.press(":threads<Enter>");
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
  driver.press("m");
  cr_expect(driver.line(1).starts_with("Wait time "), "%s", driver.line(1).c_str());
  driver.press("mg");
  cr_expect(driver.text() == all, "round and round");
  driver.press("uu");
  cr_expect(driver.line(1).starts_with("Over CPU time "), "%s", driver.line(1).c_str());
  driver.press("uuuug");
  cr_expect(driver.text() == all);
  driver.press(":metric poor<Enter>f");
  cr_expect(driver.line(1).starts_with("Poor CPU time ") && driver.filter().starts_with("function "));
  driver.press(":metric none<Enter>");
  cr_expect(driver.message().find("not one of cpu, poor, ok, ideal, over, wait") != std::string::npos, "%s",
            driver.message().c_str());
}

/// Both have marks of the same names: the later filter means those of the process that is looked at.
Test(tui_filter, marks_are_those_of_the_processes_that_pass) {
  RandomProfile made = test::example_profile();
  load::Process other = made.profile.processes[0];
  other.pid = 99;
  made.profile.processes.push_back(other);
  const Nanos start = made.profile.session.start_time;
  for (uint32_t process : {0u, 1u})
    for (const char* name : {"begin", "end"})
      made.profile.marks.push_back({{process},
                                    ThreadId::none(),
                                    start + Nanos{1'000'000'000 * (1 + made.profile.marks.size())},
                                    name});
  ScreenDriver driver({.screen = "hotspots"}, std::move(made));
  Workspace& workspace = driver.workspace();
  cr_assert(workspace.narrow({"--process", "99"}).has_value());
  cr_assert(workspace.narrow({"--time", "mark:begin..end"}).has_value());
  cr_expect_eq(workspace.request().filter.from.count, 3'000'000'000);
  cr_expect_eq(workspace.request().filter.to.count, 4'000'000'000);
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
  cr_expect(driver.filter().starts_with("time "), "%s", driver.filter().c_str());
  const auto view = driver.workspace().make("hotspots");
  cr_expect_lt(view->ledger.shown.count, view->ledger.cpu.count);
  driver.press("u");
  cr_expect(driver.filter().empty());
  driver.press("f");
  cr_expect(driver.message() == "This row is about no function.", "%s", driver.message().c_str());
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

/// A lock opens who waited for it, in waits; on screens that have all of them anyway the metric stays.
Test(tui_waits, a_lock_opens_who_waited) {
  for (const char* screen : {"waits", "critical-path", "idle"}) {
    ScreenDriver driver({.screen = screen});
    driver.press("m");
    cr_expect(driver.message().starts_with("This screen shows all metrics"), "%s", driver.message().c_str());
    cr_expect_eq(driver.workspace().request().metric, analyze::kCpu);
  }
  ScreenDriver driver({.screen = "waits"});
  driver.press("<Enter>");
  cr_expect_eq(driver.workspace().request().metric, analyze::kWait);
  cr_expect(driver.shows("[4 Up]") && driver.shows("Triangle::hit"));
  driver.press("uq");
  cr_expect_eq(driver.workspace().request().metric, analyze::kCpu);
  cr_expect(driver.shows("[8 Lock]"));
}

/// Rows of what ran open as CPU time, others as waits.
Test(tui_waits, idle_opens_what_its_rows_are) {
  ScreenDriver driver({.screen = "idle"});
  driver.press("<Enter>");
  cr_expect(driver.shows("[5 Call]") && driver.shows("strtod"));
  cr_expect_eq(driver.workspace().request().metric, analyze::kCpu);
  driver.press("q/Condition<Enter><Enter>");
  cr_expect(driver.shows("Triangle::hit"));
  cr_expect_eq(driver.workspace().request().metric, analyze::kWait);
}

Test(tui_waits, lists_by_what_waited) {
  ScreenDriver driver({.screen = "waits"});
  driver.press(":by thread<Enter>");
  cr_expect(driver.shows("worker 4") && !driver.shows("Condition"));
  driver.press(":by callpath<Enter>");
  cr_expect(driver.shows("3 more") && !driver.shows("worker 4"), "%s", driver.text().c_str());
  driver.press("u");
  cr_expect(driver.shows("worker 4"));
}

Test(tui_waits, idle_says_why_there_is_nothing) {
  RandomProfile made = test::example_profile();
  made.profile.run_states = {};
  ScreenDriver driver({.screen = "idle"}, std::move(made));
  cr_expect(driver.shows("run states of threads were not recorded"));
}
