// SPDX-License-Identifier: MIT
// See random_keys.h.
// Context: tests.
#include "test/unit/random_keys.h"

#include <fmt/format.h>

#include <cstring>

namespace varve::test {
namespace {

using tui::Input;
using tui::Key;

constexpr size_t kWholePrompt = 2'000;  // columns

/// Typed whole, for random letters hardly ever make one.
constexpr const char* kLines[] = {
    ":hotspots\r",
    ":callers main\r",
    ":modules\r",
    ":waits\r",
    ":by thread\r",
    ":by callpath\r",
    ":by function\r",
    ":by object\r",
    ":band poor\r",
    ":thread main --function '('\r",
    ":idle\r",
    ":critical-path\r",
    ":lines\r",
    ":concurrency\r",
    ":tlp\r",
    ":processes\r",
    ":--limit 3\r",
    ":--min-share 10\r",
    ":target 1\r",
    ":--no-inline\r",
    ":--scale nonsense\r",
    ":--time 0.1-0.5\r",
    ":thread main\r",
    ":--function '('\r",
    ":nonsense\r",
    "/a|e\r",
    "/zzz\r",
    "/[\r",
    "&e\r",
    "&zzz\r",
    "&\r",
    "L5\r",
    "Lx\r",
    ":\t\t\t\r",
    ":error\r",
    "/\\w+\r",
    ":sort poor\r",
    ":--process 100\r",
    ":annotate main\r",
};

constexpr tui::Size kSizes[] = {{24, 80}, {24, 80},   {40, 120}, {12, 60}, {11, 59},
                                {1, 1},   {100, 300}, {12, 200}, {60, 60}};

/// Whether Enter would write a file. The prompt is read on a screen where all of it is drawn.
bool would_write(ScreenDriver& driver) {
  const std::string text = driver.app().draw({tui::Size{}.rows, kWholePrompt}).text();
  std::string prompt = text.substr(text.rfind('\n', text.size() - 2) + 1);
  std::erase_if(prompt, [](char letter) { return std::strchr(" '\"\\", letter) != nullptr; });
  return prompt.starts_with("writeto:") || prompt.starts_with(":w");
}

}  // namespace

Input RandomKeys::key() {
  const auto all = tui::bindings();
  const Key key = all[below(all.size())].keys[below(3)];
  if (key != 0) return {Input::Kind::kKey, key, {}, {}};
  if (below(4) == 0) return {Input::Kind::kKey, Key('1' + below(9)), {}, {}};
  const Key odd[] = {0, 0xe9, 0x65e5, 0x301, 0xd800, 0x10ffff, 0x9b, tui::key::kDelete};
  if (below(4) == 0) return {Input::Kind::kKey, odd[below(std::size(odd))], {}, {}};
  return {Input::Kind::kKey, Key(' ' + below(95)), {}, {}};
}

Input RandomKeys::mouse(tui::Size size) {
  constexpr Input::Kind kKinds[] = {Input::Kind::kClick, Input::Kind::kClick, Input::Kind::kDoubleClick,
                                    Input::Kind::kWheelUp, Input::Kind::kWheelDown};
  // Outside too: a terminal may still send clicks of the size before.
  return {kKinds[below(std::size(kKinds))], 0, {below(size.rows + 2), below(size.columns + 2)}, {}};
}

Input RandomKeys::resize() {
  const tui::Size random{1 + below(70), 1 + below(220)};
  const size_t pick = below(std::size(kSizes) + 2);
  return {Input::Kind::kResize, 0, {}, pick < std::size(kSizes) ? kSizes[pick] : random};
}

Input RandomKeys::next(tui::Size size) {
  if (typed_.empty() && below(25) == 0) typed_ = kLines[below(std::size(kLines))];
  if (!typed_.empty()) {
    const Key key = uint8_t(typed_[0]);
    typed_.erase(0, 1);
    return {Input::Kind::kKey, key, {}, {}};
  }
  const size_t pick = below(100);
  return pick < 85 ? key() : pick < 97 ? mouse(size) : resize();
}

std::string press_safely(ScreenDriver& driver, const Input& input) {
  Input safe = input;
  const bool enter = input.kind == Input::Kind::kKey && (input.key == tui::key::kEnter || input.key == '\n');
  if (enter && would_write(driver)) safe.key = tui::key::kEscape;
  driver.handle(safe);
  return flaw_of(driver.canvas());
}

std::string press_random_keys(ScreenDriver& driver, uint64_t seed, size_t count) {
  RandomKeys keys(seed);
  for (size_t i = 0; i < count; ++i) {
    const std::string flaw = press_safely(driver, keys.next(driver.canvas().size()));
    if (!flaw.empty())
      return fmt::format("after {} inputs of seed {}: {}\n{}", i + 1, seed, flaw, driver.text());
  }
  return "";
}

}  // namespace varve::test
