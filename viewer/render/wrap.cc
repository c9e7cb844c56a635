// SPDX-License-Identifier: MIT
// See wrap.h.
// Context: viewer.
#include "viewer/render/wrap.h"

#include <algorithm>

#include "viewer/render/escape.h"

namespace varve::render {

std::vector<std::string> wrap_words(std::string_view text, size_t width, size_t indent) {
  if (width == 0) return {std::string(text)};
  std::vector<std::string> lines;
  std::string line;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width) {
      lines.push_back(std::move(line));
      line = std::string(indent, ' ').append(word);
    } else {
      line.append(line.empty() ? "" : " ").append(word);
    }
    at = end + 1;
  }
  lines.push_back(std::move(line));
  return lines;
}

}  // namespace varve::render
