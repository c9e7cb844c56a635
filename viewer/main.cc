// SPDX-License-Identifier: MIT
// main of `varve`: the command to run, by the command table.
// Context: viewer.
#include <fmt/format.h>
#include <pthread.h>

#include <clocale>
#include <string>
#include <vector>

#include "viewer/command.h"
#include "viewer/crash_report.h"

namespace {

/// The C library gives a thread as much stack as the main thread may have, and libdw's tables of lines want
/// more than a small `ulimit -s`.
void give_threads_stack() {
  constexpr size_t kEnough = 8 << 20;  // bytes, touched only as far as they are used
  pthread_attr_t attributes;
  size_t given = 0;
  if (pthread_getattr_default_np(&attributes) != 0) return;
  if (pthread_attr_getstacksize(&attributes, &given) == 0 && given < kEnough &&
      pthread_attr_setstacksize(&attributes, kEnough) == 0)
    pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace varve;
  std::setlocale(LC_CTYPE, "");
  install_crash_report();
  give_threads_stack();
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
  return fail("", fmt::format("'{}' is no command: it {}", words[0], not_one_of(words[0], names)),
              kExitUsage);
}
