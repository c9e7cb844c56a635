// SPDX-License-Identifier: MIT
// Views stored in advance: a screen of them is the screen that would be made, what they cannot show is asked
// for, and no byte of their file is believed unseen. Context: tests.
#include <criterion/criterion.h>

#include <fstream>
#include <random>

#include "common/bytes.h"
#include "common/session_keys.h"
#include "test/unit/damaged_file.h"
#include "test/unit/example_profile.h"
#include "test/unit/profile_builder.h"
#include "test/unit/symbol_tools.h"
#include "viewer/narrow_options.h"
#include "viewer/open_profile.h"
#include "viewer/render/render.h"
#include "viewer/stored_views.h"
#include "viewer/symbol/resolver.h"
#include "viewer/tui/run.h"
#include "viewer/view/view_bytes.h"

using namespace varve;
using namespace varve::test;

namespace {

constexpr const char* kStoredScreens[] = {"summary", "hotspots",  "top-down", "bottom-up",   "flame",
                                          "threads", "quality",   "modules",  "concurrency", "lines",
                                          "tlp",     "processes", "programs"};

/// Two processes that call each other's functions, with run states.
ProfileBuilder profile_to_store() {
  ProfileBuilder builder;
  std::mt19937_64 random(7);
  for (int32_t pid : {100, 200}) {
    const size_t process = builder.add_process(pid);
    builder.add_module(process, {.path = "/lib/a.so", .start = 0x10000, .end = 0x20000});
    for (int32_t thread = 0; thread < 3; ++thread) {
      builder.add_thread(process, pid + thread);
      builder.observer.track(uint32_t(pid / 100 * 3 + thread - 3), pid, pid + thread, 1'000'000, "worker",
                             true);
    }
  }
  for (size_t i = 0; i < 500; ++i) {
    std::vector<uint64_t> stack;
    for (uint64_t frames = 1 + random() % 9; frames > 0; --frames)
      stack.push_back(0x10000 + random() % 40 * 64);
    builder.add_sample(random() % 2, uint32_t(random() % 3), stack);
  }
  for (uint64_t i = 1; i < 400; ++i)
    builder.observer.switched(1'000'000 + i * 1'000'000, uint32_t(random() % 6),
                              i % 2 ? format::SwitchKind::kIn : format::SwitchKind::kOutBlocked, 0);
  builder.add_text(session_key::kElapsedNs, "501000000");  // only a run that ended has such a file
  builder.close_accounts();
  // What the kernel took to end their threads moves the ends of these where samples are read.
  for (const size_t process : {0, 1}) builder.process(process).record.end_cpu_ns += 60'000;
  return builder;
}

struct OnDisk {
  OnDisk() {
    profile_to_store().write(scratch.path());
    full = *load_profile(scratch.path());
    full.names.table = symbol::resolve(full.profile);
    const auto stored = store_views(full.profile, full.names.table);
    cr_assert(stored.has_value(), "%s", stored ? "" : stored.error().c_str());
  }
  ScratchDirectory scratch;
  OpenProfile full;
};

std::string screen(tui::Workspace& workspace, const std::string& name, const std::string& keys = "") {
  tui::App app(workspace, {.title = "p", .note = "", .option_names = {}, .screen = name, .mouse = true});
  return tui::run_script(app, {40, 120}, *tui::parse_script(keys)).text(false);
}

tui::Workspace workspace_of(const OpenProfile& open) {
  return {open.profile, open.names.table, {}, read_narrow_options, open.views ? &*open.views : nullptr};
}

/// Whether it can be written and read. The two check the same.
bool passes(const view::View& view) {
  try {
    view::decode_view(view::encode_view(view));
  } catch (const ParseError&) {
    return false;
  }
  return true;
}

/// Of two columns and one row.
view::View small_view() {
  view::Table table;
  table.id = "rows";
  table.columns = {{"self_ns", "Self", view::Unit::kTime}, {"name", "Name", view::Unit::kText}};
  table.add({}, {uint64_t(7), std::string_view("f")});
  view::View view;
  view.name = "top-down";
  view.facts = {{"pid", "PID", view::Unit::kNumber, uint64_t(1)}};
  view.tables = {table};
  return view;
}

}  // namespace

Test(stored_views, their_screens_are_those_that_would_be_made) {
  OnDisk disk;
  const auto quick = load_views(disk.scratch.path());
  cr_assert(quick.has_value());
  cr_expect_eq(quick->profile.samples.size(), 0);
  tui::Workspace stored = workspace_of(*quick), made = workspace_of(disk.full);
  for (const char* name : kStoredScreens) {
    cr_expect(screen(stored, name) == screen(made, name), "%s", name);
    cr_expect(screen(stored, name, "jj<Right>H") == screen(made, name, "jj<Right>H"), "%s", name);
  }
  cr_expect_not(stored.wants_samples());
}

Test(stored_views, reports_of_them_are_those_that_would_be_made) {
  OnDisk disk;
  const auto quick = load_views(disk.scratch.path());
  view::Request request;
  request.limit = view::kTextLimit;
  request.fold_recursion = true;
  const auto stored = quick->views->find("hotspots", request);
  const auto made =
      view::make(*view::find_kind("hotspots"), {disk.full.profile, disk.full.names.table}, request);
  cr_assert(stored && made);
  cr_expect(render::text(*stored, {}) == render::text(*made, {}));
  cr_expect(render::csv(*stored) == render::csv(*made));
  cr_expect(render::json(*stored) == render::json(*made));
  request.metric = analyze::kPoor;
  cr_expect_not(quick->views->find("hotspots", request).has_value());
  request.metric = analyze::kCpu;
  request.inlines = false;
  cr_expect_not(quick->views->find("hotspots", request).has_value());
}

Test(stored_views, what_they_cannot_show_is_asked_for_and_comes) {
  OnDisk disk;
  const auto quick = load_views(disk.scratch.path());
  tui::Workspace stored = workspace_of(*quick), made = workspace_of(disk.full);
  cr_expect(screen(stored, "hotspots", "m").find("are being read") != std::string::npos);
  cr_expect(stored.undo());
  cr_expect(screen(stored, "hotspots", ":--thread 100<Enter>").find("are being read") != std::string::npos);
  cr_expect(stored.wants_samples());
  stored.use(disk.full.profile, disk.full.names.table);
  cr_expect_not(stored.wants_samples());
  stored.clear();
  for (const char* name : {"hotspots", "callers", "timeline", "annotate"})
    cr_expect(screen(stored, name) == screen(made, name), "%s", name);
}

Test(stored_views, hold_for_the_samples_that_came) {
  OnDisk disk;
  const auto quick = load_views(disk.scratch.path());
  cr_expect(views_for(*quick, disk.full) == &*quick->views);
  tui::Workspace stored = workspace_of(*quick), made = workspace_of(disk.full);
  stored.use(disk.full.profile, disk.full.names.table, views_for(*quick, disk.full));
  for (const char* keys : {"", ":--thread 100<Enter>", ":--thread 100<Enter>u"})
    for (const char* name : {"summary", "hotspots", "top-down"})
      cr_expect(screen(stored, name, keys) == screen(made, name, keys), "%s %s", name, keys);
  OpenProfile other = std::move(disk.full);
  other.names.looked_up = true;
  cr_expect_null(views_for(*quick, other), "better names");
  other.names.looked_up = false;
  other.profile.sample_inputs ^= 1;
  cr_expect_null(views_for(*quick, other), "other samples");
}

Test(stored_views, of_other_files_or_damaged_are_as_if_not_there) {
  OnDisk disk;
  const std::string path = disk.scratch.path("views");
  size_t refused = 0;
  damage_file(path, 3, [&] { refused += !load_views(disk.scratch.path()).has_value(); });
  cr_expect_gt(refused, 200);  // the others hit padding
  cr_expect(load_views(disk.scratch.path()).has_value());
  std::ofstream(disk.scratch.path("session"), std::ios::app) << std::string(64, '\0');
  cr_expect_not(load_views(disk.scratch.path()).has_value());
}

Test(stored_views, read_as_they_were_written) {
  const RandomProfile made = example_profile();
  for (const view::Kind& kind : view::kinds()) {
    view::Request request;
    request.function = "main";
    std::vector<view::By> ways(kind.by.begin(), kind.by.end());
    ways.push_back(view::By::kUsual);
    for (const view::By by : ways) {
      request.by = by;
      const auto view = view::make(kind, {made.profile, made.symbols}, request);
      cr_assert(view.has_value(), "%s: %s", kind.name, view ? "" : view.error().c_str());
      const std::vector<uint8_t> bytes = view::encode_view(*view);
      const view::View read = view::decode_view(bytes);
      cr_expect(render::text(read, {}) == render::text(*view, {}), "%s", kind.name);
      cr_expect(render::csv(read) == render::csv(*view), "%s", kind.name);
      cr_expect(render::json(read) == render::json(*view), "%s", kind.name);
    }
  }
}

Test(stored_views, have_no_names_that_act_on_a_terminal) {
  cr_expect(passes(small_view()));
  for (const char* bad : {"a\x1b[2J", "a\nb", "\xc2\x9b", "a,b", "\"", "\xff"}) {
    view::View views[5];
    for (view::View& each : views) each = small_view();
    views[0].name = bad;
    views[1].facts[0].id = bad;
    views[2].tables[0].id = bad;
    views[3].tables[0].columns[0].id = bad;
    views[4].tables[0].columns[0].title = bad;
    const bool of_letters = *bad == '"' || bad == std::string_view("a,b");
    for (const view::View& each : std::span(views).first(of_letters ? 4 : 5))
      cr_expect_not(passes(each), "%s", render::escape(bad).c_str());
  }
}

Test(stored_views, have_the_rows_that_their_shape_in_json_needs) {
  view::View object = small_view();
  object.tables[0].json = view::TableShape::kObject;
  cr_expect(passes(object));
  view::View rows = object;
  rows.tables[0].add({}, {uint64_t(8), std::string_view("g")});
  cr_expect_not(passes(rows));
  object.tables[0].rows.clear();
  object.tables[0].cells.clear();
  cr_expect_not(passes(object));

  view::View list = small_view();
  list.tables[0].json = view::TableShape::kList;
  cr_expect_not(passes(list));
  list.tables[0].columns.pop_back();
  list.tables[0].cells.pop_back();
  cr_expect(passes(list));
  list.tables[0].columns.clear();
  list.tables[0].cells.clear();
  cr_expect_not(passes(list));
}
