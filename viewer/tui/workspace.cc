// SPDX-License-Identifier: MIT
// See workspace.h.
// Context: viewer.
#include "viewer/tui/workspace.h"

#include <re2/re2.h>

#include <algorithm>

#include "viewer/analyze/mark_range.h"
#include "viewer/tui/row_words.h"
#include "viewer/view/metrics.h"

namespace varve::tui {
namespace {

/// A word as a shell would need it, for people to copy.
std::string shown_word(const std::string& word) {
  return word.find(' ') == std::string::npos && !word.empty() ? word : "'" + word + "'";
}

/// "--module node --target 4" as words of each option.
std::vector<std::vector<std::string>> split_options(const std::vector<std::string>& words) {
  std::vector<std::vector<std::string>> options;
  for (const std::string& word : words) {
    if (options.empty() || word.starts_with("--")) options.emplace_back();
    options.back().push_back(word);
  }
  return options;
}

/// Of report, or the one that is a command of its own.
const view::Kind& kind_named(std::string_view name) {
  const view::Kind* kind = view::find_kind(name);
  return kind != nullptr ? *kind : view::kAnnotation;
}

}  // namespace

Workspace::Workspace(const load::Profile& profile, const symbol::SymbolTable& symbols, view::Request request,
                     OptionReader reader, const view::StoredViews* stored)
    : profile_(&profile), symbols_(&symbols), reader_(std::move(reader)), stored_(stored) {
  steps_.push_back({std::move(request), ""});
}

/// Among the marks of processes that pass the filter so far, too.
tl::expected<void, std::string> Workspace::find_marks(const analyze::Filter& before,
                                                      view::Request& request) const {
  if (!request.marks.given()) return {};
  analyze::Filter among;
  among.process = before.process.and_also(request.filter.process);
  if (auto found = analyze::resolve_marks(profile(), request.marks, among); !found) return found;
  request.filter.from = among.from;
  request.filter.to = among.to;
  return {};
}

tl::expected<void, std::string> Workspace::narrow(const std::vector<std::string>& words,
                                                  const std::string& crumb) {
  if (const auto options = split_options(words); crumb.empty() && options.size() > 1)
    return narrow_all(options);
  const view::Request& last = steps_.back().request;
  Step step{last, crumb};
  // Only what the words say, then both: of two filters of the same kind none takes the place of the other.
  const analyze::Filter before = std::exchange(step.request.filter, {});
  const analyze::MarkRange marks = std::exchange(step.request.marks, {});
  if (auto read = reader_(words, step.request); !read) return read;
  if (auto found = find_marks(before, step.request); !found) return found;
  const bool filters = step.request.filter.given() || step.request.limit != last.limit ||
                       step.request.min_share != last.min_share;
  if (!filters) step.kind = StepKind::kSetting;
  step.request.filter = before.and_also(step.request.filter);
  if (std::string trouble = view::metric_trouble(profile(), step.request); !trouble.empty())
    return tl::unexpected(std::move(trouble));
  if (!step.request.marks.given()) step.request.marks = marks;
  if (step.request.filter.from >= step.request.filter.to)
    return tl::unexpected<std::string>("No moment is in this range and in the one before.");
  for (const std::string& word : crumb.empty() ? words : std::vector<std::string>())
    step.words += (step.words.empty() ? "" : " ") + shown_word(word);
  steps_.push_back(std::move(step));
  changed();
  return {};
}

/// A step each, so that each is shown and undone as what it is; all or none.
tl::expected<void, std::string> Workspace::narrow_all(const std::vector<std::vector<std::string>>& options) {
  const size_t before = steps_.size();
  const uint64_t question = question_;
  for (const auto& words : options) {
    if (auto done = narrow(words); !done) {
      steps_.erase(steps_.begin() + ptrdiff_t(before), steps_.end());
      changed();
      question_ = question;  // so that folds, marks and places stay
      return done;
    }
  }
  return {};
}

void Workspace::use(const load::Profile& profile, const symbol::SymbolTable& symbols,
                    const view::StoredViews* stored) {
  if (later_code_ && &profile != profile_) later_code_->forget();
  profile_ = &profile;
  symbols_ = &symbols;
  stored_ = stored;
  wants_samples_ = false;
  ++revision_;
}

bool Workspace::undo() {
  if (steps_.size() == 1) return false;
  steps_.pop_back();
  changed();
  return true;
}

/// The first step whose filter holds; the one before it is the begin, or a clear.
size_t Workspace::first_filter() const {
  size_t first = steps_.size();
  while (first > 1 && steps_[first - 1].kind != StepKind::kClear) --first;
  return first;
}

bool Workspace::narrowed() const {
  return std::any_of(steps_.begin() + ptrdiff_t(first_filter()), steps_.end(),
                     [](const Step& step) { return step.kind == StepKind::kFilter; });
}

void Workspace::clear() {
  Step step{steps_.back().request, "", StepKind::kClear};
  const view::Request& first = steps_.front().request;
  step.request.filter = first.filter;
  step.request.marks = first.marks;
  step.request.filter_words = first.filter_words;
  step.request.limit = first.limit;
  step.request.min_share = first.min_share;
  steps_.push_back(std::move(step));
  changed();
}

std::string Workspace::crumbs() const {
  std::string text = steps_.front().request.filter_words;
  for (size_t i = first_filter(); i < steps_.size(); ++i)
    if (steps_[i].kind == StepKind::kFilter) text += (text.empty() ? "" : " > ") + steps_[i].words;
  return text;
}

std::string Workspace::settings() const {
  const auto option = [](const Step& step) { return step.words.substr(0, step.words.find(' ')); };
  std::string text;
  for (auto step = steps_.begin(); step != steps_.end(); ++step) {
    if (step->kind != StepKind::kSetting || option(*step) == "--metric") continue;
    // Of two settings of one thing the later holds.
    const bool replaced = std::any_of(step + 1, steps_.end(), [&](const Step& later) {
      return later.kind == StepKind::kSetting && option(later) == option(*step);
    });
    if (!replaced) text += (text.empty() ? "" : " > ") + step->words;
  }
  return text;
}

view::Made Workspace::make(std::string_view kind, const std::function<void(view::Request&)>& tune) {
  view::Request wanted = request();
  if (tune) tune(wanted);
  if (stored_ != nullptr)
    if (auto stored = stored_->find(kind, wanted)) return std::move(*stored);
  return make_now(kind, wanted);
}

view::Made Workspace::make_now(std::string_view kind, const view::Request& wanted) {
  if (profile_->without_samples) return without_samples();
  if (prepared_for_ != revision_) {
    prepared_.reset();  // of ten million samples there is no room for both
    prepared_ = view::prepare(source(), request());
    prepared_for_ = revision_;
  }
  return view::make(kind_named(kind), source(), wanted, *prepared_);
}

view::Made Workspace::without_samples() const {
  wants_samples_ = true;
  return tl::unexpected<std::string>("This needs the samples, which are being read.");
}

view::Made Workspace::make_of(std::string_view kind, const std::string& function) {
  return make(kind, [&](view::Request& wanted) {
    wanted.function = function;
    wanted.function_trouble.clear();
    wanted.annotate.whole = true;
    if (later_code_) wanted.annotate.code = later_code_->source();
    // A name as it stands in a row is one function's; people type expressions, too.
    auto pattern = analyze::Pattern::parse(function);
    if (!pattern) pattern = analyze::Pattern::parse(RE2::QuoteMeta(function));
    if (pattern) wanted.function_pattern = *pattern;
  });
}

const analyze::Ledger* Workspace::totals() {
  if (totals_for_ != revision_) {
    const view::Made made = make("hotspots");
    totals_ = made ? std::optional(made->ledger) : std::nullopt;
    totals_for_ = revision_;
  }
  return totals_ ? &*totals_ : nullptr;
}

Subject Workspace::hottest_function() {
  const view::Made hottest = make("hotspots", [](view::Request& request) { request.limit = 0; });
  if (!hottest || hottest->tables.empty()) return {};
  const view::Table& table = hottest->tables.front();
  for (uint32_t row = 0; row < table.rows.size(); ++row)
    if (Subject subject = subject_of(table, row); !subject.function.empty()) return subject;
  return {};
}

view::Made Workspace::make_range(std::string_view kind, Nanos from, Nanos to,
                                 const std::function<void(view::Request&)>& tune) const {
  if (profile_->without_samples) return without_samples();
  view::Request wanted = request();
  tune(wanted);
  wanted.filter.from = from;
  wanted.filter.to = to;
  return view::make(kind_named(kind), source(), wanted);
}

}  // namespace varve::tui
