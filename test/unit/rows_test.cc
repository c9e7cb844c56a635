// SPDX-License-Identifier: MIT
// Which rows of a list stand, and words of what is lost. Context: tests.
#include "viewer/view/rows.h"

#include <criterion/criterion.h>

#include "viewer/view/summary_words.h"

using namespace varve;
using namespace varve::view;

Test(rows, a_list_of_small_rows_keeps_three) {
  Request request;
  request.min_share = kTextTreeShare;
  const auto kept = [&](const std::vector<uint64_t>& sizes) {
    return cut_list(sizes, 1'000'000, request).kept;
  };
  cr_expect_eq(kept({9, 8, 7, 6}), 3);
  cr_expect_eq(cut_list({9, 8, 7, 6}, 1'000'000, request).label, "[1 row below 0.5%]");
  cr_expect_eq(kept({9}), 1);
  cr_expect_eq(kept({}), 0);
  cr_expect_eq(kept({900'000, 8, 7, 6}), 1, "there is an answer");
  request.limit = 2;
  cr_expect_eq(kept({9, 8, 7, 6}), 2);
  request.min_share = 0.5;
  cr_expect_eq(kept({9, 8, 7, 6}), 0, "who asks for a larger share means it");
}

Test(rows, lost_switches_are_told) {
  load::Profile profile;
  cr_expect_eq(lost_words(profile, "lost"), "0 lost");
  profile.run_states.lost = 5;
  cr_expect_eq(lost_words(profile, "lost"), "0 lost, and 5 records of context switches");
}
