// SPDX-License-Identifier: MIT
// Request: which view is wanted of what. The list of views by name is here, for options, help and a screen's
// tabs. Context: viewer.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tl/expected.hpp>

#include "viewer/analyze/concurrency.h"
#include "viewer/analyze/filter.h"
#include "viewer/analyze/known_path.h"
#include "viewer/analyze/mark_range.h"
#include "viewer/analyze/object_names.h"
#include "viewer/symbol/code_collect.h"
#include "viewer/symbol/disassemble.h"
#include "viewer/symbol/resolve_options.h"
#include "viewer/symbol/source_files.h"
#include "viewer/view/view.h"

namespace varve::view {

/// What rows of lists, and in trees those below one, are sorted by.
/// kUsual: by self time, trees by total; waits by what of them was Idle and Poor.
enum class Sort : uint8_t { kUsual, kSelf, kTotal, kSamples, kIdle, kPoor, kOk, kIdeal, kOver };

/// What the rows of a view are of that can be told in several ways.
enum class By : uint8_t { kUsual, kFunction, kThread, kObject, kCallPath };

/// Where annotate has the machine code of sites from; null: it is not there yet.
using CodeSource = std::function<std::shared_ptr<const symbol::FoundCode>(const load::Profile& profile,
                                                                          std::span<const SiteId> sites)>;

/// What annotate shows of a function.
struct AnnotateRequest {
  bool lines = true;
  bool instructions = true;
  bool whole = false;  // all rows in the tables that are shown, not only those near time
  symbol::Syntax syntax = symbol::Syntax::kAtt;
  symbol::SourceOptions sources;
  symbol::ResolveOptions symbols;
  CodeSource code;  // none: the profile's own, else that of the program files, read at once
};

struct Request {
  analyze::Filter filter;
  analyze::MarkRange marks;     // the ends of `filter`, once resolve_marks() knows the profile
  std::string filter_words;     // as the user gave it: "--thread worker --time 1-2"
  uint64_t limit = 0;           // rows; 0: all
  bool limit_given = false;     // by the user: else a view may choose
  double min_share = 0;         // of the CPU time, 0 to 1; rows below are added up
  bool inlines = true;          // inlined calls as frames of their own
  bool errors = false;          // standard errors of shares
  bool fold_recursion = false;  // in trees: straight recursion as one row, "f (x12)"
  std::string function;         // callers, annotate: its name or a regular expression
  analyze::Pattern function_pattern;
  Sort sort = Sort::kUsual;
  By by = By::kUsual;
  analyze::Metric metric = analyze::kCpu;  // of metric_kinds()
  analyze::BandOptions bands;
  analyze::BandSet explained = analyze::kIdleAndPoor;  // by idle
  size_t slices = 100;                                 // of a timeline; see slices_for()
  std::string function_trouble;  // why `function` is no regular expression: "is not ..."; empty if it is one
  std::string profile_words;     // the profile as typed, quoted for a shell; goes into commands to type next
  std::string cut_words;         // options that every view has, filters and bands, as typed; likewise
  bool still_recording = false;  // its recorder lives
  AnnotateRequest annotate;

  /// Whether not all of the CPU time is asked about.
  bool cuts() const { return filter.given() || metric != analyze::kCpu; }
};

/// Everything a view is made from.
struct Source {
  const load::Profile& profile;
  const symbol::SymbolTable& symbols;
  const analyze::Concurrency* concurrency = nullptr;  // there once make() calls the maker of a view
  bool of_waits = false;                              // likewise: times are waits, not CPU time

  analyze::KnownPath* path = nullptr;  // where the path is looked for; null: nobody will ask again

  std::shared_ptr<const analyze::CriticalPath> critical_path() const {
    return path != nullptr ? path->of(profile) : analyze::KnownPath().of(profile);
  }
  operator analyze::Named() const { return {profile, symbols}; }  // NOLINT: a Source is one, and more
};

using Made = tl::expected<View, std::string>;

/// What a view has of waits: nothing, their time in place of CPU time where the metric is that, or only them.
enum class OfWaits : uint8_t { kNothing, kByMetric, kAlways };

struct Kind {
  const char* name;
  const char* sentence;  // for help
  bool tree;             // cut by share by default, where a list is cut by number
  OfWaits waits;
  Made (*make)(const Source&, const Request&, const analyze::Selection&);
  bool cut_small = false;       // in text cut by share, too
  std::span<const By> by = {};  // what its rows can be of, besides the usual
};

std::span<const Kind> kinds();

/// What a text shows unless told otherwise: enough for any real question, and never a hundred thousand rows.
inline constexpr uint64_t kTextLimit = 50;
inline constexpr double kTextTreeShare = 0.005;
/// On screens nodes of trees below these shares of the time are added up, in lists of rows and in cells.
inline constexpr double kTreeScreenShare = 0.0005, kFlameScreenShare = 0.001;

/// How many slices a timeline may have in text of so many columns.
size_t slices_for(size_t width);
const Kind* find_kind(std::string_view name);

/// What depends on the filter, the metric and the bands of a request, and not on the view.
struct Prepared {
  analyze::Concurrency concurrency;
  analyze::Selection selection;
};
Prepared prepare(const Source& source, const Request& request);

/// One function by source line and instruction; a command of its own, so not among the kinds.
extern const Kind kAnnotation;

/// The view, with ledger, filter and the notes that every view has. The error is a sentence, such as a
/// function that does not occur. Several views may be made of what is prepared once.
Made make(const Kind& kind, const Source& source, const Request& request, const Prepared& prepared);
Made make(const Kind& kind, const Source& source, const Request& request);

}  // namespace varve::view
