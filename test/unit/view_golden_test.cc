// SPDX-License-Identifier: MIT
// D-51: every view of one profile as text, letter by letter, at three widths and without one, in UTF-8 and
// ASCII; and as CSV and JSON. The texts are in test/golden; test/golden/accept.sh writes them anew, to be
// looked at before they are committed. Context: tests.
#include <criterion/criterion.h>
#include <fmt/format.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "test/unit/example_profile.h"
#include "viewer/render/render.h"
#include "viewer/view/request.h"

using namespace varve;

namespace {

void compare(const std::string& name, const std::string& text) {
  const std::string path = "test/golden/" + name;
  if (std::getenv("VARVE_ACCEPT") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  cr_assert(file.good(), "%s cannot be read; the tests run in the project's folder", path.c_str());
  const std::string wanted{std::istreambuf_iterator<char>(file), {}};
  const auto at = std::mismatch(text.begin(), text.end(), wanted.begin(), wanted.end());
  const size_t position = size_t(at.first - text.begin());
  const size_t line = size_t(std::count(text.begin(), at.first, '\n')) + 1;
  cr_expect(text == wanted, "%s differs in line %zu at byte %zu; if that is right: test/golden/accept.sh",
            path.c_str(), line, position);
}

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
  compare(name, all_views(text, width));
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
  compare("report-80-colour.txt", all_views(text, 80));
}
Test(view_golden, csv) { compare("report.csv", all_views(render::csv)); }
Test(view_golden, json) { compare("report.json", all_views(render::json)); }

Test(view_golden, filtered) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const test::RandomProfile made = test::example_profile();
  std::string out;
  for (const char* kind : {"hotspots", "top-down", "threads"}) {
    view::Request request;
    request.filter.function = *analyze::Pattern::parse("shade");
    request.filter_words = "--function shade";
    request.errors = true;
    request.inlines = false;
    const auto view = view::make(*view::find_kind(kind), {made.profile, made.symbols}, request);
    out += fmt::format("=== {}\n{}\n", kind, render::text(*view, {100, render::Charset::kUtf8, false}));
  }
  compare("filtered-100-utf8.txt", out);
}
