// SPDX-License-Identifier: MIT
// varve report [VIEW] [PROFILE]: one view of a profile, as text, CSV or JSON.
// Context: viewer.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "viewer/command.h"
#include "viewer/open_profile.h"
#include "viewer/report_options.h"
#include "viewer/view/rows.h"
#include "viewer/view_output.h"

namespace varve {
namespace {

struct ReportCommand {
  std::vector<std::string> words;  // VIEW, FUNCTION, PROFILE
  ReportOptions options;
  ViewOutput output;
};

Choices view_choices() {
  Choices choices{"Views", {}};
  for (const view::Kind& kind : view::kinds()) choices.words.emplace_back(kind.name, kind.sentence);
  return choices;
}

OptionTable report_table(ReportCommand& command) {
  OptionTable table;
  table.command = "report";
  table.summary = "Print what a recorded profile says.";
  table.usages = {"[options] [VIEW] [PROFILE]", "[options] callers FUNCTION [PROFILE]"};
  table.positionals = {
      {"VIEW", "What to show. Default: summary.", false, add_text(command.words)},
      {"FUNCTION",
       "For callers: a name as the other views print it, in full or short, or a regular expression. Of "
       "several "
       "functions with one name NAME@MODULE+0xADDRESS or NAME@FILE:LINE is one.",
       false, add_text(command.words)},
      {"PROFILE", "The profile's directory. Default: the newest in the current directory.", false,
       add_text(command.words)},
  };
  table.choices = {view_choices()};
  ReportOptions& options = command.options;
  for (const Options& group :
       {output_options(command.output), limit_options(options), filter_options(options.request),
        band_options(options.request), symbol_options(options)})
    table.options.insert(table.options.end(), group.begin(), group.end());
  return table;
}

OptionTable describe_report() {
  static ReportCommand unread;
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
tl::expected<Words, std::string> understand(std::vector<std::string> words, view::Request& request) {
  // Either order will do, as for varve view.
  if (words.size() == 2 && view::find_kind(words[0]) == nullptr && view::find_kind(words[1]) != nullptr)
    std::swap(words[0], words[1]);
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
    set_function(request, words[at++]);
    if (request.function.empty()) return tl::unexpected<std::string>("callers: FUNCTION is empty");
    if (at == words.size())
      if (std::string missing = missing_word("varve report callers", request.function); !missing.empty())
        return tl::unexpected(std::move(missing));
  }
  if (at < words.size()) result.profile = words[at++];
  if (at < words.size()) return tl::unexpected(fmt::format("unexpected argument '{}'", words[at]));
  return result;
}

/// What is wrong with --by for a view; empty: nothing.
std::string by_trouble(const view::Kind& kind, view::By by) {
  if (by == view::By::kUsual || std::ranges::find(kind.by, by) != kind.by.end()) return "";
  if (kind.by.empty()) return fmt::format("--by is not for {}", kind.name);
  std::string taken;
  for (const view::By each : kind.by) taken += (taken.empty() ? "" : ", ") + by_name(each);
  return fmt::format("--by {} is not for {}; it takes {}", by_name(by), kind.name, taken);
}

void set_limits(const view::Kind& kind, bool text, ReportOptions& options) {
  options.request.limit = options.limit.value_or(text && !kind.tree ? view::kTextLimit : 0);
  options.request.limit_given = options.limit.has_value();
  options.request.fold_recursion = text;
  // The parts of the path in their order leave out nothing; its sums by something are lists as of waits.
  const bool path_sums =
      kind.name == std::string_view("critical-path") && options.request.by != view::By::kUsual;
  const bool cut_small = text && (kind.tree || kind.cut_small || path_sums);
  const bool all = options.limit == 0;
  options.request.min_share = options.min_share.value_or(cut_small && !all ? view::kTextTreeShare : 0);
}

int print(const view::View& view, const ViewOutput& output) {
  const auto written = print_view(view, output);
  return written ? kExitOk : fail("report", written.error());
}

/// Prints the view as it was made after the run, in large profiles; nothing where there is none. Not the
/// summary: it tells the size of the profile, which stored views are a part of.
std::optional<int> print_stored(const Words& words, const ReportCommand& command) {
  view::Request request = command.options.request;
  if (words.kind == view::find_kind("summary")) return std::nullopt;
  const auto open = load_views(words.profile, command.options.symbols);
  if (!open || !fit_request(*open, words.profile, request)) return std::nullopt;
  const auto view = open->views->find(words.kind->name, request);
  if (!view) return std::nullopt;
  return print(*view, command.output);
}

int run_report(std::span<const std::string> arguments) {
  ReportCommand command;
  ReportOptions& options = command.options;
  const Start start = start_command(report_table(command), arguments);
  if (!start.go_on) return start.exit_code;
  const auto words = understand(command.words, options.request);
  if (!words) {
    return fail("report", words.error(), kExitUsage);
  }
  if (const std::string trouble = by_trouble(*words->kind, options.request.by); !trouble.empty()) {
    return fail("report", trouble, kExitUsage);
  }
  set_limits(*words->kind, command.output.text(), options);
  if (const size_t width = text_width(command.output)) options.request.slices = view::slices_for(width);
  if (const auto code = print_stored(*words, command)) return *code;
  const auto open = open_profile(words->profile, options);
  if (!open) return fail("report", open.error());
  auto view = view::make(*words->kind, {open->profile, open->names.table}, options.request);
  if (!view) return fail("report", view.error());
  if (!open->names.trouble.empty()) view->notes.push_back(open->names.trouble);
  // CSV has no place for notes, and this one no script should miss.
  if (const size_t damages = open->profile.damages.size();
      damages != 0 && command.output.format == Format::kCsv)
    complain("report", fmt::format("what could not be read is missing: varve report quality names {}",
                                   view::plural(damages, "damage", "damages")));
  return print(*view, command.output);
}

}  // namespace

const Command kReportCommand = {"report", describe_report, run_report};

}  // namespace varve
