// SPDX-License-Identifier: MIT
// The filter by object: what passes it is what the object's row of waits has, in lists and in trees; objects
// of one name are told apart by their numbers; CPU time is of none. Context: tests.
#include <criterion/criterion.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "test/unit/example_profile.h"
#include "test/unit/random_profile.h"
#include "test/unit/screen_driver.h"
#include "viewer/analyze/select_waits.h"
#include "viewer/analyze/wait_objects.h"
#include "viewer/report_options.h"
#include "viewer/tui/row_words.h"

namespace varve {
namespace {

using analyze::Filter;
using test::RandomProfile;
using test::ScreenDriver;

view::Request request_for(const std::string& object) {
  view::Request request;
  request.metric = analyze::kWait;
  request.filter.object = *analyze::Pattern::parse(object);
  return request;
}

view::View made_of(const char* kind, const RandomProfile& made, const view::Request& request) {
  auto view = view::make(*view::find_kind(kind), {made.profile, made.symbols}, request);
  cr_assert(view.has_value(), "%s", view ? "" : view.error().c_str());
  return std::move(*view);
}

uint64_t column_sum(const view::Table& table, const char* column) {
  uint64_t sum = 0;
  for (uint32_t row = 0; row < table.rows.size(); ++row)
    if (table.rows[row].kind != view::RowKind::kFilteredOut) sum += tui::number_of(table, row, column);
  return sum;
}

/// The rows of a tree that are below no other.
uint64_t roots_of(const view::Table& table, const char* column) {
  uint64_t sum = 0;
  for (uint32_t row = 0; row < table.rows.size(); ++row)
    if (table.rows[row].depth == 0 && table.rows[row].kind != view::RowKind::kFilteredOut)
      sum += tui::number_of(table, row, column);
  return sum;
}

Test(object_filter, sums_are_those_of_the_row) {
  for (const uint64_t seed : {1, 5, 7}) {
    const RandomProfile made = test::random_profile(seed);
    const auto concurrency = analyze::concurrency(made.profile, {}, {});
    const auto counted =
        analyze::counted_waits(made.profile, analyze::time_range(made.profile, {}), concurrency);
    uint64_t all = 0;
    std::set<uint32_t> numbers;
    for (const analyze::WaitObject& object : analyze::wait_objects(made.profile, {}, concurrency, counted)) {
      const Filter filter = request_for(std::to_string(object.number)).filter;
      const auto selection = analyze::select_waits(made.profile, made.symbols, filter, concurrency);
      cr_expect_eq(selection.kept[analyze::kCpu], object.wait_ns);
      cr_expect_eq(selection.kept[analyze::kSamples], object.count);
      cr_expect_eq(selection.by_path.sum()[analyze::kCpu], object.wait_ns);
      cr_expect_eq(selection.by_thread.sum()[analyze::kCpu], object.wait_ns);
      cr_expect(numbers.insert(object.number).second, "number %u of two objects", object.number);
      all += object.wait_ns;
    }
    cr_expect_gt(numbers.size(), 10u);
    const auto any = analyze::select_waits(made.profile, made.symbols, request_for(".").filter, concurrency);
    cr_expect_eq(any.kept[analyze::kCpu], all, "any object, but no wait that is for none");
  }
}

Test(object_filter, views_agree_with_the_row) {
  const RandomProfile made = test::random_profile(5);
  const view::View all = made_of("waits", made, {});
  const view::Table& objects = all.tables.front();
  size_t compared = 0;
  for (uint32_t row = 0; row < objects.rows.size(); ++row) {
    const std::string number = tui::cell_of(objects, row, "object_id");
    if (number.empty()) continue;  // a sum
    const uint64_t wait_ns = tui::number_of(objects, row, "wait_ns");
    const view::Request request = request_for(number);
    cr_expect_eq(column_sum(made_of("hotspots", made, request).tables.front(), "self_ns"), wait_ns);
    for (const char* tree : {"top-down", "bottom-up"})
      cr_expect_eq(roots_of(made_of(tree, made, request).tables.front(), "total_ns"), wait_ns, "%s", tree);
    const view::View own = made_of("waits", made, request);
    const view::Table& table = own.tables.front();
    cr_expect_eq(column_sum(table, "wait_ns"), wait_ns);
    cr_expect(tui::cell_of(table, 0, "object_id") == number, "the number is the same, whatever is filtered");
    cr_expect(tui::cell_of(table, 0, "object") == tui::cell_of(objects, row, "object"));
    if (++compared == 12) break;
  }
  cr_expect_eq(compared, 12u);
}

/// The same address in another process, and an object that was made anew, have the same names.
Test(object_filter, by_name_is_all_of_that_name) {
  const RandomProfile made = test::random_profile(5);
  const view::View all = made_of("waits", made, {});
  const view::Table& objects = all.tables.front();
  uint64_t mutexes = 0;
  for (uint32_t row = 0; row < objects.rows.size(); ++row)
    if (tui::cell_of(objects, row, "type") == "Mutex") mutexes += tui::number_of(objects, row, "wait_ns");
  cr_assert_gt(mutexes, 0u);
  cr_expect_eq(column_sum(made_of("waits", made, request_for("^Mutex")).tables.front(), "wait_ns"), mutexes);
}

Test(object_filter, cpu_time_is_for_no_object) {
  const RandomProfile made = test::random_profile(5);
  view::Request request = request_for("^Mutex");
  const view::View summary = made_of("summary", made, request);
  cr_expect_eq(summary.ledger.filtered_out.count, 0u);
  cr_expect(std::ranges::find(summary.notes, "Only waits are for objects: --object changes nothing here.") !=
            summary.notes.end());
  cr_expect_not(summary.whole_run, "other filters change it");
  cr_expect(made_of("critical-path", made, request).whole_run);
  request.metric = analyze::kCpu;
  const auto refused = view::make(*view::find_kind("hotspots"), {made.profile, made.symbols}, request);
  cr_assert_not(refused.has_value());
  cr_expect(refused.error() == "CPU time is for no object: --object goes with --metric wait.", "%s",
            refused.error().c_str());
  cr_expect_gt(column_sum(made_of("waits", made, request).tables.front(), "wait_ns"), 0u,
               "waits has no other time, so it needs no metric");
}

/// The line below a text says how much the filter leaves: of waits, since all CPU time passes.
Test(object_filter, what_passes_is_told_of_waits) {
  const RandomProfile made = test::random_profile(5);
  const view::View mutexes = made_of("waits", made, request_for("^Mutex"));
  cr_expect_eq(mutexes.ledger.shown.count, column_sum(mutexes.tables.front(), "wait_ns"));
  cr_expect_gt(mutexes.ledger.filtered_out.count, 0u);
  const std::pair<const char*, const char*> kinds[] = {
      {"waits", "No wait passes the filter."}, {"idle", "No wait in these moments passes the filter."}};
  for (const auto& [kind, note] : kinds) {
    const view::View none = made_of(kind, made, request_for("no such object"));
    cr_expect_eq(none.ledger.shown.count, 0u, "%s", kind);
    cr_expect_eq(std::ranges::count(none.notes, note), 1, "%s", kind);
  }
}

Test(object_filter, the_option_counts_waits) {
  ScreenDriver driver;
  cr_assert(driver.workspace().narrow({"--object", "^Mutex"}).has_value());
  cr_expect_eq(driver.workspace().request().metric, analyze::kWait);
  cr_expect_not(driver.workspace().narrow({"--metric", "cpu"}).has_value());
  cr_expect_not(driver.workspace().narrow({"--object", "("}).has_value());
  cr_expect(driver.filter() == "--object ^Mutex", "%s", driver.filter().c_str());
}

Test(object_filter, from_a_row_of_the_locks) {
  ScreenDriver driver({.screen = "waits"});
  const view::View waits = made_of("waits", driver.made(), {});
  const std::string name = tui::cell_of(waits.tables.front(), 0, "object");
  driver.press("<Enter>");
  cr_expect(driver.app().screen_name() == "bottom-up");
  cr_expect(driver.filter() == "object " + name, "%s", driver.filter().c_str());
  cr_expect_eq(driver.workspace().totals()->shown.count, tui::number_of(waits.tables.front(), 0, "wait_ns"));
  driver.press("m");
  cr_expect_eq(driver.workspace().request().metric, analyze::kWait);
  cr_expect(driver.message().starts_with("CPU time is for no object"), "%s", driver.message().c_str());
  driver.press("8<Enter>");
  cr_expect(driver.filter() == "object " + name, "the same again is no step");
  driver.press("u");
  cr_expect(driver.filter().empty());
  cr_expect_eq(driver.workspace().request().metric, analyze::kCpu, "one step of both");
}

}  // namespace
}  // namespace varve
