// SPDX-License-Identifier: MIT
// A view as rows of text, read back from CSV, so that the renderer is under test too. Context: tests.
#pragma once

#include <criterion/criterion.h>

#include <string>
#include <vector>

#include "test/unit/random_profile.h"
#include "viewer/render/render.h"
#include "viewer/view/request.h"

namespace varve::test::rows {

using Rows = std::vector<std::vector<std::string>>;

inline constexpr const char* kBandColumns[] = {"poor_ns", "ok_ns", "ideal_ns", "over_ns"};

inline size_t column(const Rows& rows, const std::string& name) {
  for (size_t j = 0; j < rows[0].size(); ++j) {
    if (rows[0][j] == name) return j;
  }
  cr_assert_fail("no column %s", name.c_str());
  return 0;
}

inline uint64_t sum(const Rows& rows, const std::string& name) {
  const size_t j = column(rows, name);
  uint64_t total = 0;
  for (size_t i = 1; i < rows.size(); ++i) {
    cr_assert_eq(rows[i].size(), rows[0].size());
    if (!rows[i][j].empty()) total += std::stoull(rows[i][j]);
  }
  return total;
}

inline uint64_t sum_where(const Rows& rows, const std::string& name,
                          std::initializer_list<const char*> relations) {
  const size_t j = column(rows, name), relation = column(rows, "relation");
  uint64_t total = 0;
  for (size_t i = 1; i < rows.size(); ++i) {
    for (const char* each : relations) {
      if (rows[i][relation] == each) total += std::stoull(rows[i][j]);
    }
  }
  return total;
}

inline Rows csv_of(const char* kind, const RandomProfile& made, const view::Request& request) {
  const auto view = view::make(*view::find_kind(kind), {made.profile, made.symbols}, request);
  cr_assert(view.has_value(), "%s", view.has_value() ? "" : view.error().c_str());
  return test::read_csv(render::csv(*view));
}

}  // namespace varve::test::rows
