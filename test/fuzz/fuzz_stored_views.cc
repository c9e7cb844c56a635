// SPDX-License-Identifier: MIT
// Fuzzer of stored views: bytes that make sense as a view must draw on every screen that shows such a one, be
// printed in every format without a byte that acts on a terminal, and be written again as they were read.
// Context: tests.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "common/bytes.h"
#include "test/fuzz/replay_main.h"
#include "viewer/render/render.h"
#include "viewer/tui/app.h"
#include "viewer/tui/run.h"
#include "viewer/view/view_bytes.h"

namespace {

using namespace varve;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz_stored_views: not so: %s\n", what);
  std::abort();
}

void draw_everywhere(const view::View& view) {
  static load::Profile profile;
  static const symbol::SymbolTable symbols;
  profile.without_samples = true;
  view::StoredViews stored;
  view::Request request;
  for (const view::Kind& kind : view::kinds())
    for (const double share : {0.0, view::kTreeScreenShare, view::kFlameScreenShare}) {
      request.min_share = share;
      request.fold_recursion = share > 0;
      stored.views.emplace(view::stored_key(kind.name, request), view);
    }
  const auto reader = [](const std::vector<std::string>&, view::Request&) -> tl::expected<void, std::string> {
    return tl::unexpected<std::string>("not here");
  };
  for (const char* screen : {"summary", "hotspots", "top-down", "flame", "quality"}) {
    tui::Workspace workspace(profile, symbols, {}, reader, &stored);
    tui::App app(workspace, {.title = "p", .note = "", .option_names = {}, .screen = screen, .mouse = true});
    tui::run_script(app, {24, 80}, *tui::parse_script("jj<Right>eH%s<Enter>i<Down>/a<Enter>"));
  }
}

bool harmless(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (render::escape(line) != line) return false;
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return true;
}

void print_everywhere(const view::View& view) {
  for (const size_t width : {0, 40})
    require(harmless(render::text(view, {width, render::Charset::kUtf8, false})), "text is harmless");
  require(harmless(render::csv(view)), "CSV is harmless");
  require(harmless(render::json(view)), "JSON is harmless");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const std::vector<uint8_t> bytes(data, data + size);
    const view::View view = view::decode_view(bytes);
    const std::vector<uint8_t> written = view::encode_view(view);
    require(view::encode_view(view::decode_view(written)) == written, "what is written reads as the same");
    draw_everywhere(view);
    print_everywhere(view);
  } catch (const ParseError&) {
  }
  return 0;
}
