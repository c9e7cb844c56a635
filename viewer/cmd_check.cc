// SPDX-License-Identifier: MIT
// varve check CMD: whether and how a command can be recorded, without running it.
// Context: viewer.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "viewer/command.h"
#include "viewer/record/kernel_offers.h"
#include "viewer/record/preflight.h"
#include "viewer/record/profile_directory.h"
#include "viewer/render/escape.h"

namespace varve {
namespace {

OptionTable check_table(std::vector<std::string>& command) {
  OptionTable table;
  table.command = "check";
  table.summary =
      "Tell whether a command can be recorded, and if not, why and what to do, without running it.";
  table.usages = {"[--] CMD [ARG...]"};
  table.verbatim = &command;
  return table;
}

OptionTable describe_check() {
  static std::vector<std::string> unread;
  return check_table(unread);
}

struct Look {
  const char* word;
  const char* colour;  // SGR parameters
};

Look look_of(record::Severity severity) {
  if (severity == record::Severity::kProblem) return {"problem", "1;31"};
  if (severity == record::Severity::kWarning) return {"warning", "33"};
  return {"ok", "32"};
}

bool wants_colour() {
  const char* off = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) && !(off && *off) && terminal && std::string_view(terminal) != "dumb";
}

std::string finding_text(const record::Finding& finding, bool colour) {
  Look look = look_of(finding.severity);
  std::string word = fmt::format("{:<8}", look.word);
  if (colour) word = fmt::format("\x1b[{}m{}\x1b[0m", look.colour, word);
  std::string text = fmt::format("{:<11} {} {}\n", finding.check, word, render::escape(finding.sentence));
  if (!finding.remedy.empty()) text += fmt::format("{:<21}way out: {}\n", "", render::escape(finding.remedy));
  return text;
}

int run_check(std::span<const std::string> arguments) {
  std::vector<std::string> command;
  Start start = start_command(check_table(command), arguments);
  if (!start.go_on) return start.exit_code;
  if (command.empty()) {
    return fail("check", "name a command to check: varve check CMD [ARG...]", kExitUsage);
  }
  record::PreflightRequest request{command, record::find_agent(true),
                                   record::default_profile_name(command[0]), true};
  record::Verdict verdict = record::preflight(request);
  bool colour = wants_colour(), good = !verdict.problem();
  std::string text;
  for (const record::Finding& finding : verdict.findings) text += finding_text(finding, colour);
  if (good)
    for (const record::Finding& finding : record::kernel_offers()) text += finding_text(finding, colour);
  text += good ? fmt::format("\nThis command can be recorded: varve record {}\n", render::escape(command[0]))
               : "\nThis command cannot be recorded as it is.\n";
  int written = print_text("check", text);
  return good ? written : kExitFailed;
}

}  // namespace

const Command kCheckCommand = {"check", describe_check, run_check};

}  // namespace varve
