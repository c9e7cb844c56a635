// SPDX-License-Identifier: MIT
// Names of keys, and scripts of them.
// Context: viewer.
#include "viewer/tui/input.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <optional>

#include "viewer/render/escape.h"

namespace varve::tui {
namespace {

struct KeyName {
  Key key;
  std::string_view name;
};
constexpr KeyName kNames[] = {
    {key::kUp, "Up"},
    {key::kDown, "Down"},
    {key::kLeft, "Left"},
    {key::kRight, "Right"},
    {key::kPageUp, "PgUp"},
    {key::kPageDown, "PgDn"},
    {key::kHome, "Home"},
    {key::kEnd, "End"},
    {key::kBackTab, "S-Tab"},
    {key::kDelete, "Del"},
    {key::kF1, "F1"},
    {key::kEnter, "Enter"},
    {key::kEscape, "Esc"},
    {key::kBackspace, "Backspace"},
    {key::kTab, "Tab"},
    {' ', "Space"},
    {'<', "lt"},
};

struct MouseName {
  std::string_view name;
  Input::Kind kind;
};
constexpr MouseName kMouse[] = {
    {"Click", Input::Kind::kClick},
    {"DoubleClick", Input::Kind::kDoubleClick},
    {"WheelUp", Input::Kind::kWheelUp},
    {"WheelDown", Input::Kind::kWheelDown},
};

/// Two numbers with `separator` between them.
std::optional<std::pair<size_t, size_t>> two_numbers(std::string_view text, char separator) {
  size_t first = 0, second = 0;
  const char* const end = text.data() + text.size();
  const auto [middle, bad] = std::from_chars(text.data(), end, first);
  if (bad != std::errc() || middle == end || *middle != separator) return std::nullopt;
  const auto [last, worse] = std::from_chars(middle + 1, end, second);
  if (worse != std::errc() || last != end) return std::nullopt;
  return std::pair(first, second);
}

/// What stands between < and >.
tl::expected<Input, std::string> parse_word(std::string_view word) {
  const auto unknown = [&] { return tl::unexpected(fmt::format("has no key <{}>", word)); };
  for (const KeyName& each : kNames)
    if (each.name == word) return Input{Input::Kind::kKey, each.key, {}, {}};
  const bool letter = word.size() == 3 && std::isalpha(uint8_t(word[2])) != 0;
  if (letter && word.starts_with("C-")) {
    const Key code = key::control(word[2]);
    return Input{code == key::control('C') ? Input::Kind::kQuit : Input::Kind::kKey, code, {}, {}};
  }
  const size_t space = word.find(' ');
  if (space == std::string_view::npos) return unknown();
  const std::string_view name = word.substr(0, space), rest = word.substr(space + 1);
  if (name == "Resize") {
    const auto size = parse_size(rest);
    if (!size) return unknown();
    return Input{Input::Kind::kResize, 0, {}, *size};
  }
  const auto place = two_numbers(rest, ',');
  for (const MouseName& each : kMouse) {
    if (each.name != name || !place || place->first == 0 || place->second == 0) continue;
    return Input{each.kind, 0, {place->first - 1, place->second - 1}, {}};
  }
  return unknown();
}

}  // namespace

std::string key_name(Key key) {
  for (const KeyName& each : kNames)
    if (each.key == key && each.name != "lt") return std::string(each.name);
  if (key < ' ') return fmt::format("^{}", char(key + '@'));
  std::string text;
  render::append_utf8(text, key);
  return text;
}

tl::expected<std::vector<Input>, std::string> parse_script(std::string_view script) {
  std::vector<Input> inputs;
  while (!script.empty()) {
    if (script[0] == '<') {
      const size_t end = script.find('>');
      if (end == std::string_view::npos) return tl::unexpected<std::string>("has a '<' without '>'");
      const auto input = parse_word(script.substr(1, end - 1));
      if (!input) return tl::unexpected(input.error());
      inputs.push_back(*input);
      script.remove_prefix(end + 1);
      continue;
    }
    const render::Character next = render::next_character(script);
    inputs.push_back({Input::Kind::kKey, next.code, {}, {}});
    script.remove_prefix(next.bytes);
  }
  return inputs;
}

tl::expected<Size, std::string> parse_size(std::string_view text) {
  constexpr size_t kMost = 1000;
  const auto numbers = two_numbers(text, 'x');
  if (!numbers || numbers->first == 0 || numbers->second == 0 || numbers->first > kMost ||
      numbers->second > kMost)
    return tl::unexpected<std::string>("is not a size such as 80x24, columns by rows, up to 1000x1000");
  return Size{numbers->second, numbers->first};
}

}  // namespace varve::tui
