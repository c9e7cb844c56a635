// SPDX-License-Identifier: MIT
// The lines around a screen: tabs, totals, the selected row in full, keys.
// Context: viewer.
#include <fmt/format.h>

#include <algorithm>

#include "viewer/load/load.h"
#include "viewer/load/thread_count.h"
#include "viewer/render/elide_name.h"
#include "viewer/render/escape.h"
#include "viewer/render/numbers.h"
#include "viewer/tui/app.h"
#include "viewer/view/metrics.h"

namespace varve::tui {
namespace {

constexpr Size kLeast{12, 60};
constexpr size_t kAround = 4;  // lines

enum class TabForm : uint8_t { kTitle, kBrief, kDigit };

struct Tab {
  size_t screen;
  std::string text;
};

/// All tabs, and the open screen if it is none; that one has its name in each form.
std::vector<Tab> tabs_for(size_t open, TabForm form) {
  std::vector<Tab> tabs;
  for (size_t i = 0; i < screens().size(); ++i) {
    const ScreenKind& kind = screens()[i];
    if (!kind.tab && i != open) continue;
    std::string words = kind.tab ? std::to_string(i + 1) : "";
    if (form != TabForm::kDigit || i == open)
      words += (words.empty() ? "" : " ") + std::string(form == TabForm::kTitle ? kind.title : kind.brief);
    tabs.push_back({i, i == open ? "[" + words + "]" : " " + words + " "});
  }
  return tabs;
}

}  // namespace

Canvas App::draw(Size size) {
  size_ = size;
  Canvas canvas(size, workspace_.look);
  Pane all = canvas.whole();
  zones_.clear();
  if (size.rows < kLeast.rows || size.columns < kLeast.columns) {
    all.put(0, 0, fmt::format("enlarge to {}x{}", kLeast.columns, kLeast.rows));
    return canvas;
  }
  // The screen first: drawing it is what makes its view, which the lines speak of.
  screen().draw(all.below(2, size.rows - kAround));
  draw_tabs(all.below(0, 1));
  draw_totals(all.below(1, 1));
  draw_detail(all.below(size.rows - 2, 1));
  if (asking_ != Ask::kNothing)
    draw_prompt(all.below(size.rows - 1, 1));
  else
    draw_keys(all.below(size.rows - 1, 1));
  return canvas;
}

void App::draw_tabs(Pane pane) {
  // The longest form of which all stand in the line.
  std::vector<Tab> tabs;
  for (const TabForm form : {TabForm::kTitle, TabForm::kBrief, TabForm::kDigit}) {
    tabs = tabs_for(open_, form);
    size_t width = 0;
    for (const Tab& tab : tabs) width += tab.text.size();
    if (width <= pane.columns()) break;
  }
  size_t at = 0;
  for (const Tab& tab : tabs) {
    const size_t end = pane.put(0, at, tab.text, tab.screen == open_ ? kBold : kPlain);
    zones_.push_back({0, at, end, tab.screen, Action::kNone});
    at = end;
  }
  const size_t room = pane.columns() > at + 1 ? pane.columns() - at - 1 : 0;
  const std::string& words = news_.empty() ? options_.title : news_;
  const size_t whole = render::display_width(render::escape(words));
  constexpr size_t kLeastWords = 8;  // fewer columns of a name say nothing
  const size_t width = room < std::min(whole, kLeastWords) ? 0 : std::min(room, whole);
  pane.put_name(0, pane.columns() - width, words, width, news_.empty() ? kDim : kBold);
}

void App::draw_totals(Pane pane) {
  const load::Profile& profile = workspace_.profile();
  std::string words;
  const view::View* view = screen().summed();
  // Where the view is still to come its sums are known as a rule.
  if (view != nullptr && view->whole_run)
    words = "whole run: only --time changes it  ";
  else if (const analyze::Ledger* ledger = view != nullptr ? &view->ledger : workspace_.totals()) {
    const uint64_t whole = ledger->whole().count, shown = ledger->shown.count;
    const view::MetricKind& metric =
        view::metric_kind(view != nullptr ? view->metric : workspace_.request().metric);
    words = fmt::format("{} {}  ", metric.title, render::time_text(shown));
    if (shown != whole)
      words = fmt::format("{} {} of {}  ", metric.title, render::time_text(shown), render::time_text(whole));
  }
  std::string rest;
  if (profile.session.elapsed.count != 0)
    rest = fmt::format("elapsed {}  ", render::time_text(profile.session.elapsed.count));
  const size_t threads = load::count_threads(profile);
  rest += fmt::format("{} {}  ", threads, threads == 1 ? "thread" : "threads");
  std::string crumbs = workspace_.crumbs();
  if (!kept_[open_].empty()) crumbs += (crumbs.empty() ? "" : " > ") + ("rows with " + kept_[open_]);
  const std::string filter = "filter: " + (crumbs.empty() ? "none" : crumbs);
  const std::string settings = workspace_.settings();
  const std::string set = settings.empty() ? "" : "  set: " + settings;
  // What is filtered and set matters more than the run, which the summary tells.
  if (words.size() + rest.size() + render::display_width(render::escape(filter + set)) <= pane.columns())
    words += rest;
  size_t end = pane.put(0, 0, words);
  // A long filter leaves room for the word that something is set.
  const size_t room = pane.columns() - end, kept = std::min(set.size(), room / 2);
  end = pane.put_name(0, end, filter, room - kept, crumbs.empty() ? kDim : kBold);
  pane.put_name(0, end, set, pane.columns() - end);
}

void App::draw_detail(Pane pane) {
  if (!message_.empty()) {
    pane.put_name(0, 0, message_, pane.columns(), kBold);
    return;
  }
  constexpr size_t kGap = 3, kLeastMore = 8;  // columns that say something
  const Detail detail = screen().detail();
  const auto charset = pane.look().utf8 ? render::Charset::kUtf8 : render::Charset::kAscii;
  const std::string name = render::escape(detail.name, charset);
  // Other details are sentences and command lines.
  const std::string subject = screen().subject().function;
  const bool function = !subject.empty() && detail.name.starts_with(subject);
  const size_t end = pane.put(
      0, 0, function ? render::elide_name(name, pane.columns()) : render::elide_middle(name, pane.columns()));
  if (end + kGap + std::min(kLeastMore, detail.more.size()) <= pane.columns())
    pane.put_name(0, end + kGap, detail.more, pane.columns() - end - kGap, kDim);
}

void App::draw_keys(Pane pane) {
  size_t at = 0;
  if (!screen().keys().empty()) at = pane.put(0, 0, screen().keys(), {.ink = Ink::kAccent}) + 2;
  // Help comes first: who knows one key only needs that one.
  std::vector<const Binding*> shown = {find_binding("help")};
  for (const Binding& binding : bindings())
    if (binding.bar != nullptr && &binding != shown.front() && screen().has_use(binding.action))
      shown.push_back(&binding);
  for (const Binding* each : shown) {
    const Binding& binding = *each;
    const std::string key = key_name(binding.keys[0]);
    if (at + key.size() + std::string_view(binding.bar).size() > pane.columns()) continue;
    size_t end = pane.put(0, at, key, kBold);
    end = pane.put(0, end, binding.bar, {.ink = Ink::kAccent});
    zones_.push_back({size_.rows - 1, at, end, std::nullopt, binding.action});
    at = end + 1;
  }
}

}  // namespace varve::tui
