// SPDX-License-Identifier: MIT
// varve report [VIEW] [PROFILE]: one view of a profile, as text, CSV or JSON.
// Context: viewer.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <optional>

#include "viewer/command.h"
#include "viewer/load/load.h"
#include "viewer/output.h"
#include "viewer/record/host_facts.h"
#include "viewer/record/profile_directory.h"
#include "viewer/render/render.h"
#include "viewer/symbol/symbols_for.h"
#include "viewer/terminal_size.h"
#include "viewer/view/request.h"

namespace varve {
namespace {

enum class Format { kText, kCsv, kJson };

/// What a text shows unless told otherwise: enough for any real question, and never a hundred thousand rows.
constexpr uint64_t kTextLimit = 50;
constexpr double kTextTreeShare = 0.005;

struct ReportOptions {
  std::vector<std::string> words;  // VIEW, FUNCTION, PROFILE
  view::Request request;
  Format format = Format::kText;
  ColorChoice color = ColorChoice::kAuto;
  std::optional<uint64_t> limit;
  std::optional<double> min_share;
  uint64_t width = 0;
  bool pager = true;
  symbol::ResolveOptions symbols;
};

/// Notes the option as the user wrote it, for the line that says what was filtered.
Setting note_filter(view::Request& request, std::string_view option, std::string_view value) {
  request.filter_words += fmt::format("{}{} {}", request.filter_words.empty() ? "" : " ", option, value);
  return {};
}

Setter set_pattern(view::Request& request, analyze::Pattern& target, std::string option) {
  return [&request, &target, option](std::string_view value) -> Setting {
    auto pattern = analyze::Pattern::parse(value);
    if (!pattern) return tl::unexpected(pattern.error());
    target = std::move(*pattern);
    return note_filter(request, option, value);
  };
}

constexpr std::string_view kMarkRange = "mark:";

/// "1.5s-3s", "2-", "-500ms": a number alone is seconds. "mark:A..B": until the profile is loaded, names. The
/// last one given counts, and of both forms.
Setter set_time_range(view::Request& request) {
  return [&request](std::string_view value) -> Setting {
    request.filter.from = {};
    request.filter.to = {UINT64_MAX};
    request.marks = {};
    if (value.starts_with(kMarkRange)) {
      auto marks = analyze::parse_mark_range(value.substr(kMarkRange.size()));
      if (!marks) return tl::unexpected(marks.error());
      request.marks = std::move(*marks);
      return note_filter(request, "--time", value);
    }
    const size_t dash = value.find('-');
    if (dash == std::string_view::npos || value.size() == 1) {
      return tl::unexpected<std::string>("is not a range of time such as 1.5s-3s, 2s- or -500ms");
    }
    const std::string_view ends[] = {value.substr(0, dash), value.substr(dash + 1)};
    Nanos* const targets[] = {&request.filter.from, &request.filter.to};
    for (size_t i = 0; i < 2; ++i) {
      if (ends[i].empty()) continue;
      const auto time = parse_duration(ends[i], "s");
      if (!time) return tl::unexpected("is not a range: '" + std::string(ends[i]) + "' " + time.error());
      *targets[i] = *time;
    }
    if (request.filter.from >= request.filter.to) return tl::unexpected<std::string>("ends before it begins");
    return note_filter(request, "--time", value);
  };
}

Setter set_percent(std::optional<double>& target) {
  return [&target](std::string_view value) -> Setting {
    std::string text(value.ends_with('%') ? value.substr(0, value.size() - 1) : value);
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !std::isfinite(number) || number < 0 || number > 100) {
      return tl::unexpected<std::string>("is not a percentage from 0 to 100");
    }
    target = number / 100;
    return {};
  };
}

Setter set_limit(std::optional<uint64_t>& target) {
  return [&target](std::string_view value) -> Setting {
    uint64_t number = 0;
    const Setting setting = set_number(number, 0, UINT32_MAX)(value);
    if (setting) target = number;
    return setting;
  };
}

/// "50,85,115": the highest percent of the target that still is Poor, Ok and Ideal.
Setter set_thresholds(std::array<double, 3>& target) {
  return [&target](std::string_view value) -> Setting {
    std::array<double, 3> read{};
    double above = 0;
    for (size_t i = 0; i < read.size(); ++i) {
      const size_t comma = value.find(',');
      const std::string text(value.substr(0, comma));
      char* end = nullptr;
      read[i] = std::strtod(text.c_str(), &end);
      const bool last = i + 1 == read.size();
      const bool good = !text.empty() && *end == '\0' && std::isfinite(read[i]) && read[i] > above;
      if (!good || last != (comma == std::string_view::npos))
        return tl::unexpected<std::string>("is not three rising percentages such as 50,85,115");
      above = read[i];
      value.remove_prefix(last ? value.size() : comma + 1);
    }
    target = read;
    return {};
  };
}

Setter set_target(std::optional<double>& target) {
  return [&target](std::string_view value) -> Setting {
    const std::string text(value);
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !(number >= 0.1 && number <= 1e6))
      return tl::unexpected<std::string>("is not a number of threads from 0.1 to 1000000");
    target = number;
    return {};
  };
}

Choices view_choices() {
  Choices choices{"Views", {}};
  for (const view::Kind& kind : view::kinds()) choices.words.emplace_back(kind.name, kind.sentence);
  return choices;
}

using Options = std::vector<Option>;

Options output_options(ReportOptions& options) {
  return {
      {"Output", "--format", "FORMAT", "text", "How to print: text, csv or json.",
       set_choice<Format>(options.format,
                          {{"text", Format::kText}, {"csv", Format::kCsv}, {"json", Format::kJson}})},
      {"Output", "--limit", "N", "50 in text, all otherwise",
       "Print at most N rows and add up the others in one. 0 prints all.", set_limit(options.limit)},
      {"Output", "--min-share", "PERCENT", "0.5 for trees in text, 0 otherwise",
       "Leave out rows below this share of the CPU time and add them up in one.",
       set_percent(options.min_share)},
      {"Output", "--error", "", "", "Print the standard error of shares, sqrt(p (1 - p) / N).",
       set_flag(options.request.errors)},
      {"Output", "--color", "WHEN", "auto",
       "Use colours: auto, always or never. NO_COLOR in the environment means never.",
       set_choice<ColorChoice>(
           options.color,
           {{"auto", ColorChoice::kAuto}, {"always", ColorChoice::kAlways}, {"never", ColorChoice::kNever}})},
      {"Output", "--width", "COLUMNS", "that of the terminal, none in a pipe",
       "Fit text into this many columns; long names lose their middle.",
       set_number(options.width, 20, 10'000)},
      {"Output", "--no-pager", "", "",
       "Print long text to the terminal without $VARVE_PAGER, $PAGER or less.",
       set_flag(options.pager, false)},
  };
}

Options band_options(view::Request& request) {
  return {
      {"Bands", "--sort", "WHAT", "self",
       "Sort lists by self, total, samples, or by the time in a band: poor, ok, ideal, over.",
       set_choice<view::Sort>(request.sort, {{"self", view::Sort::kSelf},
                                             {"total", view::Sort::kTotal},
                                             {"samples", view::Sort::kSamples},
                                             {"poor", view::Sort::kPoor},
                                             {"ok", view::Sort::kOk},
                                             {"ideal", view::Sort::kIdeal},
                                             {"over", view::Sort::kOver}})},
      {"Bands", "--target", "N", "the processors that the command could use",
       "Judge concurrency against N threads.", set_target(request.bands.target)},
      {"Bands", "--thresholds", "POOR,OK,IDEAL", "50,85,115",
       "The highest percentages of the target that are Poor, Ok and Ideal; above is Over.",
       set_thresholds(request.bands.thresholds)},
      {"Bands", "--scale", "SCALE", "concurrency",
       "Count threads that run or are ready (concurrency), or processors in use (utilization).",
       set_choice<analyze::Scale>(request.bands.scale, {{"concurrency", analyze::Scale::kConcurrency},
                                                        {"utilization", analyze::Scale::kUtilization}})},
  };
}

Options filter_options(view::Request& request) {
  analyze::Filter& filter = request.filter;
  return {
      {"Filters", "--thread", "REGEX", "", "Only threads whose name has a match, or the one with this TID.",
       set_pattern(request, filter.thread, "--thread")},
      {"Filters", "--process", "REGEX", "",
       "Only processes whose program has a match in its file name or in the name it was started by, or the "
       "one with this PID.",
       set_pattern(request, filter.process, "--process")},
      {"Filters", "--module", "REGEX", "",
       "Only time spent in program files and libraries whose name has a match.",
       set_pattern(request, filter.module, "--module")},
      {"Filters", "--function", "REGEX", "", "Only stacks with a function whose full name has a match.",
       set_pattern(request, filter.function, "--function")},
      {"Filters", "--time", "RANGE", "",
       fmt::format(
           "Only this part of the run: FROM-TO, counted from its start, in {}; a number alone is s. Or "
           "mark:A..B, from the first mark named A to the next one named B. Either end may be missing.",
           kTimeUnits),
       set_time_range(request)},
  };
}

Options symbol_options(ReportOptions& options) {
  return {
      {"Frames", "--no-inline", "", "", "Charge inlined calls to the function that they were inlined into.",
       set_flag(options.request.inlines, false)},
      {"Symbols", "--debuginfod", "", "",
       "Ask the servers in $DEBUGINFOD_URLS for missing debug information.",
       set_flag(options.symbols.debuginfod)},
      {"Symbols", "--sysroot", "DIR", "", "Look for program files and libraries below DIR.",
       set_text(options.symbols.sysroot)},
      {"Symbols", "--debug-dir", "DIR", "/usr/lib/debug",
       "Look for debug files in DIR too; may be given again.", add_text(options.symbols.debug_directories)},
  };
}

OptionTable report_table(ReportOptions& options) {
  OptionTable table;
  table.command = "report";
  table.summary = "Print what a recorded profile says.";
  table.usages = {"[options] [VIEW] [PROFILE]", "[options] callers FUNCTION [PROFILE]"};
  table.positionals = {
      {"VIEW", "What to show. Default: summary.", false, add_text(options.words)},
      {"FUNCTION",
       "For callers: a name as the other views print it, in full or short, or a regular expression.", false,
       add_text(options.words)},
      {"PROFILE", "The profile's directory. Default: the newest in the current directory.", false,
       add_text(options.words)},
  };
  table.choices = {view_choices()};
  for (const Options& group : {output_options(options), filter_options(options.request),
                               band_options(options.request), symbol_options(options)})
    table.options.insert(table.options.end(), group.begin(), group.end());
  return table;
}

OptionTable describe_report() {
  static ReportOptions unread;
  return report_table(unread);
}

bool exists(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0;
}

/// VIEW and PROFILE may both be missing; a word that is no view is a profile if something of that name
/// exists.
struct Words {
  const view::Kind* kind;
  std::string profile;
};
tl::expected<Words, std::string> understand(const std::vector<std::string>& words, view::Request& request) {
  Words result{view::find_kind("summary"), ""};
  size_t at = 0;
  if (!words.empty()) {
    if (const view::Kind* named = view::find_kind(words[0])) {
      result.kind = named;
      ++at;
    } else if (!exists(words[0]) || words.size() > 1) {
      std::vector<std::string> names;
      for (const view::Kind& kind : view::kinds()) names.emplace_back(kind.name);
      const char* what = exists(words[0]) ? "is no view: it" : "is neither a view nor a profile: it";
      return tl::unexpected(fmt::format("'{}' {} {}", words[0], what, not_one_of(words[0], names)));
    }
  }
  if (result.kind == view::find_kind("callers")) {
    if (at == words.size())
      return tl::unexpected<std::string>("callers needs a FUNCTION: varve report callers FUNCTION");
    request.function = words[at++];
    if (request.function.empty()) return tl::unexpected<std::string>("callers: FUNCTION is empty");
    // A name with parentheses is often no regular expression; then it can only be a name.
    auto pattern = analyze::Pattern::parse(request.function);
    if (pattern)
      request.function_pattern = *pattern;
    else
      request.function_trouble = pattern.error();
  }
  if (at < words.size()) result.profile = words[at++];
  if (at < words.size()) return tl::unexpected(fmt::format("unexpected argument '{}'", words[at]));
  return result;
}

/// A line on the terminal while symbols are read for more than a second.
class Progress {
 public:
  void operator()(const symbol::ResolveProgress& progress) {
    const auto now = std::chrono::steady_clock::now();
    if (isatty(STDERR_FILENO) != 1 || now - start_ < std::chrono::seconds(1)) return;
    shown_ = true;
    fmt::print(stderr, "\rReading symbols: {} of {} addresses\x1b[K", progress.done, progress.total);
  }
  void finish() const {
    if (shown_) fmt::print(stderr, "\r\x1b[K");
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool shown_ = false;
};

void set_limits(const view::Kind& kind, ReportOptions& options) {
  const bool text = options.format == Format::kText;
  options.request.limit = options.limit.value_or(text && !kind.tree ? kTextLimit : 0);
  options.request.fold_recursion = text;
  options.request.min_share = options.min_share.value_or(text && kind.tree ? kTextTreeShare : 0);
}

/// Columns that text should fit into; 0: any.
size_t text_width(const ReportOptions& options) {
  const TerminalSize terminal = terminal_size();
  return options.width != 0 ? size_t(options.width) : terminal.is_terminal ? terminal.columns : 0;
}

std::string rendered(const view::View& view, const ReportOptions& options) {
  if (options.format == Format::kCsv) return render::csv(view);
  if (options.format == Format::kJson) return render::json(view);
  render::TextStyle style;
  style.width = text_width(options);
  style.charset = output_charset();
  style.color = use_color(options.color);
  return render::text(view, style);
}

int fail(std::string_view sentence) {
  complain("report", sentence);
  return kExitFailed;
}

int run_report(std::span<const std::string> arguments) {
  ReportOptions options;
  const Start start = start_command(report_table(options), arguments);
  if (!start.go_on) return start.exit_code;
  const auto words = understand(options.words, options.request);
  if (!words) {
    complain("report", words.error());
    return kExitUsage;
  }
  std::string path = words->profile;
  if (path.empty()) {
    auto newest = load::find_newest_profile(".");
    if (!newest) return fail(newest.error());
    path = std::move(*newest);
  }
  const auto profile = load::load(path);
  if (!profile) return fail(profile.error());
  if (auto found = analyze::resolve_marks(*profile, options.request.marks, options.request.filter); !found)
    return fail(found.error());

  Progress progress;
  std::string trouble;
  const symbol::SymbolTable symbols =
      symbol::symbols_for(*profile, options.symbols, std::ref(progress), &trouble);
  progress.finish();

  if (!words->profile.empty()) options.request.profile_words = record::shell_quoted(words->profile);
  set_limits(*words->kind, options);
  if (options.format == Format::kText && text_width(options) != 0)
    options.request.slices = view::slices_for(text_width(options));
  options.request.still_recording = record::is_recording(path);
  auto view = view::make(*words->kind, {*profile, symbols}, options.request);
  if (!view) return fail(view.error());
  if (!trouble.empty()) view->notes.push_back(trouble);
  const auto written =
      write_output(rendered(*view, options), options.format == Format::kText && options.pager);
  return written ? kExitOk : fail(written.error());
}

}  // namespace

const Command kReportCommand = {"report", describe_report, run_report};

}  // namespace varve
