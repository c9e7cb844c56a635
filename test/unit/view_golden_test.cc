// SPDX-License-Identifier: MIT
// D-51: every view of one profile as text, letter by letter, at three widths and without one, in UTF-8 and
// ASCII; and as CSV and JSON. The texts are in test/golden; test/golden/accept.sh writes them anew, to be
// looked at before they are committed. Context: tests.
#include <criterion/criterion.h>
#include <fmt/format.h>

#include <clocale>

#include "test/unit/example_profile.h"
#include "test/unit/golden.h"
#include "viewer/render/render.h"
#include "viewer/view/request.h"

using namespace varve;

namespace {

/// All views, with the limits that varve report has for text.
template <typename Render>
std::string all_views(const Render& render, size_t width = 0) {
  static const test::RandomProfile made = test::example_profile();
  std::string out;
  for (const view::Kind& kind : view::kinds()) {
    view::Request request;
    request.function = "trace";
    request.limit = kind.tree ? 0 : 12;
    request.min_share = kind.tree ? 0.01 : 0;
    request.fold_recursion = true;
    if (width != 0) request.slices = view::slices_for(width);
    const auto view = view::make(kind, {made.profile, made.symbols}, request);
    cr_assert(view.has_value());
    out += fmt::format("=== {}\n{}\n", kind.name, render(*view));
  }
  return out;
}

void compare_text(size_t width, render::Charset charset) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const std::string name = fmt::format("report-{}-{}.txt", width == 0 ? "pipe" : std::to_string(width),
                                       charset == render::Charset::kUtf8 ? "utf8" : "ascii");
  const auto text = [&](const view::View& view) { return render::text(view, {width, charset, false}); };
  test::compare_golden(name, all_views(text, width));
}

}  // namespace

Test(view_golden, text_60) {
  compare_text(60, render::Charset::kUtf8);
  compare_text(60, render::Charset::kAscii);
}
Test(view_golden, text_80) {
  compare_text(80, render::Charset::kUtf8);
  compare_text(80, render::Charset::kAscii);
}
Test(view_golden, text_120) {
  compare_text(120, render::Charset::kUtf8);
  compare_text(120, render::Charset::kAscii);
}
Test(view_golden, text_pipe) {
  compare_text(0, render::Charset::kUtf8);
  compare_text(0, render::Charset::kAscii);
}
Test(view_golden, text_colour) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const auto text = [](const view::View& view) {
    return render::text(view, {80, render::Charset::kUtf8, true});
  };
  test::compare_golden("report-80-colour.txt", all_views(text, 80));
}
Test(view_golden, csv) { test::compare_golden("report.csv", all_views(render::csv)); }
Test(view_golden, json) { test::compare_golden("report.json", all_views(render::json)); }

Test(view_golden, filtered) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const test::RandomProfile made = test::example_profile();
  std::string out;
  for (const char* kind : {"summary", "hotspots", "top-down", "threads"}) {
    view::Request request;
    request.filter.function = *analyze::Pattern::parse("shade");
    request.filter_words = "--function shade";
    request.errors = true;
    request.inlines = false;
    const auto view = view::make(*view::find_kind(kind), {made.profile, made.symbols}, request);
    out += fmt::format("=== {}\n{}\n", kind, render::text(*view, {100, render::Charset::kUtf8, false}));
  }
  test::compare_golden("filtered-100-utf8.txt", out);
}

Test(view_golden, metric) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const test::RandomProfile made = test::example_profile();
  std::string out;
  for (const char* kind :
       {"summary", "hotspots", "top-down", "callers", "threads", "modules", "concurrency"}) {
    view::Request request;
    request.metric = analyze::kPoor;
    request.function = "parse_obj";
    request.fold_recursion = true;
    request.min_share = 0.005;
    const auto view = view::make(*view::find_kind(kind), {made.profile, made.symbols}, request);
    cr_assert(view.has_value());
    out += fmt::format("=== {}\n{}\n", kind, render::text(*view, {100, render::Charset::kUtf8, false}));
  }
  test::compare_golden("metric-100-utf8.txt", out);
}

/// What waited, not what for.
Test(view_golden, waits_by) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const test::RandomProfile made = test::example_profile();
  std::string out;
  for (const view::By by : {view::By::kFunction, view::By::kThread, view::By::kCallPath}) {
    view::Request request;
    request.by = by;
    const auto view = view::make(*view::find_kind("waits"), {made.profile, made.symbols}, request);
    cr_assert(view.has_value());
    for (const size_t width : {80, 120})
      out +=
          fmt::format("=== {}\n{}\n", int(by), render::text(*view, {width, render::Charset::kUtf8, false}));
    out += fmt::format("=== {}\n{}\n", int(by), render::csv(*view));
  }
  test::compare_golden("waits-by.txt", out);
}
