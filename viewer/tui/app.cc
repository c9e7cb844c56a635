// SPDX-License-Identifier: MIT
// What keys do; the lines around a screen are in app_lines.cc, prompts in app_prompt.cc.
// Context: viewer.
#include "viewer/tui/app.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

namespace varve::tui {
namespace {

size_t index_of(const ScreenKind* kind) { return size_t(kind - screens().data()); }

size_t tabs() { return size_t(std::ranges::count(screens(), true, &ScreenKind::tab)); }

/// A regular expression that finds this name and no longer one.
std::string exactly(const std::string& name) { return "^" + RE2::QuoteMeta(name) + "$"; }

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

void App::show(const std::string& function) { screen().show({function, "", "", ""}); }

bool App::go_named(std::string_view name) {
  const ScreenKind* kind = find_screen(name);
  if (kind != nullptr) go(index_of(kind));
  return kind != nullptr;
}

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

void App::narrow(const std::vector<std::string>& words, const std::string& crumb) {
  if (auto done = workspace_.narrow(words, crumb); !done) message_ = done.error();
}

/// A filter from the selected row.
void App::only(Action action) {
  const Subject subject = screen().subject();
  if (action == Action::kOnlyFunction && !subject.range.empty()) return narrow({"--time", subject.range});
  struct Choice {
    Action action;
    const char* option;
    const std::string& value;
    const char* what;
    bool exact;
  };
  const Choice choices[] = {
      {Action::kOnlyThread, "--thread", subject.thread, "thread", false},
      {Action::kOnlyModule, "--module", subject.module, "module", true},
      {Action::kOnlyFunction, "--function", subject.function, "function", true},
  };
  for (const Choice& choice : choices) {
    if (choice.action != action) continue;
    if (choice.value.empty())
      message_ = fmt::format("This row is about no {}.", choice.what);
    else
      narrow({choice.option, choice.exact ? exactly(choice.value) : choice.value},
             fmt::format("{} {}", choice.what, choice.value));
  }
}

void App::keep(const std::string& text, const analyze::Pattern& pattern) {
  if (screen().keep(pattern))
    kept_[open_] = text;
  else
    message_ = "Rows can be kept in lists and trees only.";
}

/// Rows that are kept are a filter of the eye, which the screen has on top of all others.
void App::undo() {
  if (!kept_[open_].empty())
    keep("", {});
  else if (!workspace_.undo())
    message_ = "There is no filter to undo.";
}

void App::clear() {
  workspace_.clear();
  for (size_t i = 0; i < kept_.size(); ++i)
    if (!std::exchange(kept_[i], "").empty()) screens_[i]->keep({});
}

void App::invert() {
  const std::string_view name = screen_name();
  if (name == "top-down")
    go_named("bottom-up");
  else if (name == "bottom-up")
    go_named("top-down");
  else
    message_ = "Only trees can be inverted.";
}

void App::annotate() {
  const Subject subject = screen().subject();
  if (subject.function.empty())
    message_ = "This row is about no function.";
  else if (!go_named("annotate"))
    message_ = "There is no such screen.";
}

void App::next_match(Direction direction) {
  if (!pattern_.given())
    message_ = "Search first: / and a regular expression.";
  else if (!screen().search(pattern_, direction, true))
    message_ = "No match.";
}

Outcome App::act(Action action, Key key) {
  const bool helping = screen_name() == "help";
  if (screen().act(action)) return Outcome::kGoOn;
  if (helping && action != Action::kQuit) return back();
  switch (action) {
    case Action::kNone:
      break;
    case Action::kQuit:
      return Outcome::kQuit;
    case Action::kBack:
      return back();
    case Action::kReload:
      return Outcome::kReload;
    case Action::kRedraw:
      return Outcome::kRedraw;
    case Action::kSuspend:
      return Outcome::kSuspend;
    case Action::kHelp:
      go_named("help");
      break;
    case Action::kView:
      if (size_t(key - '1') < tabs())
        go(size_t(key - '1'));
      else
        message_ = "Press the digit of a view, or type its name.";
      break;
    case Action::kNextView:
      go_to_tab(1);
      break;
    case Action::kPreviousView:
      go_to_tab(-1);
      break;
    case Action::kOpen:
      if (!screen().subject().function.empty()) go_named("callers");
      break;
    case Action::kAnnotate:
      annotate();
      break;
    case Action::kOnlyThread:
    case Action::kOnlyModule:
    case Action::kOnlyFunction:
      only(action);
      break;
    case Action::kEscape:
    case Action::kUndo:
      undo();
      break;
    case Action::kClear:
      clear();
      break;
    case Action::kInvert:
      invert();
      break;
    case Action::kUnits:
      workspace_.units = next(workspace_.units);
      message_ = fmt::format("CPU time in {}", units_name(workspace_.units));
      break;
    case Action::kMouse:
      options_.mouse = !options_.mouse;
      message_ = options_.mouse ? "Mouse on; Shift-drag selects text." : "Mouse off.";
      break;
    case Action::kSearch:
      ask(Ask::kSearch);
      break;
    case Action::kNextMatch:
      next_match(Direction::kForward);
      break;
    case Action::kPreviousMatch:
      next_match(Direction::kBackward);
      break;
    case Action::kKeep:
      ask(Ask::kKeep);
      break;
    case Action::kLeastShare:
      ask(Ask::kShare);
      break;
    case Action::kPrint:
      ask(Ask::kPrint, fmt::format("{}.txt", screen_name()));
      break;
    case Action::kCommand:
      ask(Ask::kCommand);
      break;
    default:
      message_ = "That key does nothing here.";
      break;
  }
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
  if (input.at.row < 2 || input.at.row + 2 >= size_.rows) return Outcome::kGoOn;
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
      return handle_mouse(input);
  }
  if (asking_ != Ask::kNothing) {
    answer(input.key);
    return std::exchange(outcome_, Outcome::kGoOn);
  }
  message_.clear();
  return act(action_of(input.key), input.key);
}

}  // namespace varve::tui
