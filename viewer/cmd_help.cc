// SPDX-License-Identifier: MIT
// varve help [COMMAND]: the texts that the option tables give, for a person and, with --man, for the man
// pages. Context: viewer.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "viewer/command.h"
#include "viewer/terminal_size.h"
#include "viewer/tui/keymap.h"

namespace varve {
namespace {

struct HelpOptions {
  std::string command;
  std::string man_template;
};

OptionTable help_table(HelpOptions& options) {
  OptionTable table;
  table.command = "help";
  table.summary = "Say what varve or one of its commands does, and list its options.";
  table.usages = {"[COMMAND]"};
  table.positionals = {{"COMMAND", "The command to explain.", false, set_text(options.command)}};
  table.options = {{"For packagers", "--man", "TEMPLATE", "",
                    "Print the man page made from TEMPLATE, with COMMAND's options where it says @OPTIONS@ "
                    "and all commands "
                    "where it says @COMMANDS@, and the keys of the viewer where it says @KEYS@.",
                    set_text(options.man_template)}};
  return table;
}

OptionTable describe_help() {
  static HelpOptions unread;
  return help_table(unread);
}

constexpr size_t kCommandColumn = 12;

std::string overview() {
  std::string text =
      "Usage: varve COMMAND [options]\n\n"
      "Records where a program's threads spend their CPU time, and prints it.\n\n";
  for (const Command* command : commands()) {
    text += two_columns(fmt::format("  {}", command->name), command->describe().summary, kCommandColumn,
                        terminal_size().columns);
  }
  return text +
         "\n"
         "  varve record ./program         run it and record a profile\n"
         "  varve report                   what the newest profile here says\n"
         "  varve help record              the options of a command\n";
}

/// The commands as a list for varve(1).
std::string man_commands() {
  std::vector<std::pair<std::string, std::string>> words;
  for (const Command* command : commands()) words.emplace_back(command->name, command->describe().summary);
  return man_words(words);
}

/// The template with its marks replaced: @OPTIONS@, @COMMANDS@ and @KEYS@ alone on a line, @VERSION@
/// anywhere.
std::string man_page(std::string page, const OptionTable& table) {
  const std::pair<std::string, std::string> replacements[] = {{"@OPTIONS@\n", man_options(table)},
                                                              {"@COMMANDS@\n", man_commands()},
                                                              {"@KEYS@\n", tui::man_keys()},
                                                              {"@VERSION@", VARVE_VERSION}};
  for (const auto& [mark, text] : replacements) {
    for (size_t at = page.find(mark); at != std::string::npos; at = page.find(mark, at + text.size())) {
      page.replace(at, mark.size(), text);
    }
  }
  return page;
}

int run_help(std::span<const std::string> arguments) {
  HelpOptions options;
  const Start start = start_command(help_table(options), arguments);
  if (!start.go_on) return start.exit_code;
  const Command* found = nullptr;
  std::vector<std::string> names;
  for (const Command* command : commands()) {
    names.emplace_back(command->name);
    if (options.command == command->name) found = command;
  }
  if (!options.command.empty() && found == nullptr) {
    return fail("help", fmt::format("'{}' {}", options.command, not_one_of(options.command, names)),
                kExitUsage);
  }
  const OptionTable table = found != nullptr ? found->describe() : OptionTable{};
  if (!options.man_template.empty()) {
    std::ifstream file(options.man_template);
    if (!file) {
      return fail("help", fmt::format("cannot read {}", options.man_template));
    }
    return print_text("help", man_page({std::istreambuf_iterator<char>(file), {}}, table));
  }
  return print_text("help", found != nullptr ? help_text(table, terminal_size().columns) : overview());
}

}  // namespace

const Command kHelpCommand = {"help", describe_help, run_help};

}  // namespace varve
