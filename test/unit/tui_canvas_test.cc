// SPDX-License-Identifier: MIT
// Canvas and Pane: nothing is drawn outside, no wide character is split, what cannot be shown is a `?`, and a
// canvas as text. And that every screen keeps to the pane it is given. Context: tests.
#include <criterion/criterion.h>

#include <clocale>

#include "test/unit/odd_profiles.h"
#include "test/unit/screen_driver.h"

using namespace varve;
using namespace varve::tui;

namespace {

constexpr Look kPlainLook{.color = false, .utf8 = true}, kAscii{.color = false, .utf8 = false};

void expect_on_screen(const Canvas& canvas, const std::string& wanted, bool colored = false) {
  const std::string text = canvas.text(colored);
  cr_expect(text == wanted, "'%s' is not '%s'", text.c_str(), wanted.c_str());
  const std::string flaw = test::flaw_of(canvas);
  cr_expect(flaw.empty(), "%s", flaw.c_str());
}

/// A canvas full of dots, and whether all around a rectangle of it they still stand.
Canvas dotted(Size size, Look look) {
  Canvas canvas(size, look);
  for (size_t row = 0; row < size.rows; ++row) canvas.whole().repeat(row, 0, U'~', size.columns);
  return canvas;
}

bool untouched_around(const Canvas& canvas, Point corner, Size size) {
  for (size_t row = 0; row < canvas.size().rows; ++row)
    for (size_t column = 0; column < canvas.size().columns; ++column) {
      const bool inside = row >= corner.row && row < corner.row + size.rows && column >= corner.column &&
                          column < corner.column + size.columns;
      if (!inside && !(canvas.at(row, column) == Cell{U'~', 1, {}})) return false;
    }
  return true;
}

}  // namespace

TestSuite(
    tui_canvas, .init = [] { std::setlocale(LC_CTYPE, "C.UTF-8"); });

/// Names come from profiles of others.
Test(tui_canvas, what_a_terminal_acts_on_is_not_drawn) {
  Canvas canvas({1, 8}, kPlainLook);
  canvas.whole().put(0, 0,
                     "a\x1b[\n\t\x7f\xc2\x9b"
                     "b");
  expect_on_screen(canvas, "a?[????b\n");
}

Test(tui_canvas, pane_clips) {
  Canvas canvas = dotted({4, 8}, kPlainLook);
  Pane pane(canvas, {1, 2}, {2, 4});
  cr_expect_eq(pane.put(0, 0, "abcdefgh"), 4u);
  cr_expect_eq(pane.put(1, 3, "xyz"), 4u);
  pane.put(2, 0, "below");
  pane.put(0, 4, "right");
  pane.put(SIZE_MAX, SIZE_MAX, "far");
  pane.repeat(2, 0, U'#', 9);
  pane.repeat(1, 9, U'#', 9);
  pane.repeat(1, 0, U'#', SIZE_MAX);
  pane.restyle(0, kBold, 2, SIZE_MAX);
  pane.restyle(7, kBold);
  expect_on_screen(canvas, "~~~~~~~~\n~~abcd~~\n~~####~~\n~~~~~~~~\n");
  cr_expect(untouched_around(canvas, {1, 2}, {2, 4}));
  cr_expect(canvas.at(1, 4).style == kBold && canvas.at(1, 5).style == kBold &&
            canvas.at(1, 3).style == kPlain);
}

Test(tui_canvas, parts_of_a_pane) {
  Canvas canvas({6, 10}, kPlainLook);
  const Pane pane(canvas, {1, 1}, {4, 8});
  cr_expect_eq(pane.below(3).rows(), 1u);
  cr_expect_eq(pane.below(9).rows(), 0u);
  cr_expect_eq(pane.below(1, 2).rows(), 2u);
  cr_expect_eq(pane.right_of(5).columns(), 3u);
  cr_expect_eq(pane.right_of(20, 2).columns(), 0u);
  cr_expect_eq(pane.below(2).right_of(3).corner().row, 3u);
  cr_expect_eq(pane.below(2).right_of(3).corner().column, 4u);
}

Test(tui_canvas, wide_characters_are_whole) {
  Canvas canvas({1, 6}, kPlainLook);
  Pane pane = canvas.whole();
  cr_expect_eq(pane.put(0, 0, "日本語", {}, 5), 4u, "the third has no room");
  expect_on_screen(canvas, "日本\n");
  pane.put(0, 1, "x");  // the second half of the first
  expect_on_screen(canvas, " x本\n");
  pane.put(0, 2, "y");  // the first half of the second
  expect_on_screen(canvas, " xy\n");
  pane.put(0, 3, "日");
  pane.put(0, 2, "本");  // over the first half
  expect_on_screen(canvas, " x本\n");
  cr_expect_eq(pane.put(0, 5, "日"), 5u);
  pane.put(0, 0, "e\u0301!");  // what combines has no cell of its own
  expect_on_screen(canvas, "e!本\n");
}

Test(tui_canvas, ascii_look) {
  Canvas canvas({2, 12}, kAscii);
  cr_expect_eq(canvas.whole().put(0, 0, "größe日"), 6u);
  canvas.whole().put_name(1, 0, "a\x1b[2J", 12);
  expect_on_screen(canvas, "gr??e?\na\\x1b[2J\n");
}

Test(tui_canvas, names_are_escaped_and_elided) {
  Canvas canvas({2, 11}, kPlainLook);
  canvas.whole().put_name(0, 0, "one\ntwo", 11);
  canvas.whole().put_name(1, 1, "beginning_and_end", 9);
  expect_on_screen(canvas, "one\\x0atwo\n beg...end\n");
}

Test(tui_canvas, colored_text) {
  Canvas canvas({3, 6}, {.color = true, .utf8 = true});
  Pane pane = canvas.whole();
  pane.put(0, 0, "ab", {.ink = Ink::kPoor, .bold = true});
  pane.put(0, 2, "c");
  pane.put(1, 1, "d", {.ink = Ink::kOk, .ground = Ink::kIdeal, .dim = true, .underline = true});
  pane.restyle(2, kReverse, 0, 2);
  expect_on_screen(canvas, "\x1b[0;1;31mab\x1b[0mc\n \x1b[0;2;4;33;42md\x1b[0m\n\x1b[0;7m  \x1b[0m\n", true);
  expect_on_screen(canvas, "abc\n d\n\n");
}

Test(tui_canvas, no_screen_draws_outside_of_its_pane) {
  constexpr Size kPanes[] = {{8, 60}, {20, 80}, {36, 120}, {9, 200}, {96, 60}};
  for (const test::OddProfile& odd : test::odd_profiles())
    for (const bool utf8 : {true, false}) {
      test::ScreenDriver driver({.look = {.color = utf8, .utf8 = utf8}}, odd.make());
      for (const ScreenKind& kind : screens()) {
        const auto screen = kind.make(driver.workspace());
        for (const Size size : kPanes) {
          Canvas canvas = dotted({size.rows + 7, size.columns + 9}, driver.workspace().look);
          screen->draw(Pane(canvas, {3, 4}, size));
          cr_expect(untouched_around(canvas, {3, 4}, size), "%s of %s at %zux%zu", kind.name, odd.name,
                    size.columns, size.rows);
          const std::string flaw = test::flaw_of(canvas);
          cr_expect(flaw.empty(), "%s of %s: %s", kind.name, odd.name, flaw.c_str());
          screen->act(Action::kLast);
        }
      }
    }
}
