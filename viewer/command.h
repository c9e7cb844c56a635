// SPDX-License-Identifier: MIT
// Command: one row of varve's command table. To add a command, write cmd_NAME.cc with its `const Command`,
// declare it below, and give it a row in main.cc; help and man pages follow from its OptionTable. Context:
// viewer.
#pragma once

#include <span>
#include <string>

#include "viewer/options.h"

namespace varve {

/// Exit codes of varve's own making. `record` otherwise ends as its target did.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;  // one sentence on stderr says why
inline constexpr int kExitUsage = 2;   // the command line was wrong

struct Command {
  const char* name;
  OptionTable (*describe)();                           // bound to an object that nobody reads
  int (*run)(std::span<const std::string> arguments);  // the words after the name; returns the exit code
};

extern const Command kRecordCommand;
extern const Command kReportCommand;
extern const Command kViewCommand;
extern const Command kAnnotateCommand;
extern const Command kCheckCommand;
extern const Command kPauseCommand;
extern const Command kResumeCommand;
extern const Command kHelpCommand;

/// In the order in which `varve --help` lists them.
std::span<const Command* const> commands();

/// "varve record: SENTENCE" on stderr, control characters escaped.
void complain(std::string_view command, std::string_view sentence);

/// Complains, and returns `exit_code`.
int fail(std::string_view command, std::string_view sentence, int exit_code = kExitFailed);

/// Writes to stdout, and returns the exit code: kExitOk, or kExitFailed after a sentence where stdout cannot
/// take it (a full disk).
int print_text(std::string_view command, std::string_view text);

/// The start of every command: parses, prints --help or complains where that is the answer. The exit code if
/// the command is over with that, nothing if it should go on.
struct Start {
  bool go_on;
  int exit_code;
};
Start start_command(const OptionTable& table, std::span<const std::string> arguments);

}  // namespace varve
