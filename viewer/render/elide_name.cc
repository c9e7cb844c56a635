// SPDX-License-Identifier: MIT
// See elide_name.h.
// Context: viewer.
#include "viewer/render/elide_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/clone_suffix.h"
#include "viewer/render/escape.h"

namespace varve::render {
namespace {

constexpr std::string_view kDots = "...", kArguments = "<...>", kOperator = "operator";
constexpr size_t kLeastOwn = 8;      // columns of an own name that is cut, too, where anything else stands
constexpr size_t kParameters = 5;    // columns of "(...)"
constexpr size_t kTreesSuffix = 10;  // columns of " (inlined)"
constexpr size_t kLine = 9;          // columns that show a line: "...js:123"

/// Whether here begins what a runtime or a tree puts behind a name without parameters: where its code is, or
/// "(inlined)".
bool starts_place(std::string_view text) {
  constexpr std::string_view kStarts[] = {" /", " (", " [", " <", " node:", " file:", ":/"};
  if (text.front() != ' ' && text.front() != ':') return false;  // of 10,000 letters few are either
  return std::ranges::any_of(kStarts, [&](std::string_view start) { return text.starts_with(start); });
}

/// Where the parts of a name begin. What is before its scope is a return type.
struct Parts {
  size_t scope, own;
  size_t arguments;  // of a template; at `behind` where there are none
  size_t behind;
};

size_t depth_after(size_t depth, char letter) {
  if (std::string_view("<({[").find(letter) != std::string_view::npos) return depth + 1;
  return depth > 0 && std::string_view(">)}]").find(letter) != std::string_view::npos ? depth - 1 : depth;
}

/// The part before `own` that is no return type. "f() const::{lambda()#1}::" has none, and "operator new" is
/// one word.
size_t scope_before(std::string_view name, size_t own) {
  size_t scope = 0;
  for (size_t i = 0, depth = 0; i < own; ++i) {
    if (name[i] == ' ' && depth == 0 && i > 0 && name[i - 1] != ')') scope = i + 1;
    depth = depth_after(depth, name[i]);
  }
  return scope;
}

/// "operator()" and "operator<<", whose signs are no brackets.
std::optional<Parts> own_operator(std::string_view name) {
  const size_t at = name.find(kOperator);
  const bool starts = at == 0 || (at != std::string_view::npos && name[at - 1] == ':');
  const size_t signs = at + kOperator.size();
  if (!starts || signs >= name.size() || std::isalnum(uint8_t(name[signs])) != 0 || name[signs] == '_')
    return std::nullopt;
  const bool call = name.substr(signs).starts_with("()");
  const size_t from = call ? signs + 2 : signs;
  // Arguments of "operator()<int>(int)" may have parentheses of their own.
  size_t end = from;
  for (size_t depth = 0; call && end < name.size() && (name[end] == '<' || depth > 0); ++end)
    depth = depth_after(depth, name[end]);
  const size_t behind = std::min(name.find('(', end), name.size());
  return Parts{scope_before(name, at), at, call ? std::min(from, behind) : behind, behind};
}

/// Where they are; the function's own name is "push" of "void ns::Queue<int>::push<int>(int const&)".
Parts parts_of(std::string_view name) {
  if (name.find("+0x") != std::string_view::npos) return {0, 0, name.size(), name.size()};
  if (const auto found = own_operator(name)) return *found;
  std::vector<size_t> starts = {0};
  size_t i = 0, depth = 0, arguments = 0;
  for (; i < name.size(); ++i) {
    const char at = name[i];
    if (depth == 0 && i > 0) {
      const bool parameters = at == '(' && name[i - 1] != ':' && name[i - 1] != ' ';
      if (parameters || starts_place(name.substr(i))) break;
      // V8 says of code how it was compiled: "JS:*push".
      const bool compiled =
          (at == '*' || at == '~' || at == '^') && name[i - 1] == ':' && !name.substr(0, i).ends_with("::");
      const bool word = at == ' ' && !name.substr(0, i).ends_with(kOperator);  // "operator new" is one
      if (at == '<') arguments = i;
      if (at == '.' || word || compiled || name.substr(i - 1, 2) == "::") starts.push_back(i + 1);
    }
    depth = depth_after(depth, at);
  }
  // Of words behind points those of compilers belong to the one before.
  while (
      starts.size() > 1 && name[starts.back() - 1] == '.' &&
      is_clone_suffix(name.substr(starts.back(), std::min(name.find('.', starts.back()), i) - starts.back())))
    starts.pop_back();
  const size_t own = starts.back();
  return {scope_before(name, own), own, arguments > own ? arguments : i, i};
}

/// An own name with as much of its template arguments as there is room for: all, "<...>", or nothing.
std::string with_arguments(std::string_view name, std::string_view arguments, size_t room) {
  const size_t width = display_width(name);
  if (arguments.empty() || width + display_width(arguments) <= room)
    return fmt::format("{}{}", name, arguments);
  return width + kArguments.size() <= room ? fmt::format("{}{}", name, kArguments) : std::string(name);
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
  const Parts at = parts_of(escaped);
  std::string_view behind = escaped.substr(at.behind);
  const std::string scope =
      (at.scope > 0 ? std::string(kDots) : "").append(escaped.substr(at.scope, at.own - at.scope));
  const size_t taken = std::min(kDots.size(), display_width(scope)) + least_behind(behind);
  const std::string own =
      with_arguments(escaped.substr(at.own, at.arguments - at.own),
                     escaped.substr(at.arguments, at.behind - at.arguments), width - std::min(width, taken));
  if (scope.empty() && behind.empty()) return elide_middle(own, width);
  const size_t own_width = display_width(own), dots = std::min(kDots.size(), display_width(scope));
  // A whole name says more than that it has parameters.
  if (behind.starts_with('(') && dots + own_width + least_behind(behind) > width) behind = {};
  if (width >= dots + std::min(kLeastOwn, own_width) + least_behind(behind))
    return join(scope, own, behind, width);
  const bool fits = own_width + dots <= width;
  return fits ? last_columns(scope, dots) + own : elide_middle(own, width);
}

}  // namespace varve::render
