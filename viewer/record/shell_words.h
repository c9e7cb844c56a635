// SPDX-License-Identifier: MIT
// Words of a command line as a user may type them again. Context: viewer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace varve::record {

/// One word as a POSIX shell takes it: quoted only where it must be.
std::string shell_quoted(std::string_view word);
std::string shell_quoted(const std::vector<std::string>& words);

}  // namespace varve::record
