// SPDX-License-Identifier: MIT
// Setters and tables of the options; see report_options.h.
// Context: viewer.
#include "viewer/report_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "viewer/record/shell_words.h"
#include "viewer/view/band_words.h"
#include "viewer/view/metrics.h"

namespace varve {
namespace {

/// Notes the option as the user wrote it, for the line that says what was filtered.
Setting note_filter(view::Request& request, std::string_view option, std::string_view value) {
  request.filter_words += fmt::format("{}{} {}", request.filter_words.empty() ? "" : " ", option, value);
  return {};
}

Setter set_pattern(view::Request& request, analyze::Pattern& target, std::string option) {
  return [&request, &target, option](std::string_view value) -> Setting {
    auto pattern = analyze::Pattern::parse(value);
    if (!pattern) return tl::unexpected(pattern.error());
    target = target.and_also(*pattern);
    return note_filter(request, option, value);
  };
}

/// CPU time is for no object.
Setter set_object(view::Request& request) {
  return [&request, set = set_pattern(request, request.filter.object, "--object")](std::string_view value) {
    if (request.metric == analyze::kCpu) request.metric = analyze::kWait;
    return set(value);
  };
}

constexpr std::string_view kMarkRange = "mark:";

/// "1.5s-3s", "2-", "-500ms": a number alone is seconds.
tl::expected<analyze::Filter, std::string> parse_time_range(std::string_view value) {
  const size_t dash = value.find('-');
  if (dash == std::string_view::npos || value.size() == 1) {
    return tl::unexpected<std::string>("is not a range of time such as 1.5s-3s, 2s- or -500ms");
  }
  analyze::Filter range;
  const std::string_view ends[] = {value.substr(0, dash), value.substr(dash + 1)};
  Nanos* const targets[] = {&range.from, &range.to};
  for (size_t i = 0; i < 2; ++i) {
    if (ends[i].empty()) continue;
    const auto time = parse_duration(ends[i], "s");
    if (!time) return tl::unexpected("is not a range: '" + std::string(ends[i]) + "' " + time.error());
    *targets[i] = *time;
  }
  if (range.from >= range.to) return tl::unexpected<std::string>("ends before it begins");
  return range;
}

/// A range of time, or "mark:A..B": until the profile is loaded, names.
Setter set_time_range(view::Request& request) {
  return [&request](std::string_view value) -> Setting {
    if (value.starts_with(kMarkRange)) {
      const auto marks = analyze::parse_mark_range(value.substr(kMarkRange.size()));
      if (!marks) return tl::unexpected(marks.error());
      request.marks = request.marks.and_also(*marks);
      return note_filter(request, "--time", value);
    }
    const auto range = parse_time_range(value);
    if (!range) return tl::unexpected(range.error());
    analyze::Filter both = request.filter.and_also(*range);
    if (both.from >= both.to) return tl::unexpected<std::string>("has no moment of the --time before it");
    request.filter = std::move(both);
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

/// "idle,poor".
Setter set_bands(analyze::BandSet& target) {
  return [&target](std::string_view value) -> Setting {
    analyze::BandSet read{};
    while (true) {
      const std::string_view word = value.substr(0, value.find(','));
      size_t band = 0;
      while (band < analyze::kBands && view::lower_case(view::band_name(analyze::Band(band))) != word) ++band;
      if (band == analyze::kBands)
        return tl::unexpected<std::string>("is not a list of bands such as idle,poor");
      read[band] = true;
      if (word.size() == value.size()) break;
      value.remove_prefix(word.size() + 1);
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

/// Commands to type next are about the same part of the run.
Options repeated(view::Request& request, Options options) {
  for (Option& option : options)
    option.set = [&request, name = option.names, set = option.set](std::string_view value) -> Setting {
      Setting done = set(value);
      if (done) request.cut_words += fmt::format(" {} {}", name, record::shell_quoted(value));
      return done;
    };
  return options;
}

}  // namespace

Options limit_options(ReportOptions& options) {
  return {
      {"Output", "--limit", "N", "50 for lists in text, all otherwise",
       "Print at most N rows and add up the others in one. 0 prints all. The summary has seven at most if "
       "not asked.",
       set_limit(options.limit)},
      {"Output", "--min-share", "PERCENT",
       "0.5 for trees, waits and the path --by something in text, 0 otherwise",
       "Leave out rows below this share of the CPU time and add them up in one.",
       set_percent(options.min_share)},
      {"Output", "--error", "", "", "Print the standard error of shares, sqrt(p (1 - p) / N).",
       set_flag(options.request.errors)},
  };
}

Options target_options(view::Request& request) {
  std::vector<std::pair<std::string, analyze::Metric>> metrics;
  for (const view::MetricKind& kind : view::metric_kinds()) metrics.emplace_back(kind.name, kind.metric);
  return repeated(
      request,
      {
          {"Bands", "--metric", "WHAT", "cpu",
           "Count all CPU time (cpu), only that of moments in one band (poor, ok, ideal, over), or what "
           "threads "
           "waited (wait).",
           set_choice<analyze::Metric>(request.metric, std::move(metrics))},
          {"Bands", "--target", "N", "the physical cores that the command could use",
           "Judge concurrency against N threads.", set_target(request.bands.target)},
          {"Bands", "--thresholds", "POOR,OK,IDEAL", "50,85,115",
           "The highest percentages of the target that are Poor, Ok and Ideal; above is Over.",
           set_thresholds(request.bands.thresholds)},
          {"Bands", "--scale", "SCALE", "concurrency",
           "Count threads that run or are ready (concurrency), or processors in use (utilization).",
           set_choice<analyze::Scale>(request.bands.scale, {{"concurrency", analyze::Scale::kConcurrency},
                                                            {"utilization", analyze::Scale::kUtilization}})},
      });
}

const std::pair<std::string, view::By> kByNames[] = {{"function", view::By::kFunction},
                                                     {"thread", view::By::kThread},
                                                     {"object", view::By::kObject},
                                                     {"callpath", view::By::kCallPath}};

std::string by_name(view::By by) {
  const auto* found = std::ranges::find(kByNames, by, &std::pair<std::string, view::By>::second);
  return found == std::end(kByNames) ? "" : found->first;
}

Options band_options(view::Request& request) {
  Options options = {
      {"Output", "--by", "WHAT", "",
       "What a row is: of waits an object (else function, thread or callpath), of critical-path a segment "
       "(else function, thread or object). With object, timeline has a letter for each object.",
       set_choice<view::By>(request.by, {std::begin(kByNames), std::end(kByNames)})},
      {"Bands", "--band", "BANDS", "idle,poor",
       "Explain the moments in these bands, of idle, poor, ok, ideal, over.", set_bands(request.explained)},
      {"Bands", "--sort", "WHAT", "self, in trees total, for waits idle and poor",
       "Sort lists, and in trees what is below each row, by self, total, samples, or by the time in a band: "
       "idle, poor, ok, ideal, over. Of waits "
       "self and total are all of their time, samples their number.",
       set_choice<view::Sort>(request.sort, {{"self", view::Sort::kSelf},
                                             {"total", view::Sort::kTotal},
                                             {"samples", view::Sort::kSamples},
                                             {"idle", view::Sort::kIdle},
                                             {"poor", view::Sort::kPoor},
                                             {"ok", view::Sort::kOk},
                                             {"ideal", view::Sort::kIdeal},
                                             {"over", view::Sort::kOver}})},
  };
  const Options rest = target_options(request);
  options.insert(options.end(), rest.begin(), rest.end());
  return options;
}

Options filter_options(view::Request& request) {
  analyze::Filter& filter = request.filter;
  return repeated(
      request,
      {
          {"Filters", "--thread", "REGEX", "",
           "Only threads whose name has a match, or the one with this TID.",
           set_pattern(request, filter.thread, "--thread")},
          {"Filters", "--process", "REGEX", "",
           "Only processes whose program has a match in its file name or in the name it was started by, or "
           "the one with this PID.",
           set_pattern(request, filter.process, "--process")},
          {"Filters", "--module", "REGEX", "",
           "Only time spent in program files and libraries whose name has a match.",
           set_pattern(request, filter.module, "--module")},
          {"Filters", "--function", "REGEX", "", "Only stacks with a function whose full name has a match.",
           set_pattern(request, filter.function, "--function")},
          {"Filters", "--object", "REGEX", "",
           "Only waits for what has a match in its name, or has this object_id; they take the place of CPU "
           "time, as by --metric wait.",
           set_object(request)},
          {"Filters", "--time", "RANGE", "",
           fmt::format(
               "Only this part of the run: FROM-TO, counted from its start, in {}; a number alone is s. Or "
               "mark:A..B, from the first mark named A to the next one named B. Either end may be missing.",
               kTimeUnits),
           set_time_range(request)},
      });
}

Options symbol_options(ReportOptions& options) {
  return {
      {"Frames", "--no-inline", "", "", "Charge inlined calls to the function that they were inlined into.",
       set_flag(options.request.inlines, false)},
      {"Symbols", "--debuginfod", "", "",
       "Ask the servers in $DEBUGINFOD_URLS for missing debug information.",
       set_flag(options.symbols.debuginfod)},
      {"Symbols", "--sysroot", "DIR", "",
       "Look for program files and libraries below DIR, also for what the profile lacks.",
       set_text(options.symbols.sysroot)},
      {"Symbols", "--debug-dir", "DIR", "/usr/lib/debug",
       "Look for debug files in DIR too, also for what the profile lacks; may be given again.",
       add_text(options.symbols.debug_directories)},
  };
}

void set_function(view::Request& request, std::string word) {
  request.function = std::move(word);
  // A name with parentheses is often no regular expression; then it can only be a name.
  auto pattern = analyze::Pattern::parse(request.function);
  if (pattern)
    request.function_pattern = std::move(*pattern);
  else
    request.function_trouble = pattern.error();
}

}  // namespace varve
