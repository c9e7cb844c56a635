// SPDX-License-Identifier: MIT
// Asks the terminal for its size.
// Context: viewer.
#include "viewer/terminal_size.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

namespace varve {
namespace {

std::optional<size_t> number_in_environment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text < '1' || *text > '9') return std::nullopt;
  return size_t(std::strtoul(text, nullptr, 10));
}

}  // namespace

TerminalSize terminal_size() {
  TerminalSize size;
  size.is_terminal = isatty(STDOUT_FILENO) == 1;
  winsize window{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0) {
    if (window.ws_col > 0) size.columns = window.ws_col;
    if (window.ws_row > 0) size.rows = window.ws_row;
  }
  size.columns = number_in_environment("COLUMNS").value_or(size.columns);
  size.rows = number_in_environment("LINES").value_or(size.rows);
  return size;
}

}  // namespace varve
