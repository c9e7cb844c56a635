// SPDX-License-Identifier: MIT
// The legacy scheme, and short forms of both.
// Context: viewer, any thread.
#include "viewer/symbol/rust_names.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "viewer/symbol/rust_text.h"
#include "viewer/symbol/rust_v0.h"

namespace varve::symbol {
namespace {

struct Escape {
  std::string_view code;
  std::string_view text;
};
constexpr Escape kEscapes[] = {{"SP", "@"}, {"BP", "*"}, {"RF", "&"}, {"LT", "<"},
                               {"GT", ">"}, {"LP", "("}, {"RP", ")"}, {"C", ","}};

/// "$LT$impl$u20$core..fmt..Display$GT$" -> "<impl core::fmt::Display>"
std::string unescape_legacy(std::string_view part) {
  std::string out;
  if (part.starts_with("_$")) part.remove_prefix(1);
  while (!part.empty()) {
    if (part.starts_with("..")) {
      out += "::";
      part.remove_prefix(2);
      continue;
    }
    size_t end = part.front() == '$' ? part.find('$', 1) : std::string_view::npos;
    std::string_view code = end == std::string_view::npos ? std::string_view() : part.substr(1, end - 1);
    auto known =
        std::find_if(std::begin(kEscapes), std::end(kEscapes), [&](auto& e) { return e.code == code; });
    uint32_t point = 0;
    bool unicode = code.size() > 1 && code.size() < 8 && code[0] == 'u';
    for (char c : unicode ? code.substr(1) : "")
      unicode = unicode && hex_digit(c) >= 0, point = point << 4 | uint32_t(hex_digit(c) & 15);
    if (!code.empty() && known != std::end(kEscapes)) {
      out += known->text;
    } else if (unicode && is_scalar(point)) {
      append_utf8(out, point);
    } else {
      out += part.front();
      part.remove_prefix(1);
      continue;
    }
    part.remove_prefix(end + 1);
  }
  return out;
}

bool is_hash(std::string_view part) {
  if (part.size() != 17 || part[0] != 'h') return false;
  return std::all_of(part.begin() + 1, part.end(), [](char c) { return hex_digit(c) >= 0; });
}

/// "_ZN" { <decimal-number> <bytes> } "17h" <16 hex digits> "E" ["." suffix]
std::optional<std::string> demangle_legacy(std::string_view name) {
  if (!name.starts_with("_ZN")) return {};
  name.remove_prefix(3);
  std::vector<std::string_view> parts;
  while (!name.empty() && name.front() != 'E') {
    size_t size = 0;
    size_t digits = 0;
    for (; digits < name.size() && digits < 6 && name[digits] >= '0' && name[digits] <= '9'; ++digits)
      size = size * 10 + size_t(name[digits] - '0');
    if (size == 0 || name.size() - digits < size) return {};  // no part is without a name
    parts.push_back(name.substr(digits, size));
    name.remove_prefix(digits + size);
  }
  if (name.empty() || (name.size() > 1 && name[1] != '.')) return {};
  if (parts.size() < 2 || !is_hash(parts.back())) return {};
  parts.pop_back();
  std::string out;
  for (std::string_view part : parts) out += (out.empty() ? "" : "::") + unescape_legacy(part);
  if (out.empty()) return {};
  return out;
}

/// Position after the bracket that closes the '<' at the front; npos without one. "->" closes nothing.
size_t closing_angle(std::string_view text) {
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '<';
    if (text[i] == '>' && i > 0 && text[i - 1] != '-' && --depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

/// Cuts "&mut " and the like off the front. Whether "impl " was among them.
bool cut_marks(std::string_view& inside) {
  constexpr std::string_view kMarks[] = {"&", "*const ", "*mut ", "mut ", "dyn ", "impl "};
  bool impl = false;
  for (;;) {
    const auto mark =
        std::ranges::find_if(kMarks, [&](std::string_view each) { return inside.starts_with(each); });
    if (mark == std::end(kMarks)) return impl;
    impl |= *mark == "impl ";
    inside.remove_prefix(mark->size());
  }
}

/// "A as B" -> "A", "impl A for B" -> "B", "&mut A" -> "A". Looks at each character once.
std::string_view subject(std::string_view inside) {
  const bool impl = cut_marks(inside);
  for (size_t i = 0, depth = 0; i < inside.size(); ++i) {
    const std::string_view rest = inside.substr(i);
    if (depth == 0 && rest.starts_with(" as ")) return inside.substr(0, i);
    if (depth == 0 && impl && rest.starts_with(" for ")) return subject(rest.substr(5));
    depth += inside[i] == '<' || inside[i] == '(';
    depth -= (inside[i] == '>' || inside[i] == ')') && depth;
  }
  return inside;
}

}  // namespace

std::optional<std::string> demangle_rust(std::string_view name) {
  if (name.starts_with("_ZN")) return demangle_legacy(name);
  if (!name.starts_with("_R")) return {};
  return demangle_rust_v0(name.substr(2));
}

std::string short_rust_name(std::string_view name) {
  const std::string_view whole = name;
  std::string out;
  for (unsigned steps = 0; !name.empty(); ++steps) {
    if (name.front() != '<') {
      size_t end = std::min(name.find('<'), name.size());
      out += name.substr(0, end);
      name.remove_prefix(end);
      continue;
    }
    size_t end = closing_angle(name);
    if (end == std::string_view::npos) return out + std::string(name);
    bool qualified = out.empty() && steps == 0;
    if (qualified) {
      // What stands inside comes first in turn; its own generic arguments are cut like any others.
      std::string_view inside = subject(name.substr(1, end - 2));
      size_t generic = inside.starts_with('<') ? inside.size() : std::min(inside.find('<'), inside.size());
      out += inside.substr(0, generic);
    } else if (out.ends_with("::")) {
      out.resize(out.size() - 2);
    }
    name.remove_prefix(end);
  }
  return out.empty() ? std::string(whole) : out;
}

}  // namespace varve::symbol
