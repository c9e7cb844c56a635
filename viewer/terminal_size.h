// SPDX-License-Identifier: MIT
// The size of the terminal behind stdout.
// Context: viewer.
#pragma once

#include <cstddef>

namespace varve {

struct TerminalSize {
  bool is_terminal = false;
  size_t columns = 80;  // where there is no terminal, what a reader of plain text expects
  size_t rows = 24;
};

/// COLUMNS and LINES, where set to numbers, go before what the terminal says, as in every other tool.
TerminalSize terminal_size();

}  // namespace varve
