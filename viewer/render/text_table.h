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

/// One cell by its unit, a time with its unit: for facts and sentences.
std::string cell_text(const view::Cell& cell, view::Unit unit, Charset charset);

}  // namespace varve::render
