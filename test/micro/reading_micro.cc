// SPDX-License-Identifier: MIT
// reading-micro PROFILE: how fast the viewer takes in a profile, names its addresses and makes each view. The
// fastest of a few rounds: the first one also pays for pages that are not in memory yet. Context: micro
// benchmarks.
#include <fmt/format.h>

#include "test/micro/micro.h"
#include "viewer/load/load.h"
#include "viewer/symbol/resolver.h"
#include "viewer/view/make.h"

using namespace varve;

namespace {

constexpr size_t kRounds = 5;

/// Seconds.
template <typename Work>
double seconds_of(Work work) {
  return micro::cost_of(kRounds, 1, work).tenth / 1e9;
}

void print_reading(const std::string& path, const load::Profile& profile, symbol::SymbolTable& symbols) {
  fmt::print("\nReading {} samples at {} addresses\n\n| step | a second |\n|---|---|\n",
             profile.samples.size(), profile.sites.size());
  const double load = seconds_of([&] { micro::use(load::load(path)); });
  fmt::print("| samples loaded | {:.0f} |\n", double(profile.samples.size()) / load);
  const double names = seconds_of([&] { symbols = symbol::resolve(profile); });
  fmt::print("| addresses named | {:.0f} |\n", double(profile.sites.size()) / names);
}

/// The function with the most time, which the view of callers is about.
std::string hottest(const view::Source& source) {
  const auto hotspots = view::make(*view::find_kind("hotspots"), source, {});
  const view::Table& table = hotspots->tables[0];
  const auto column = std::ranges::find(table.columns, "function", &view::Column::id) - table.columns.begin();
  for (size_t i = 0; i < table.rows.size(); ++i)
    if (table.rows[i].kind == view::RowKind::kOrdinary)
      return std::string(std::get<std::string_view>(table.row(i)[size_t(column)]));
  return "";
}

void print_views(const load::Profile& profile, const symbol::SymbolTable& symbols) {
  fmt::print("\nViews of it\n\n| view | ms |\n|---|---|\n");
  const view::Source source{profile, symbols};
  const double prepare = seconds_of([&] { micro::use(view::prepare(source, {})); });
  fmt::print("| (what all of them need) | {:.2f} |\n", prepare * 1e3);
  view::Request request;
  const view::Prepared prepared = view::prepare(source, request);
  request.function = hottest(source);
  request.limit = view::kTextLimit;
  for (const view::Kind& kind : view::kinds()) {
    request.min_share = kind.tree ? view::kTextTreeShare : 0;
    if (const auto made = view::make(kind, source, request, prepared); !made) {
      fmt::print("| {} | {} |\n", kind.name, made.error());
      continue;
    }
    const double time = seconds_of([&] { micro::use(view::make(kind, source, request, prepared)); });
    fmt::print("| {} | {:.2f} |\n", kind.name, time * 1e3);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto profile = load::load(argc == 2 ? argv[1] : "");
  if (!profile) {
    fmt::print(stderr, "{}\n", profile.error());
    return 1;
  }
  symbol::SymbolTable symbols;
  print_reading(argv[1], *profile, symbols);
  print_views(*profile, symbols);
}
