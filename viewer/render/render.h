// SPDX-License-Identifier: MIT
// The renderers: one view as text for people, as CSV, as JSON. They append to a string; where it goes is the
// caller's. Context: viewer.
#pragma once

#include <string>

#include "viewer/render/escape.h"
#include "viewer/view/view.h"

namespace varve::render {

struct TextStyle {
  size_t width = 0;  // columns; 0: as long as it takes, names in full
  Charset charset = Charset::kUtf8;
  bool color = false;
};

std::string text(const view::View& view, const TextStyle& style);

/// RFC 4180 with LF or CRLF as line end: LF, as every Unix tool reads. Header line first. Numbers are plain:
/// ns as integers, shares as fractions of 1.
std::string csv(const view::View& view);

/// One object: facts by name, tables as arrays of objects, notes, ledger.
std::string json(const view::View& view);

/// "CPU time 12.40 s = 12.31 s sampled + 0.05 s residual + 0.04 s not sampled": the printed numbers add up
/// too.
std::string ledger_line(const analyze::Ledger& ledger);

}  // namespace varve::render
