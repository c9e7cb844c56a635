// SPDX-License-Identifier: MIT
// The formulas of thread level parallelism against measurements published with them: shares of time by level
// in percent with one decimal, and the MU, TLP_4 and TLP_2 that were computed from the exact shares.
#include <criterion/criterion.h>

#include <array>
#include <cmath>
#include <vector>

#include "viewer/analyze/tlp.h"

using namespace varve;

namespace {

struct PaperRow {
  const char* name;
  std::array<double, 5> percent;
  double mu, tlp4, tlp2;
};

// Flautner and others, ASPLOS 2000, tables 2 and 5.
constexpr PaperRow kRows[] = {
    {"Photoshop, Win99/MP", {41.5, 28.5, 4.0, 2.1, 23.9}, 34.59, 2.36, 1.66},
    {"Visual C++, Win99/MP", {10.4, 24.9, 46.8, 13.3, 4.7}, 44.28, 1.98, 1.75},
    {"GNU make / g++", {55.8, 8.8, 2.1, 1.5, 31.7}, 36.10, 3.27, 1.88},
    {"rmjdbc 4c", {8.6, 39.0, 13.2, 16.1, 23.1}, 51.53, 2.26, 1.68},
    {"Parallel MPEG", {0.0, 4.4, 2.4, 5.8, 87.4}, 94.02, 3.76, 1.98},
    {"Linux make / gcc", {4.5, 13.2, 3.3, 7.1, 71.9}, 82.18, 3.44, 1.92},
};

}  // namespace

Test(tlp, gives_the_published_rows) {
  for (const PaperRow& row : kRows) {
    std::vector<uint64_t> time;
    for (double percent : row.percent) time.push_back(uint64_t(std::lround(percent * 1e7)));
    std::vector<double> shares = analyze::level_shares(time, 4);
    cr_expect_float_eq(100 * analyze::machine_utilization(shares), row.mu, 0.1, "%s: MU", row.name);
    cr_expect_float_eq(analyze::thread_level_parallelism(shares), row.tlp4, 0.01, "%s: TLP_4", row.name);
    cr_expect_float_eq(analyze::thread_level_parallelism(shares, 2), row.tlp2, 0.01, "%s: TLP_2", row.name);
    cr_expect_float_eq(analyze::thread_level_parallelism(shares, 1), 1, 1e-9, "%s: TLP_1", row.name);
  }
}

Test(tlp, of_nothing_is_zero) {
  std::vector<double> idle = analyze::level_shares(std::vector<uint64_t>{1000}, 2);
  cr_assert_eq(analyze::machine_utilization(idle), 0);
  cr_assert_eq(analyze::thread_level_parallelism(idle), 0);
  std::vector<double> none = analyze::level_shares({}, 2);
  cr_assert_eq(analyze::thread_level_parallelism(none), 0);
}

Test(tlp, counts_what_is_above_the_processors_as_all_of_them) {
  std::vector<double> shares = analyze::level_shares(std::vector<uint64_t>{0, 0, 500, 500}, 2);
  cr_assert_float_eq(shares[2], 1, 1e-12);
  cr_assert_float_eq(analyze::machine_utilization(shares), 1, 1e-12);
}
