// SPDX-License-Identifier: MIT
// Sentences in lines: they wrap at words, where tables never do. Context: viewer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace varve::render {

/// Escaped text in lines of at most `width` columns, unless one word is longer; 0: in one line. All but the
/// first line are indented.
std::vector<std::string> wrap_words(std::string_view escaped, size_t width, size_t indent = 0);

}  // namespace varve::render
