// SPDX-License-Identifier: MIT
// The command table, and what every command does first and last: parse, print help, complain.
// Context: viewer.
#include "viewer/command.h"

#include <fmt/format.h>

#include <cstdio>

#include "viewer/output.h"
#include "viewer/render/escape.h"
#include "viewer/terminal_size.h"

namespace varve {

std::span<const Command* const> commands() {
  static const Command* const kTable[] = {&kRecordCommand, &kPauseCommand, &kResumeCommand,
                                          &kReportCommand, &kViewCommand,  &kAnnotateCommand,
                                          &kCheckCommand,  &kHelpCommand};
  return kTable;
}

void complain(std::string_view command, std::string_view sentence) {
  const std::string name = command.empty() ? "varve" : fmt::format("varve {}", command);
  std::fputs(fmt::format("{}: {}\n", name, render::escape(sentence)).c_str(), stderr);
}

int fail(std::string_view command, std::string_view sentence, int exit_code) {
  complain(command, sentence);
  return exit_code;
}

int print_text(std::string_view command, std::string_view text) {
  const auto written = write_output(text, false);
  return written ? kExitOk : fail(command, written.error());
}

Start start_command(const OptionTable& table, std::span<const std::string> arguments) {
  const auto outcome = parse_options(table, arguments);
  if (!outcome) {
    return {false, fail(table.command, outcome.error(), kExitUsage)};
  }
  if (*outcome == ParseOutcome::kHelp) {
    return {false, print_text(table.command, help_text(table, terminal_size().columns))};
  }
  return {true, kExitOk};
}

}  // namespace varve
