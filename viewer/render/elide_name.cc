// SPDX-License-Identifier: MIT
// See elide_name.h.
// Context: viewer.
#include "viewer/render/elide_name.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>
#include <vector>

#include "viewer/render/escape.h"

namespace varve::render {
namespace {

constexpr std::string_view kDots = "...", kOperator = "operator";
constexpr size_t kLeastOwn = 8;      // columns of an own name that is cut, too, where anything else stands
constexpr size_t kParameters = 5;    // columns of "(...)"
constexpr size_t kTreesSuffix = 10;  // columns of " (inlined)"
constexpr size_t kLine = 9;          // columns that show a line: "...js:123"

/// What compilers put behind a name: "parse.isra.0", "parse.cold".
bool is_clone_suffix(std::string_view word) {
  constexpr std::string_view kSuffixes[] = {"isra", "constprop", "part", "cold", "lto_priv", "llvm"};
  return word.find_first_not_of("0123456789") == std::string_view::npos ||
         std::ranges::find(kSuffixes, word) != std::end(kSuffixes);
}

/// Whether here begins what a runtime or a tree puts behind a name without parameters: where its code is, or
/// "(inlined)".
bool starts_place(std::string_view text) {
  constexpr std::string_view kStarts[] = {" /", " (", " [", " <", " node:", " file:", ":/"};
  if (text.front() != ' ' && text.front() != ':') return false;  // of 10,000 letters few are either
  return std::ranges::any_of(kStarts, [&](std::string_view start) { return text.starts_with(start); });
}

struct Part {
  size_t begin, end;
};

/// "operator()" and "operator<<", whose signs are no brackets.
std::optional<Part> own_operator(std::string_view name) {
  const size_t at = name.find(kOperator);
  const bool starts = at == 0 || (at != std::string_view::npos && name[at - 1] == ':');
  const size_t signs = at + kOperator.size();
  if (!starts || signs >= name.size() || std::isalnum(uint8_t(name[signs])) != 0 || name[signs] == '_')
    return std::nullopt;
  const size_t from = name.substr(signs).starts_with("()") ? signs + 2 : signs;
  return Part{at, std::min(name.find('(', from), name.size())};
}

/// The function's own name, "push" of "ns::Queue<int>::push(int const&)".
Part own_name(std::string_view name) {
  if (name.find("+0x") != std::string_view::npos) return {0, name.size()};
  if (const auto found = own_operator(name)) return *found;
  std::vector<size_t> starts = {0};
  size_t i = 0, depth = 0;
  for (; i < name.size(); ++i) {
    const char at = name[i];
    if (depth == 0 && i > 0) {
      const bool parameters = at == '(' && name[i - 1] != ':' && name[i - 1] != ' ';
      if (parameters || starts_place(name.substr(i))) break;
      // V8 says of code how it was compiled: "JS:*push".
      const bool compiled =
          (at == '*' || at == '~' || at == '^') && name[i - 1] == ':' && !name.substr(0, i).ends_with("::");
      if (at == '.' || at == ' ' || compiled || name.substr(i - 1, 2) == "::") starts.push_back(i + 1);
    }
    if (std::string_view("<({[").find(at) != std::string_view::npos) ++depth;
    if (depth > 0 && std::string_view(">)}]").find(at) != std::string_view::npos) --depth;
  }
  // Of words behind points those of compilers belong to the one before.
  while (
      starts.size() > 1 && name[starts.back() - 1] == '.' &&
      is_clone_suffix(name.substr(starts.back(), std::min(name.find('.', starts.back()), i) - starts.back())))
    starts.pop_back();
  return {starts.back(), i};
}

std::string last_columns(std::string_view text, size_t columns) {
  const size_t width = display_width(text);
  if (width <= columns) return std::string(text);
  if (columns < kDots.size()) return "";
  return std::string(kDots) + skip_columns(text, width - (columns - kDots.size()));
}

/// Of what stands behind an own name as much as there is room for.
std::string behind_name(std::string_view text, size_t columns) {
  if (display_width(text) <= columns) return std::string(text);
  if (text.starts_with('(')) return columns < 2 * kParameters ? "(...)" : elide_middle(text, columns);
  if (columns < kDots.size()) return "";
  return columns < kLine ? std::string(kDots) : last_columns(text, columns);
}

/// What it takes at least; a place is worth nothing without its line.
size_t least_behind(std::string_view text) {
  const size_t least = text.starts_with('(') ? kParameters : text.starts_with(" (") ? kTreesSuffix : 0;
  return std::min(least, display_width(text));
}

/// With all parts, of which the own name is cut only where the least of the others leaves it no room.
std::string join(std::string_view scope, std::string_view own, std::string_view behind, size_t width) {
  const size_t least = least_behind(behind), dots = std::min(kDots.size(), display_width(scope));
  const size_t shown = std::min(display_width(own), width - dots - least), room = width - shown;
  const size_t for_behind = std::min({room / 3, room - dots, display_width(behind)});
  const size_t scope_width = std::min(display_width(scope), room - std::max(least, for_behind));
  return last_columns(scope, scope_width) + elide_middle(own, shown) +
         behind_name(behind, room - scope_width);
}

}  // namespace

std::string elide_name(std::string_view escaped, size_t width) {
  if (escaped.size() <= width || display_width(escaped) <= width) return std::string(escaped);
  const Part part = own_name(escaped);
  const std::string_view scope = escaped.substr(0, part.begin),
                         own = escaped.substr(part.begin, part.end - part.begin);
  std::string_view behind = escaped.substr(part.end);
  if (scope.empty() && behind.empty()) return elide_middle(escaped, width);
  const size_t own_width = display_width(own), dots = std::min(kDots.size(), display_width(scope));
  // A whole name says more than that it has parameters.
  if (behind.starts_with('(') && dots + own_width + least_behind(behind) > width) behind = {};
  if (width >= dots + std::min(kLeastOwn, own_width) + least_behind(behind))
    return join(scope, own, behind, width);
  const bool fits = own_width + dots <= width;
  return fits ? last_columns(scope, dots) + std::string(own) : elide_middle(own, width);
}

}  // namespace varve::render
