// SPDX-License-Identifier: MIT
// Views as bytes and back, for the file "views" of a large profile. What is read is untrusted: every count is
// checked against the bytes that would hold it, every cell against its column's unit. Context: viewer.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "viewer/view/request.h"

namespace varve::view {

/// Views that were made in advance, by their keys. Their texts are in `bytes`, which outlives all copies.
struct StoredViews {
  std::vector<uint8_t> bytes;
  std::map<std::string, View, std::less<>> views;

  /// The view of such a request; nothing where there is none, or where such ones are not stored.
  std::optional<View> find(std::string_view kind, const Request& request) const;
};

/// Everything in a request that a view without a filter depends on; empty where views of such a request are
/// not stored: it has a filter, a metric or bands of its own.
std::string stored_key(std::string_view kind, const Request& request);

std::vector<uint8_t> encode_view(const View& view);
/// Cells of the view point into `bytes`. Throws ParseError.
View decode_view(std::span<const uint8_t> bytes);

}  // namespace varve::view
