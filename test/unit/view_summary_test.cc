// SPDX-License-Identifier: MIT
// The summary under filters: each line and field says of what it is, of the whole run or of what passes.
// Context: tests.
#include <criterion/criterion.h>

#include <algorithm>
#include <initializer_list>

#include "test/unit/example_profile.h"
#include "viewer/view/request.h"
#include "viewer/view/rows.h"

using namespace varve;

namespace {

const test::RandomProfile& made() {
  static const test::RandomProfile profile = test::example_profile();
  return profile;
}

view::View view_of(const char* kind, const view::Request& request) {
  auto view = view::make(*view::find_kind(kind), {made().profile, made().symbols}, request);
  cr_assert(view.has_value());
  return std::move(*view);
}

const view::Fact& fact(const view::View& view, std::string view::Fact::*key, std::string_view name) {
  const auto found = std::ranges::find(view.facts, name, key);
  cr_assert(found != view.facts.end(), "no fact %s", std::string(name).c_str());
  return *found;
}

std::string words(const view::View& view, const char* label) {
  return std::string(std::get<std::string_view>(fact(view, &view::Fact::label, label).value));
}

uint64_t number(const view::View& view, const char* id) {
  return std::get<uint64_t>(fact(view, &view::Fact::id, id).value);
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

view::Request request_of_thread(const char* expression) {
  view::Request request;
  request.filter.thread = *analyze::Pattern::parse(expression);
  return request;
}

}  // namespace

Test(view_summary, lines_of_a_filter_say_what_passes) {
  const view::View view = view_of("summary", request_of_thread("worker"));
  cr_expect(has(words(view, "CPU time"), " pass the filter: "), "%s", words(view, "CPU time").c_str());
  const std::string of_all = " of " + std::to_string(made().profile.sample_count) + ", in ";
  cr_expect(has(words(view, "Samples"), of_all), "%s", words(view, "Samples").c_str());
  cr_expect(words(view, "Cores").starts_with("Of all threads: "), "%s", words(view, "Cores").c_str());
  cr_expect(has(words(view, "Quality"), "; in the whole run "), "%s", words(view, "Quality").c_str());
}

Test(view_summary, lines_without_a_filter_are_of_the_run) {
  const view::View view = view_of("summary", {});
  for (const char* label : {"CPU time", "Samples", "Cores", "Quality"})
    for (const char* part : {"pass the filter", "whole run", "Of all threads", "as filtered"})
      cr_expect(!has(words(view, label), part), "%s", words(view, label).c_str());
}

/// --time and --process choose whose levels count, so Cores is of what passes.
Test(view_summary, cores_obey_time) {
  view::Request request;
  request.filter.to = {made().profile.session.elapsed.count / 2};
  const view::View view = view_of("summary", request);
  cr_expect(!has(words(view, "Cores"), "Of all threads"), "%s", words(view, "Cores").c_str());
  cr_expect_eq(number(view, "shown_elapsed_ns"), request.filter.to.count);
}

Test(view_summary, fields_are_of_the_run_but_those_that_are_shown) {
  const view::View all = view_of("summary", {}), part = view_of("summary", request_of_thread("worker"));
  for (const view::Fact& each : all.facts) {
    if (each.id.empty() || each.id.starts_with("shown_") || each.id == "whole_stack_share") continue;
    cr_expect(fact(part, &view::Fact::id, each.id).value == each.value, "%s", each.id.c_str());
  }
  for (const char* id : {"samples", "threads", "processes"})
    cr_expect_eq(number(all, (std::string("shown_") + id).c_str()), number(all, id), "%s", id);
  cr_expect_eq(number(all, "shown_ns"), number(all, "cpu_ns"));
  cr_expect_eq(number(part, "shown_ns"), part.ledger.shown.count);
  cr_expect_lt(number(part, "shown_samples"), number(part, "samples"));
  cr_expect_lt(number(part, "shown_threads"), number(part, "threads"));
}

/// As many threads as the view of them has rows.
Test(view_summary, shown_threads_are_rows) {
  const view::Request request = request_of_thread("worker");
  const view::View threads = view_of("threads", request);
  const auto rows =
      std::ranges::count(threads.tables.front().rows, view::RowKind::kOrdinary, &view::Row::kind);
  cr_expect_eq(number(view_of("summary", request), "shown_threads"), uint64_t(rows));
}

/// What is not quite all is never rounded up to it.
Test(view_summary, only_all_is_a_hundred_percent) {
  cr_expect(view::percent_down(1, 1) == "100.0%");
  cr_expect(view::percent_down(0.99999, 1) == "99.9%");
  cr_expect(view::percent_down(1 - 1e-9, 2) == "99.99%");
  for (int i = 0; i <= 1000; ++i) {
    const std::string wanted = std::to_string(i / 10) + "." + std::to_string(i % 10) + "%";
    cr_expect(view::percent_down(i / 1000.0, 1) == wanted, "%s", wanted.c_str());
  }
}

namespace {

/// What the summary says of waits if all were for two descriptors of these names, and led somewhere or not.
std::string waits_for(std::initializer_list<const char*> names, uint32_t flow) {
  test::RandomProfile all = test::example_profile();
  load::Waits& waits = all.profile.waits;
  const auto first = uint32_t(waits.names.size());
  for (const char* name : names) waits.names.emplace_back(name);
  for (size_t i = 0; i < waits.waits.size(); ++i) {
    load::Wait& wait = waits.waits[i];
    wait.kind = format::ObjectKind::kDescriptor;
    wait.name = first + uint32_t(i % names.size());
    wait.object = wait.name;
    wait.flow = flow;
  }
  auto view = view::make(*view::find_kind("summary"), {all.profile, all.symbols}, {});
  cr_assert(view.has_value());
  const auto found = std::ranges::find(view->facts, "Waits", &view::Fact::label);
  return found == view->facts.end() ? "" : std::string(std::get<std::string_view>(found->value));
}

}  // namespace

Test(view_summary, disks_are_a_reason_to_wait) {
  const std::string two = waits_for({"/data/a", "/data/b"}, 0), one = waits_for({"/data/a"}, 0);
  cr_expect(has(two, " for files while processors idled, ") && has(two, "Stream /data/"), "%s", two.c_str());
  cr_expect(has(one, " for Stream /data/a") && has(one, " while processors idled"), "%s", one.c_str());
}

Test(view_summary, what_is_no_file_is_not_said_to_be_one) {
  cr_expect_eq(waits_for({"/dev/null", "/dev/pts/0"}, 0), "");
  cr_expect_eq(waits_for({"pipe:[1]", "socket 127.0.0.1:80"}, 0), "");
  cr_expect_eq(waits_for({"/run/a.fifo"}, 7), "");
}

Test(view_note, a_range_behind_the_end_says_when_that_was) {
  view::Request request;
  request.filter.from = {100'000'000'000};
  const view::View late = view_of("hotspots", request),
                   none = view_of("hotspots", request_of_thread("nobody"));
  cr_expect_eq(
      std::ranges::count(late.notes, "Nothing passes the filter: the recording ended after 12.40 s."), 1);
  cr_expect_eq(std::ranges::count(none.notes, "No CPU time passes the filter."), 1);
  request = request_of_thread("nobody");
  request.metric = analyze::kWait;
  cr_expect_eq(std::ranges::count(view_of("hotspots", request).notes, "No Wait time passes the filter."), 1);
}
