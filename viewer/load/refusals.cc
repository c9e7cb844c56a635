// SPDX-License-Identifier: MIT
// Parses from the end: a host's name may hold dashes itself. See refusals.h.
// Context: viewer.
#include "viewer/load/refusals.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace varve::load {
namespace {

constexpr const char* kSentences[] = {
    "its session file could not be read",
    "SIGPROF could not be handled",
    "its file could not be made",
    "there was no memory for its first thread",
    "it runs in Valgrind, which takes the signals of ticks for its own",
};
static_assert(std::size(kSentences) == size_t(format::Refused::kCount));

/// Takes the last part of `text` and the dash before it.
std::string_view take_last(std::string_view& text) {
  const size_t dash = text.rfind('-');
  if (dash == std::string_view::npos) return {};
  const std::string_view part = text.substr(dash + 1);
  text = text.substr(0, dash);
  return part;
}

std::optional<int32_t> number(std::string_view text) {
  int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

std::optional<Refusal> refusal_of(std::string_view file) {
  if (!file.ends_with(format::kRefusedSuffix)) return std::nullopt;
  file.remove_suffix(std::strlen(format::kRefusedSuffix));
  const auto error = number(take_last(file));
  const auto word = std::ranges::find(format::kRefusedWords, take_last(file));
  const auto pid = number(take_last(file));
  if (!error || !pid || word == std::end(format::kRefusedWords)) return std::nullopt;
  return Refusal{*pid, format::Refused(word - std::begin(format::kRefusedWords)), *error};
}

std::string refusal_words(const Refusal& refusal) {
  const char* sentence = kSentences[size_t(refusal.what)];
  return refusal.error == 0 ? sentence : fmt::format("{} ({})", sentence, std::strerror(refusal.error));
}

}  // namespace varve::load
