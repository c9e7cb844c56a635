// SPDX-License-Identifier: MIT
// Identifiers of Rust that are not ASCII, as linkage names spell them. Context: viewer, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace varve::symbol {

/// In UTF-8; nothing where the text is none of these. Takes the square of its length.
std::optional<std::string> decode_punycode(std::string_view text);

}  // namespace varve::symbol
