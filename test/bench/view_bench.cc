// SPDX-License-Identifier: MIT
// view-bench PROFILE: what the screens of a profile cost at 200x60, without a terminal: opening each for the
// first time, and the keys that people press most, median and worst, as a table. Context: benchmarks.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <clocale>
#include <cstdio>

#include "viewer/narrow_options.h"
#include "viewer/open_profile.h"
#include "viewer/tui/app.h"

namespace {

using namespace varve;
using Clock = std::chrono::steady_clock;

constexpr tui::Size kSize{60, 200};
constexpr size_t kPresses = 200;
constexpr const char* kKeys = "jjjjjj<PgDn><PgDn>kk<PgUp><Right>j<Left>G<C-u>g%n";  // again and again

double milliseconds(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

struct Cost {
  double open = 0, filter = 0, median = 0, worst = 0;  // ms
};

double press(tui::App& app, const tui::Input& input) {
  const auto start = Clock::now();
  app.handle(input);
  app.draw(kSize);
  return milliseconds(Clock::now() - start);
}

double press_all(tui::App& app, std::string_view script) {
  double sum = 0;
  const auto inputs = tui::parse_script(script);
  for (const tui::Input& input : *inputs) sum += press(app, input);
  return sum;
}

Cost cost_of(tui::App& app, const std::string& screen) {
  Cost cost;
  cost.open = press_all(app, ":" + screen + "<Enter>");
  press_all(app, "/e<Enter>");
  std::vector<double> times;
  const auto keys = tui::parse_script(kKeys);
  for (size_t i = 0; i < kPresses; ++i) times.push_back(press(app, (*keys)[i % keys->size()]));
  std::ranges::sort(times);
  cost.median = times[times.size() / 2];
  cost.worst = times.back();
  cost.filter = press_all(app, ":--min-share 0.01<Enter>");
  press_all(app, "U");
  return cost;
}

}  // namespace

int main(int argc, char** argv) {
  std::setlocale(LC_ALL, "C.UTF-8");
  ReportOptions options;
  apply_limits(options);
  const auto start = Clock::now();
  tl::expected<OpenProfile, std::string> open = tl::unexpected<std::string>("view-bench PROFILE");
  if (argc == 2) {
    auto quick = load_views(argv[1]);
    open = quick ? std::move(*quick) : open_profile(argv[1], options);
  }
  if (!open) {
    fmt::print(stderr, "{}\n", open.error());
    return 1;
  }
  fmt::print("opening the profile: {:.0f} ms{}\n\n", milliseconds(Clock::now() - start),
             open->views ? ", of stored views; other screens say that they need samples" : "");
  tui::Workspace workspace(open->profile, open->names.table, options.request, read_narrow_options,
                           open->views ? &*open->views : nullptr);
  tui::AppOptions app_options;
  app_options.option_names = narrow_option_names();
  tui::App app(workspace, app_options);
  app.draw(kSize);
  fmt::print("| screen | open ms | key ms | worst key ms | filter ms |\n|---|---|---|---|---|\n");
  for (const tui::ScreenKind& kind : tui::screens()) {
    const Cost cost = cost_of(app, kind.name);
    fmt::print("| {} | {:.1f} | {:.2f} | {:.2f} | {:.1f} |\n", kind.name, cost.open, cost.median, cost.worst,
               cost.filter);
    std::fflush(stdout);
  }
}
