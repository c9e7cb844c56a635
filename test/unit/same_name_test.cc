// SPDX-License-Identifier: MIT
// Functions that share a name are told apart by their place: in views, by what a user types and by the row
// that is opened. Context: tests.
#include <criterion/criterion.h>

#include "test/unit/example_profile.h"
#include "test/unit/screen_driver.h"
#include "viewer/analyze/function_place.h"
#include "viewer/render/render.h"
#include "viewer/report_options.h"
#include "viewer/view/request.h"

using namespace varve;

namespace {

using test::ScreenDriver;

FunctionId find(const symbol::SymbolTable& symbols, std::string_view name) {
  for (uint32_t i = 0; i < symbols.functions.size(); ++i)
    if (symbols.strings.text(symbols.functions[i].name) == name) return {i};
  cr_assert(false, "no such function");
  return {};
}

/// The example where libm has a strtod (which is powf there) beside that of libc.
test::RandomProfile namesakes() {
  test::RandomProfile made = test::example_profile();
  symbol::Function& one = made.symbols.functions[find(made.symbols, "strtod").index()];
  symbol::Function& other = made.symbols.functions[find(made.symbols, "powf").index()];
  other.name = other.short_name = other.linkage_name = one.name;
  one.low = {0x1000};
  other.low = {0x2000};
  other.size = 0x100;
  return made;
}

view::Made callers_of(const test::RandomProfile& made, const std::string& function) {
  view::Request request;
  request.function = function;
  return view::make(*view::find_kind("callers"), {made.profile, made.symbols}, request);
}

uint64_t total_of(const view::Made& made) {
  for (const view::Fact& fact : made->facts)
    if (fact.id == "function_total_ns") return std::get<uint64_t>(fact.value);
  return 0;
}

}  // namespace

Test(same_name, a_place_chooses_one) {
  const test::RandomProfile made = namesakes();
  const view::Made both = callers_of(made, "strtod");
  cr_assert(both.has_value());
  cr_expect_eq(total_of(both), 3'900'000'000);
  cr_assert_eq(both->notes.size(), 2);  // the other is of the profile's damages
  for (const std::string_view place : {"strtod@libc.so.6+0x1000", "strtod@libm.so.6+0x2000"})
    cr_expect(both->notes[0].find(place) != std::string::npos, "%s", both->notes[0].c_str());
  for (const std::string one : {"strtod@libm.so.6+0x2000", "strtod@libm.so.6+0x20ff", "strtod@libm.so.6"}) {
    const view::Made alone = callers_of(made, one);
    cr_assert(alone.has_value(), "%s", one.c_str());
    cr_expect_eq(total_of(alone), 1'850'000'000, "%s", one.c_str());
    cr_expect_eq(alone->notes.size(), 1);
  }
  for (const std::string none : {"strtod@libm.so.6+0x2100", "strtod@libm", "strtod@"})
    cr_expect_not(callers_of(made, none).has_value(), "%s", none.c_str());
}

Test(same_name, only_shared_names_have_places) {
  const test::RandomProfile made = namesakes();
  const view::Made hot = view::make(*view::find_kind("hotspots"), {made.profile, made.symbols}, {});
  const auto rows = test::read_csv(render::csv(*hot));
  for (const auto& row : rows)
    if (row[0] != "function")
      cr_expect_eq(row.back().empty(), row[0] != "strtod", "%s: %s", row[0].c_str(), row.back().c_str());
  cr_expect(rows[0].back() == "place");
}

Test(same_name, the_row_that_is_opened_is_the_one_shown) {
  struct Case {
    const char *screen, *keys, *total;
  };
  for (const Case& each : {Case{"hotspots", "/strtod<Enter><Enter>", "2.05"},
                           {"hotspots", "/strtod<Enter>n<Enter>", "1.85"},
                           {"top-down", "/strtod<Enter>5", "1.85"},
                           {"top-down", "/strtod<Enter>n5", "2.05"},
                           {"callers", ":callers shade<Enter>/strtod<Enter><Enter>", "1.85"}}) {
    ScreenDriver driver({.screen = each.screen}, namesakes());
    driver.press(each.keys);
    cr_expect(driver.app().screen_name() == "callers");
    const auto selected = driver.reversed();
    cr_assert_eq(selected.size(), 1);
    cr_expect(selected[0].find(each.total) != std::string::npos && !driver.shows("and 1 more"), "%s %s:\n%s",
              each.screen, each.keys, driver.text().c_str());
  }
}

/// Not what has the name in its own, as a regular expression would find it.
Test(same_name, a_function_without_time_is_no_other) {
  test::RandomProfile made = namesakes();
  symbol::Function& longer = made.symbols.functions[find(made.symbols, "deflate").index()];
  longer.name = longer.short_name = made.symbols.strings.intern("strtod_and_deflate");
  view::Request request;
  request.filter.function = *analyze::Pattern::parse("strtod_and_deflate");
  for (const std::string name : {"strtod", "strtod@libm.so.6+0x2000"}) {
    set_function(request, name);
    const view::Made none = view::make(*view::find_kind("callers"), {made.profile, made.symbols}, request);
    cr_assert_not(none.has_value(), "%s", name.c_str());
    const std::string wanted =
        "'" + name + "' has no time in this profile as filtered; leave the filter and the metric out";
    cr_expect_eq(none.error(), wanted, "%s", none.error().c_str());
  }
}
