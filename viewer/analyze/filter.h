// SPDX-License-Identifier: MIT
// Filter: which part of a profile a report is about. Selection: the samples that pass it, added up by call
// path and by thread. Every analysis starts from a Selection, so all views cut in the same way, and what a
// filter cut is known. Context: viewer.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "common/units.h"
#include "viewer/analyze/attribute.h"
#include "viewer/analyze/metrics.h"
#include "viewer/analyze/path_times.h"
#include "viewer/load/profile.h"
#include "viewer/symbol/symbol_table.h"

namespace re2 {
class RE2;
}

namespace varve::analyze {

/// Regular expressions that parsed, or none, which match everything. Each found anywhere in the text.
class Pattern {
 public:
  Pattern() = default;
  /// The error says what is wrong with the expression, as the rest of a sentence.
  static tl::expected<Pattern, std::string> parse(std::string_view expression);

  bool given() const { return !expressions_.empty(); }
  bool matches(std::string_view text) const;
  /// For what has an id and a name: an expression of digits alone is the id and nothing else.
  bool matches(int32_t number, std::string_view name) const;

  /// One that matches what both do.
  Pattern and_also(const Pattern& other) const;
  /// The expressions of which it was put together, each alone.
  std::vector<Pattern> parts() const;

 private:
  std::vector<std::shared_ptr<const re2::RE2>> expressions_;
};

struct Filter {
  Pattern thread;    // tid, or found in the thread's name
  Pattern process;   // pid, or found in the program's file name or in program_name()
  Pattern module;    // of the code that was executing
  Pattern function;  // anywhere in the stack, inlined calls included
  Pattern object;    // of waits: object_numbers(), or found in object_words(); CPU time is of none
  Nanos from;        // since the start of the run; `from` belongs to it, `to` does not
  Nanos to{UINT64_MAX};

  bool timed() const { return from.count != 0 || to.count != UINT64_MAX; }
  bool given() const {
    return thread.given() || process.given() || module.given() || function.given() || object.given() ||
           timed();
  }
  /// What passes both; of functions each anywhere in the stack.
  Filter and_also(const Filter& other) const;
};

class Selection {
 public:
  PathTimes by_path;      // time whose leaf is there
  MetricTable by_thread;  // a row each of Profile::threads; one more for time of no thread
  std::vector<uint64_t> kept;
  std::vector<uint64_t> filtered_out;  // kept + filtered_out = all of the profile

  /// Self and total of all functions; worked out once, when first asked for. Always of the same profile and
  /// symbols.
  const Flat& functions(const load::Profile& profile, const symbol::SymbolTable& symbols, bool inlines) const;

 private:
  mutable std::array<std::optional<Flat>, 2> functions_;  // without inlined calls, and with
};

struct Concurrency;

/// With bands where `concurrency` is known. What is not of the metric is filtered out, too.
Selection select(const load::Profile& profile, const symbol::SymbolTable& symbols, const Filter& filter,
                 const Concurrency& concurrency, Metric metric = kCpu);

/// Whether time at a path of a thread passes all of a filter but its range of time. Decided once a thread and
/// a path.
class PassingRows {
 public:
  PassingRows(const load::Profile& profile, const symbol::SymbolTable& symbols, const Filter& filter);
  /// No thread: time of none.
  bool thread(ThreadId thread) const {
    return !given_ || (thread.valid() ? bool(threads_[thread.index()]) : threadless_);
  }
  bool path(PathId path) const;
  bool operator()(ThreadId by, PathId at) const { return thread(by) && path(at); }
  /// A row of Waits::waits, by what it waited for, too.
  bool wait(uint32_t row) const;
  /// What a thread waited that is in none of these rows.
  bool other_waits(ThreadId by) const { return !object_given_ && (*this)(by, PathId{0}); }

 private:
  const load::Profile& profile_;
  const bool given_, module_given_, object_given_, threadless_;
  const std::vector<bool> threads_, sites_, paths_, waits_;
};

/// Whether a thread passes Filter::thread and Filter::process.
bool thread_passes(const load::Profile& profile, ThreadId thread, const Filter& filter);
/// Whether a process passes Filter::process.
bool process_passes(const load::Profile& profile, ProcessId process, const Filter& filter);

/// A path without its folders; one that ends in a slash as it is.
std::string_view file_name(std::string_view path);

/// What the user typed to start the program: its argv[0] without folders and without a login shell's minus.
/// Its file is called otherwise where a link led to it (as, which is x86_64-linux-gnu-as). Where argv[0] is
/// missing or a title such as "sshd: user", the file's name.
std::string_view program_name(const load::Process& process);

/// The name under which a module is shown and filtered: its file name without folders.
std::string_view module_name(const load::Profile& profile, ModuleId module);

}  // namespace varve::analyze
