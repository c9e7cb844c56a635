// SPDX-License-Identifier: MIT
// One table as text: numbers right-aligned on the left, names on the right, one line a row whatever the
// width. Context: viewer.
#pragma once

#include "viewer/render/render.h"

namespace varve::render {

struct TableText {
  std::string text;
  bool folded = false;  // a tree so deep that outer levels of it are a number, "+4"
};
TableText text_table(const view::Table& table, const TextStyle& style);

}  // namespace varve::render
