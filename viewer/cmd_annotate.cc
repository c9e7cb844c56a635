// SPDX-License-Identifier: MIT
// varve annotate FUNCTION [PROFILE]: where in a function its time went, by source line and by instruction.
// Context: viewer.
#include <fmt/format.h>

#include "viewer/command.h"
#include "viewer/open_profile.h"
#include "viewer/report_options.h"
#include "viewer/view_output.h"

namespace varve {
namespace {

enum class What { kBoth, kLines, kInstructions };

struct AnnotateCommand {
  std::vector<std::string> words;  // FUNCTION, PROFILE
  What what = What::kBoth;
  ReportOptions options;
  ViewOutput output;
};

Setter add_source_path(symbol::SourceOptions& sources) {
  return [&sources](std::string_view value) -> Setting {
    const size_t equals = value.find('=');
    if (equals == 0 || equals == std::string_view::npos || equals + 1 == value.size())
      return tl::unexpected<std::string>("is not FROM=TO, such as /build/app=/home/me/app");
    sources.paths.emplace_back(value.substr(0, equals), value.substr(equals + 1));
    return {};
  };
}

Setter set_what(What& target, What what) {
  return [&target, what](std::string_view) -> Setting { return target = what, Setting{}; };
}

Options annotate_options(AnnotateCommand& command) {
  view::AnnotateRequest& request = command.options.request.annotate;
  return {
      {"Code", "--both", "", "", "Show source lines, then instructions. The default.",
       set_what(command.what, What::kBoth)},
      {"Code", "--source", "", "", "Show source lines only.", set_what(command.what, What::kLines)},
      {"Code", "--asm", "", "", "Show instructions only.", set_what(command.what, What::kInstructions)},
      {"Code", "--syntax", "SYNTAX", "att", "How to write instructions: att or intel.",
       set_choice<symbol::Syntax>(request.syntax,
                                  {{"att", symbol::Syntax::kAtt}, {"intel", symbol::Syntax::kIntel}})},
      {"Code", "--source-path", "FROM=TO", "",
       "Look below TO for source files recorded below FROM; may be given again.",
       add_source_path(request.sources)},
  };
}

OptionTable annotate_table(AnnotateCommand& command) {
  OptionTable table;
  table.command = "annotate";
  table.summary = "Show where in a function its time went, by source line and by instruction.";
  table.usages = {"[options] FUNCTION [PROFILE]"};
  table.positionals = {
      {"FUNCTION",
       "A name as the views of report print it, in full or short, or a regular expression. Of several "
       "functions with one name NAME@MODULE+0xADDRESS or NAME@FILE:LINE is one.",
       true, add_text(command.words)},
      {"PROFILE", "The profile's directory. Default: the newest in the current directory.", false,
       add_text(command.words)},
  };
  ReportOptions& options = command.options;
  for (const Options& group :
       {annotate_options(command), output_options(command.output), filter_options(options.request),
        target_options(options.request), symbol_options(options)})
    table.options.insert(table.options.end(), group.begin(), group.end());
  return table;
}

OptionTable describe_annotate() {
  static AnnotateCommand unread;
  return annotate_table(unread);
}

int run_annotate(std::span<const std::string> arguments) {
  AnnotateCommand command;
  const Start start = start_command(annotate_table(command), arguments);
  if (!start.go_on) return start.exit_code;
  view::Request& request = command.options.request;
  set_function(request, command.words[0]);
  if (request.function.empty()) {
    return fail("annotate", "FUNCTION is empty", kExitUsage);
  }
  if (command.words.size() == 1)
    if (const std::string missing = missing_word("varve annotate", request.function); !missing.empty()) {
      return fail("annotate", missing, kExitUsage);
    }
  const auto open = open_profile(command.words.size() > 1 ? command.words[1] : "", command.options);
  if (!open) return fail("annotate", open.error());
  request.annotate.lines = command.what != What::kInstructions;
  request.annotate.instructions = command.what != What::kLines;
  auto view = view::make(view::kAnnotation, {open->profile, open->names.table}, request);
  if (!view) return fail("annotate", view.error());
  if (!open->names.trouble.empty()) view->notes.push_back(open->names.trouble);
  const auto written = print_view(*view, command.output);
  return written ? kExitOk : fail("annotate", written.error());
}

}  // namespace

const Command kAnnotateCommand = {"annotate", describe_annotate, run_annotate};

}  // namespace varve
