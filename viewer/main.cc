// SPDX-License-Identifier: MIT
// main of `varve`: the command to run, by the command table.
// Context: viewer.
#include <fmt/format.h>

#include <clocale>
#include <string>
#include <vector>

#include "viewer/command.h"
#include "viewer/crash_report.h"

int main(int argc, char** argv) {
  using namespace varve;
  std::setlocale(LC_CTYPE, "");
  install_crash_report();
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    const int code = kHelpCommand.run({});
    return words.empty() ? kExitUsage : code;
  }
  if (words[0] == "--version" || words[0] == "-V") {
    return print_text("", fmt::format("varve {}\n", VARVE_VERSION));
  }
  std::vector<std::string> names;
  for (const Command* command : commands()) {
    if (words[0] == command->name) return command->run(std::span(words).subspan(1));
    names.emplace_back(command->name);
  }
  complain("", fmt::format("'{}' is no command: it {}", words[0], not_one_of(words[0], names)));
  return kExitUsage;
}
