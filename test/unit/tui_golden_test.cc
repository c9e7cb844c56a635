// SPDX-License-Identifier: MIT
// D-51: every screen of one profile letter by letter, at two sizes, in UTF-8 and ASCII, with and without
// colours; and what every key does, by its effect on the lines of a screen. The texts are in
// test/golden/screens. Context: tests.
#include <criterion/criterion.h>
#include <fmt/format.h>

#include <set>

#include "test/unit/golden.h"
#include "test/unit/screen_driver.h"

using namespace varve;
using namespace varve::tui;
using test::ScreenDriver;

namespace {

std::string file_name(Size size, Look look) {
  return fmt::format("screens/{}x{}-{}{}.txt", size.columns, size.rows, look.utf8 ? "utf8" : "ascii",
                     look.color ? "-colour" : "");
}

void compare_screens(Size size, Look look) {
  std::string out;
  for (const ScreenKind& kind : screens()) {
    ScreenDriver driver({size, look, kind.name});
    out += fmt::format("=== {}\n{}", kind.name, driver.text(look.color));
  }
  test::compare_golden(file_name(size, look), out);
}

/// What stands in the rows that a key changed; rows of only another look count, cursor and all.
std::string changes(const Canvas& before, const Canvas& after) {
  std::string out;
  const auto row_text = [](const Canvas& canvas, size_t row) {
    Canvas one({1, canvas.size().columns}, canvas.look());
    for (size_t column = 0; column < canvas.size().columns; ++column)
      one.at(0, column) = canvas.at(row, column);
    return one.text(true);
  };
  for (size_t row = 0; row < after.size().rows; ++row) {
    const std::string text = row_text(after, row);
    if (text != row_text(before, row)) out += fmt::format("{:>3} {}", row + 1, text);
  }
  return out;
}

/// Where each command shows what it does; `before` is pressed first.
struct KeyCase {
  Action action;
  const char* screen;
  const char* before;
};
constexpr KeyCase kKeyCases[] = {
    {Action::kUp, "hotspots", "jj"},
    {Action::kDown, "hotspots", ""},
    {Action::kLeft, "top-down", ""},
    {Action::kRight, "top-down", "C"},
    {Action::kPageUp, "hotspots", "G"},
    {Action::kPageDown, "hotspots", ""},
    {Action::kHalfUp, "hotspots", "G"},
    {Action::kHalfDown, "hotspots", ""},
    {Action::kFirst, "hotspots", "jjj"},
    {Action::kLast, "hotspots", ""},
    {Action::kPreviousSibling, "top-down", "C}"},
    {Action::kNextSibling, "top-down", "C"},
    {Action::kOpen, "hotspots", ""},
    {Action::kMark, "timeline", "<Right><Right>"},
    {Action::kUnfold, "top-down", "C"},
    {Action::kFold, "top-down", "E"},
    {Action::kUnfoldBelow, "top-down", "C"},
    {Action::kUnfoldAll, "top-down", "C"},
    {Action::kFoldAll, "top-down", "E"},
    {Action::kHottest, "top-down", "C"},
    {Action::kNextHot, "hotspots", ""},
    {Action::kPreviousHot, "hotspots", ""},
    {Action::kSearch, "hotspots", ""},
    {Action::kNextMatch, "hotspots", "/e<Enter>"},
    {Action::kPreviousMatch, "hotspots", "/e<Enter>"},
    {Action::kKeep, "hotspots", ""},
    {Action::kOnlyThread, "threads", ""},
    {Action::kOnlyModule, "hotspots", ""},
    {Action::kOnlyFunction, "hotspots", ""},
    {Action::kUndo, "hotspots", "f"},
    {Action::kClear, "hotspots", "fd"},
    {Action::kLeastShare, "hotspots", ""},
    {Action::kNextSort, "hotspots", ""},
    {Action::kSortLeft, "hotspots", "sss"},
    {Action::kSortRight, "hotspots", "s"},
    {Action::kReverseOrder, "hotspots", ""},
    {Action::kInvert, "top-down", ""},
    {Action::kUnits, "hotspots", ""},
    {Action::kMetric, "hotspots", ""},
    {Action::kColor, "flame", ""},
    {Action::kAnnotate, "hotspots", ""},
    {Action::kArrows, "hotspots", ""},
    {Action::kNextView, "hotspots", ""},
    {Action::kPreviousView, "hotspots", ""},
    {Action::kView, "hotspots", ""},
    {Action::kCommand, "hotspots", ""},
    {Action::kPrint, "hotspots", ""},
    {Action::kHelp, "hotspots", ""},
    {Action::kEscape, "hotspots", "f"},
    {Action::kBack, "hotspots", "3"},
    {Action::kMouse, "hotspots", ""},
};

/// The outcome is their effect; see tui_app.
const std::set<Action> kWithoutTrace = {Action::kQuit, Action::kReload, Action::kRedraw, Action::kSuspend};

}  // namespace

Test(tui_golden, small_utf8) { compare_screens(test::kSmall, {.color = false, .utf8 = true}); }
Test(tui_golden, small_ascii) { compare_screens(test::kSmall, {.color = false, .utf8 = false}); }
Test(tui_golden, small_utf8_colour) { compare_screens(test::kSmall, {.color = true, .utf8 = true}); }
Test(tui_golden, small_ascii_colour) { compare_screens(test::kSmall, {.color = true, .utf8 = false}); }
Test(tui_golden, large_utf8) { compare_screens(test::kLarge, {.color = false, .utf8 = true}); }
Test(tui_golden, large_ascii) { compare_screens(test::kLarge, {.color = false, .utf8 = false}); }
Test(tui_golden, large_utf8_colour) { compare_screens(test::kLarge, {.color = true, .utf8 = true}); }
Test(tui_golden, large_ascii_colour) { compare_screens(test::kLarge, {.color = true, .utf8 = false}); }
Test(tui_golden, narrowest) { compare_screens({12, 60}, {.color = false, .utf8 = true}); }

/// Moments between keys: prompts, filters, messages, help that is scrolled, other sizes.
Test(tui_golden, moments) {
  struct Moment {
    const char* screen;
    const char* script;
  };
  constexpr Moment kMoments[] = {
      {"hotspots", "/sha"},
      {"hotspots", "/sha<Enter>"},
      {"hotspots", "/no such<Enter>"},
      {"hotspots", "&hit<Enter>"},
      {"hotspots", "&no such<Enter>"},
      {"hotspots", ":--thr<Tab>"},
      {"hotspots", ":--thread worker<Enter>"},
      {"hotspots", ":--thread worker<Enter>:--module raytrace<Enter>:--target 4<Enter>"},
      {"hotspots", "L5<Enter>"},
      {"hotspots", "jjf3"},
      {"hotspots", "%"},
      {"hotspots", "%%"},
      {"hotspots", "%%%"},
      {"hotspots", "ss"},
      {"hotspots", "m"},
      {"hotspots", ":--target 4<Enter>fmmm"},
      {"top-down", "E"},
      {"bottom-up", "jj<Enter>"},
      {"waits", "<Enter>"},
      {"callers", ":callers trace<Enter>"},
      {"callers", ":callers no_such<Enter>"},
      {"flame", "g<Down><Enter>"},
      {"flame", "i"},
      {"flame", "m"},
      {"timeline", "<Right><Right> <Right><Right>"},
      {"timeline", "<Right><Right> <Right><Right><Right><Right><Enter>"},
      {"help", "G"},
      {"summary", "<Resize 59x11>"},
      {"hotspots", "jj<Resize 59x11>j<Resize 60x12>"},
      {"top-down", "<Resize 300x100>E<Resize 80x24>"},
      {"flame", "<Resize 120x40>g<Down><Resize 80x24>"},
  };
  std::string out;
  for (const Moment& moment : kMoments) {
    ScreenDriver driver({.look = {.color = false, .utf8 = true}, .screen = moment.screen});
    driver.press(moment.script);
    out += fmt::format("=== {} {}\n{}", moment.screen, moment.script, driver.text());
  }
  test::compare_golden("screens/moments.txt", out);
}

Test(tui_golden, widest) {
  std::string out;
  for (const ScreenKind& kind : screens()) {
    ScreenDriver driver({{100, 300}, {.color = false, .utf8 = true}, kind.name});
    std::string text = driver.text();
    while (text.find("\n\n\n") != std::string::npos) text.replace(text.find("\n\n\n"), 3, "\n\n");
    out += fmt::format("=== {}\n{}", kind.name, text);
  }
  test::compare_golden("screens/300x100-utf8.txt", out);
}

/// All keys of a row of the table and its command do the same, and something.
Test(tui_golden, keys) {
  std::string out;
  for (const KeyCase& each : kKeyCases) {
    const Binding* binding = nullptr;
    for (const Binding& row : bindings())
      if (row.action == each.action) binding = &row;
    cr_assert_not_null(binding);
    std::string first;
    for (const Key key : binding->keys) {
      if (key == 0) continue;
      ScreenDriver driver({.look = {.color = false, .utf8 = true}, .screen = each.screen});
      driver.press(each.before);
      const Canvas before = driver.canvas();
      driver.handle({Input::Kind::kKey, key, {}, {}});
      const std::string changed = changes(before, driver.canvas());
      // Digits are keys of one row, but of a screen each.
      const bool other_digit = each.action == Action::kView && key != binding->keys[0];
      if (first.empty()) {
        first = changed;
        cr_expect(!first.empty(), "%s does nothing", key_name(key).c_str());
        out += fmt::format("=== {} :{} in {} after '{}'\n{}", keys_text(*binding), binding->command,
                           each.screen, each.before, changed);
      } else {
        cr_expect(other_digit || changed == first, "%s of :%s differs", key_name(key).c_str(),
                  binding->command);
      }
    }
    ScreenDriver driver({.look = {.color = false, .utf8 = true}, .screen = each.screen});
    driver.press(each.before);
    const Canvas before = driver.canvas();
    driver.press(fmt::format(":{}<Enter>", binding->command));
    if (each.action != Action::kView && each.action != Action::kHelp)
      cr_expect(changes(before, driver.canvas()) == first, ":%s differs from its key", binding->command);
  }
  test::compare_golden("screens/keys.txt", out);
}

Test(tui_golden, every_key_has_its_case) {
  for (const Binding& binding : bindings()) {
    bool found = kWithoutTrace.contains(binding.action);
    for (const KeyCase& each : kKeyCases) found = found || each.action == binding.action;
    cr_expect(found, ":%s is pressed by no test", binding.command);
  }
}
