// SPDX-License-Identifier: MIT
// Views of a part of a run, and of its smallest parts: what lies outside is in no number. Context: tests.
#include <criterion/criterion.h>

#include <algorithm>

#include "test/unit/random_profile.h"
#include "test/unit/view_rows.h"
#include "viewer/view/metrics.h"
#include "viewer/view/path_words.h"

using namespace varve;
using namespace varve::test::rows;
using varve::test::RandomProfile;

/// A recorder that was killed, or a cut file: the program goes on, and hooks see waits where no level is
/// known.
Test(view_part, waits_after_the_end_of_run_states_have_no_bands) {
  RandomProfile made = test::random_profile(1);
  load::RunStates& states = made.profile.run_states;
  const uint64_t end = states.begin.count + (states.end.count - states.begin.count) / 3;
  std::erase_if(states.events, [&](const load::RunEvent& event) { return event.time_ns > end; });
  states.end = {end};
  for (const uint32_t thread : {0u, uint32_t(made.profile.threads.size() - 1)}) {
    load::Wait wait = made.profile.waits.waits.front();
    wait.thread = {thread};
    wait.count = 1;
    wait.duration_ns = 1'000'000;
    wait.end_ns = end + 100'000'000;
    made.profile.waits.waits.push_back(wait);
  }
  made.profile.waits.sort();
  view::Request request;
  request.metric = analyze::kWait;
  request.filter.from = made.profile.since_start({end + 1});
  const Rows rows = csv_of("hotspots", made, request);
  cr_assert_gt(sum(rows, "samples"), 0);
  for (const char* band : kBandColumns) cr_expect_eq(sum(rows, band), 0, "%s", band);
}

Test(view_part, tlp_of_a_part_counts_the_threads_of_that_part) {
  RandomProfile made = test::random_profile(1);
  const load::RunStates& states = made.profile.run_states;
  view::Request request;
  request.filter.from = made.profile.since_start(states.begin) + Nanos{300'000'000};
  const uint64_t from = made.profile.session.start_time.count + request.filter.from.count;
  const auto began = [&](const load::Track& track) { return track.start.count >= from; };
  const Rows all = csv_of("tlp", made, {}), part = csv_of("tlp", made, request);
  const size_t created = column(all, "threads_created");
  cr_expect_eq(part[1][created], std::to_string(std::ranges::count_if(states.tracks, began)));
  cr_expect_gt(std::stoul(all[1][created]), std::stoul(part[1][created]));
}

Test(view_part, parts_of_less_than_what_is_shown_add_up) {
  cr_expect(view::parts_words(2400, {{"a", 600}, {"b", 600}, {"c", 600}, {"d", 600}}) ==
            "0.002 ms = 0.000 ms a + 0.000 ms b + 0.001 ms c + 0.001 ms d");
  cr_expect(view::parts_words(1200, {{"a", 400}, {"b", 400}, {"c", 400}}) ==
            "0.001 ms = 0.001 ms a + 0.000 ms b + 0.000 ms c");
}
