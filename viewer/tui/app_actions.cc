// SPDX-License-Identifier: MIT
// The table of what actions do that are no screen's own.
// Context: viewer.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "viewer/tui/app.h"
#include "viewer/view/metrics.h"

namespace varve::tui {
namespace {

constexpr char kNothing[] = "That key does nothing here.";

/// A regular expression that finds this name and no longer one.
std::string exactly(const std::string& name) { return "^" + RE2::QuoteMeta(name) + "$"; }

}  // namespace

void App::narrow(const std::vector<std::string>& words, const std::string& crumb) {
  if (auto done = workspace_.narrow(words, crumb); !done) message_ = done.error();
}

/// A filter from the selected row.
void App::only(Action action) {
  const Subject subject = screen().subject();
  if (action == Action::kOnlyFunction && !subject.range.empty())
    return narrow({"--time", subject.range}, "time " + subject.range_words);
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

/// One step, so that undo takes back both; none where the filter is there already.
void App::only_object(const Subject& subject) {
  const std::string crumb = "object " + subject.object_words;
  if (workspace_.crumbs().find(crumb) == std::string::npos)
    narrow({"--metric", "wait", "--object", subject.object}, crumb);
}

void App::keep(const std::string& text, const analyze::Pattern& pattern) {
  if (screen().keep(pattern))
    kept_[open_] = text;
  else
    message_ = "Rows can be kept in lists and trees only.";
}

/// In every screen as `texts` says.
void App::keep_all(const std::vector<std::string>& texts) {
  for (size_t i = 0; i < kept_.size(); ++i) {
    if (kept_[i] == texts[i]) continue;
    screens_[i]->keep(texts[i].empty() ? analyze::Pattern() : *analyze::Pattern::parse(texts[i]));
    kept_[i] = texts[i];
  }
}

/// Rows that are kept are a filter of the eye, which the screen has on top of all others.
void App::undo() {
  const bool cleared = workspace_.cleared();
  if (!kept_[open_].empty())
    keep("", {});
  else if (!workspace_.undo())
    message_ = "There is no filter to undo.";
  else if (cleared) {
    keep_all(kept_before_.back());
    kept_before_.pop_back();
  }
}

void App::clear() {
  const std::vector<std::string> none(kept_.size());
  if (kept_ == none && !workspace_.narrowed()) {
    message_ = "There is no filter to clear.";
    return;
  }
  workspace_.clear();
  kept_before_.push_back(kept_);
  keep_all(none);
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

/// What a row is about, in more detail: who waits for its object, its callers, or the functions of its thread
/// or module.
void App::open_row() {
  const Subject subject = screen().subject();
  if (!subject.object.empty()) {
    only_object(subject);
    go_named("bottom-up");
    return;
  }
  const bool more = !subject.function.empty() || !subject.thread.empty() || !subject.module.empty();
  // The other screens have waits only if asked for.
  if (more && subject.waits && workspace_.request().metric != analyze::kWait) narrow({"--metric", "wait"});
  if (!subject.function.empty()) {
    go_named("callers");
  } else if (!subject.thread.empty() || !subject.module.empty()) {
    only(subject.thread.empty() ? Action::kOnlyModule : Action::kOnlyThread);
    go_named("hotspots");
  } else {
    message_ = "There is nothing more about this row.";
  }
}

/// From a list to where its function stands in the call tree.
void App::open_hot_path() {
  const Subject subject = screen().subject();
  if (subject.function.empty()) {
    message_ = "This row is about no function.";
    return;
  }
  go_named("top-down");
  draw(size_);  // which makes its rows
  if (!screen().show_hot_path(subject) && !workspace_.waits())
    message_ =
        fmt::format("All paths of {} are too light to have a row of their own here.", subject.function);
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

void App::open_digit(Key digit) {
  const auto index = size_t(digit - '1');
  if (index < tabs())
    go(index);
  else
    message_ = "Press the digit of a view, or type its name.";
}

void App::next_units() {
  if (!screen().has_use(Action::kUnits)) {
    message_ = kNothing;
    return;
  }
  workspace_.units = next(workspace_.units);
  message_ = fmt::format("{} in {}", workspace_.time_words(), units_name(workspace_.units));
}

/// A step, so undo brings the one before back.
void App::next_metric() {
  if (!screen().has_use(Action::kMetric)) {
    message_ = "This screen shows all metrics; lists and trees show one.";
    return;
  }
  const auto kinds = view::metric_kinds();
  const auto at = &view::metric_kind(workspace_.request().metric) - kinds.data();
  const view::MetricKind& next = kinds[size_t(at + 1) % kinds.size()];
  narrow({"--metric", next.name});
  if (message_.empty()) message_ = fmt::format("{} {}", next.title, next.meaning);
}

void App::switch_mouse() {
  options_.mouse = !options_.mouse;
  message_ = options_.mouse ? "Mouse on; Shift-drag selects text." : "Mouse off.";
}

std::span<const App::Deed> App::deeds() {
  static constexpr Deed kTable[] = {
      {Action::kNone, [](App&, Key) {}},
      {Action::kQuit, [](App& app, Key) { app.outcome_ = Outcome::kQuit; }},
      {Action::kBack, [](App& app, Key) { app.outcome_ = app.back(); }},
      {Action::kReload, [](App& app, Key) { app.outcome_ = Outcome::kReload; }},
      {Action::kRedraw, [](App& app, Key) { app.outcome_ = Outcome::kRedraw; }},
      {Action::kSuspend, [](App& app, Key) { app.outcome_ = Outcome::kSuspend; }},
      {Action::kHelp, [](App& app, Key) { app.go_named("help"); }},
      {Action::kView, [](App& app, Key key) { app.open_digit(key); }},
      {Action::kNextView, [](App& app, Key) { app.go_to_tab(1); }},
      {Action::kPreviousView, [](App& app, Key) { app.go_to_tab(-1); }},
      {Action::kOpen, [](App& app, Key) { app.open_row(); }},
      {Action::kHottest, [](App& app, Key) { app.open_hot_path(); }},
      {Action::kAnnotate, [](App& app, Key) { app.annotate(); }},
      {Action::kOnlyThread, [](App& app, Key) { app.only(Action::kOnlyThread); }},
      {Action::kOnlyModule, [](App& app, Key) { app.only(Action::kOnlyModule); }},
      {Action::kOnlyFunction, [](App& app, Key) { app.only(Action::kOnlyFunction); }},
      {Action::kEscape, [](App& app, Key) { app.undo(); }},
      {Action::kUndo, [](App& app, Key) { app.undo(); }},
      {Action::kClear, [](App& app, Key) { app.clear(); }},
      {Action::kInvert, [](App& app, Key) { app.invert(); }},
      {Action::kUnits, [](App& app, Key) { app.next_units(); }},
      {Action::kMetric, [](App& app, Key) { app.next_metric(); }},
      {Action::kMouse, [](App& app, Key) { app.switch_mouse(); }},
      {Action::kSearch, [](App& app, Key) { app.ask(Ask::kSearch); }},
      {Action::kNextMatch, [](App& app, Key) { app.next_match(Direction::kForward); }},
      {Action::kPreviousMatch, [](App& app, Key) { app.next_match(Direction::kBackward); }},
      {Action::kKeep, [](App& app, Key) { app.ask(Ask::kKeep); }},
      {Action::kLeastShare, [](App& app, Key) { app.ask(Ask::kShare); }},
      {Action::kPrint, [](App& app, Key) { app.ask(Ask::kPrint, fmt::format("{}.txt", app.screen_name())); }},
      {Action::kCommand, [](App& app, Key) { app.ask(Ask::kCommand); }},
  };
  return kTable;
}

Outcome App::act(Action action, Key key) {
  const bool helping = screen_name() == "help";
  if (screen().act(action)) return Outcome::kGoOn;
  if (helping && action != Action::kQuit && !history_.empty()) return back();
  const auto deed = std::ranges::find(deeds(), action, &Deed::action);
  if (deed != deeds().end())
    deed->run(*this, key);
  else
    message_ = kNothing;
  return std::exchange(outcome_, Outcome::kGoOn);
}

}  // namespace varve::tui
