// SPDX-License-Identifier: MIT
// Workspace: the profile that is looked at and what part of it, shared by all screens. A filter, a target, a
// scale: everything that changes the numbers is one step of a stack, so undo takes back any of them.
// Context: viewer.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "viewer/tui/later_code.h"
#include "viewer/tui/style.h"
#include "viewer/tui/units.h"
#include "viewer/view/request.h"
#include "viewer/view/view_bytes.h"

namespace varve::tui {

struct Subject;

/// Reads options as `varve report` has them ("--thread", "worker") into a request; the error is a sentence.
using OptionReader = std::function<tl::expected<void, std::string>(const std::vector<std::string>& words,
                                                                   view::Request& request)>;

class Workspace {
 public:
  /// `stored`: views of the profile that were made in advance; may be null.
  Workspace(const load::Profile& profile, const symbol::SymbolTable& symbols, view::Request request,
            OptionReader reader, const view::StoredViews* stored = nullptr);

  const load::Profile& profile() const { return *profile_; }
  const symbol::SymbolTable& symbols() const { return *symbols_; }
  const view::Request& request() const { return steps_.back().request; }
  /// What times of lists and trees are of.
  bool of_waits() const { return request().metric == analyze::kWait; }
  std::string_view time_words() const { return of_waits() ? "Wait time" : "CPU time"; }
  std::string_view counted_words() const { return of_waits() ? "wait" : "sample"; }

  /// A step: options on top of what there is. `crumb` names it; empty: by its words. The error is a sentence;
  /// nothing has changed then.
  tl::expected<void, std::string> narrow(const std::vector<std::string>& words,
                                         const std::string& crumb = "");
  /// The same profile with its samples, or with better names, from now on; screens make their views again,
  /// but for those in `stored`. Views that are there still point into those before, which outlive the
  /// workspace too.
  void use(const load::Profile& profile, const symbol::SymbolTable& symbols,
           const view::StoredViews* stored = nullptr);
  /// Whether a view was wanted that only samples can give, and there are none yet.
  bool wants_samples() const { return wants_samples_; }
  /// Whether the last view could not be made only because something of it is still to come.
  bool waits() const { return wants_samples_ || (later_code_ && !later_code_->wanted().empty()); }
  /// Null where annotations read their code at once.
  LaterCode* later_code() { return later_code_ ? &*later_code_ : nullptr; }
  void read_code_later() { later_code_.emplace(); }
  /// False: there is nothing to undo.
  bool undo();
  /// How many of those there are.
  size_t steps() const { return steps_.size() - 1; }
  /// Takes all filters back, but those of the first request; what else was set stays. One step, for undo().
  void clear();
  /// Whether there are filters that clear() takes back; whether undo() would bring back what it took.
  bool narrowed() const;
  bool cleared() const { return steps_.back().kind == StepKind::kClear; }
  /// The filters, "--thread 3019 > --module libc"; empty without any.
  std::string crumbs() const;
  /// What else was set, "--sort poor > --target 4"; the metric stands elsewhere.
  std::string settings() const;
  /// Grows with each change of what is looked at; screens make their view again when it has.
  uint64_t revision() const { return revision_; }
  /// Grows with each step and undo: what is asked is another thing. Else the answer only became better.
  uint64_t question() const { return question_; }

  /// A view of it all, by its name in the table of views. `tune` may change the request for this once, but
  /// neither its filter nor its metric or bands.
  view::Made make(std::string_view kind, const std::function<void(view::Request&)>& tune = {});
  /// A view of one function, by its name, alone or with its place, or a regular expression.
  view::Made make_of(std::string_view kind, const std::string& function);
  /// The same of a part of the run, in ns since its start.
  view::Made make_range(std::string_view kind, Nanos from, Nanos to,
                        const std::function<void(view::Request&)>& tune) const;

  /// The sums of what is asked, for screens without a view; null: not known yet.
  const analyze::Ledger* totals();
  /// The function with the most self time; one without a name if none has any.
  Subject hottest_function();

  Units units = Units::kAll;
  Look look;

 private:
  enum class StepKind : uint8_t { kFilter, kSetting, kClear };
  struct Step {
    view::Request request;
    std::string words;
    StepKind kind = StepKind::kFilter;
  };

  void changed() { ++revision_, ++question_; }
  size_t first_filter() const;
  view::Source source() const { return {*profile_, *symbols_, nullptr, false, &path_}; }

  tl::expected<void, std::string> find_marks(const analyze::Filter& before, view::Request& request) const;
  tl::expected<void, std::string> narrow_all(const std::vector<std::vector<std::string>>& options);
  view::Made make_now(std::string_view kind, const view::Request& wanted);
  view::Made without_samples() const;

  const load::Profile* profile_;
  const symbol::SymbolTable* symbols_;
  OptionReader reader_;
  std::vector<Step> steps_;
  uint64_t revision_ = 1, question_ = 1;
  const view::StoredViews* stored_;
  mutable bool wants_samples_ = false;
  mutable analyze::KnownPath path_;
  std::optional<LaterCode> later_code_;
  std::optional<view::Prepared> prepared_;  // of `prepared_for_`
  uint64_t prepared_for_ = 0;
  std::optional<analyze::Ledger> totals_;  // of `totals_for_`
  uint64_t totals_for_ = 0;
};

}  // namespace varve::tui
