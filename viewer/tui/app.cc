// SPDX-License-Identifier: MIT
// Which screen is open, and where inputs go. What keys do is in app_actions.cc, the lines around a screen in
// app_lines.cc, prompts in app_prompt.cc.
// Context: viewer.
#include "viewer/tui/app.h"

#include <algorithm>

namespace varve::tui {
namespace {

size_t index_of(const ScreenKind* kind) { return size_t(kind - screens().data()); }

}  // namespace

App::App(Workspace& workspace, AppOptions options)
    : workspace_(workspace),
      options_(std::move(options)),
      screens_(tui::screens().size()),
      message_(options_.note),
      kept_(tui::screens().size()) {
  if (const ScreenKind* kind = find_screen(options_.screen)) open_ = index_of(kind);
}

Screen& App::screen() {
  std::unique_ptr<Screen>& screen = screens_[open_];
  if (!screen) screen = screens()[open_].make(workspace_);
  return *screen;
}

void App::go(size_t index) {
  if (index == open_) return;
  const Subject subject = screen().subject();
  history_.push_back(open_);
  open_ = index;
  screen().show(subject);
}

void App::show(const std::string& function) { screen().show({.function = function}); }

bool App::go_named(std::string_view name) {
  const ScreenKind* kind = find_screen(name);
  if (kind != nullptr) go(index_of(kind));
  return kind != nullptr;
}

size_t App::tabs() { return size_t(std::ranges::count(screens(), true, &ScreenKind::tab)); }

void App::go_to_tab(ptrdiff_t step) {
  const auto count = ptrdiff_t(tabs());
  const ptrdiff_t from = screens()[open_].tab ? ptrdiff_t(open_) : 0;
  go(size_t((from + step + count) % count));
}

Outcome App::back() {
  if (history_.empty()) return Outcome::kQuit;
  open_ = history_.back();
  history_.pop_back();
  return Outcome::kGoOn;
}

Outcome App::handle_mouse(const Input& input) {
  if (input.kind == Input::Kind::kWheelUp || input.kind == Input::Kind::kWheelDown) {
    for (int i = 0; i < 3; ++i)
      screen().act(input.kind == Input::Kind::kWheelUp ? Action::kUp : Action::kDown);
    return Outcome::kGoOn;
  }
  for (const Zone& zone : zones_) {
    if (zone.row != input.at.row || input.at.column < zone.from || input.at.column >= zone.to) continue;
    if (zone.screen) return go(*zone.screen), Outcome::kGoOn;
    return act(zone.action, 0);
  }
  if (input.at.row < 2 || input.at.row >= size_.rows - std::min<size_t>(size_.rows, 2)) return Outcome::kGoOn;
  const Point inside{input.at.row - 2, input.at.column};
  if (screen().sort_at(inside)) return Outcome::kGoOn;
  const bool again = screen().click(inside);
  return again || input.kind == Input::Kind::kDoubleClick ? act(Action::kOpen, 0) : Outcome::kGoOn;
}

Outcome App::handle(const Input& input) {
  switch (input.kind) {
    case Input::Kind::kNothing:
    case Input::Kind::kResize:
      return Outcome::kGoOn;
    case Input::Kind::kQuit:
      return Outcome::kQuit;
    case Input::Kind::kKey:
      break;
    default:
      message_.clear();
      outcome_ = handle_mouse(input);
      // Who clicks while a search is typed goes on from there.
      if (asking_ == Ask::kSearch) search_back_ = screen().way_back();
      return std::exchange(outcome_, Outcome::kGoOn);
  }
  if (asking_ != Ask::kNothing) {
    answer(input.key);
    return std::exchange(outcome_, Outcome::kGoOn);
  }
  message_.clear();
  return act(action_of(input.key), input.key);
}

}  // namespace varve::tui
