// SPDX-License-Identifier: MIT
// The lines in front of the names of a tree. Only branches are drawn and indented: a chain of single children
// stands straight below its head, so a stack of a thousand frames is a column and not a staircase. Context:
// viewer.
#pragma once

#include <string>
#include <vector>

#include "viewer/render/escape.h"
#include "viewer/view/view.h"

namespace varve::render {

/// A prefix a row. Levels beyond `most` are folded into "+N " so that names keep their room.
std::vector<std::string> tree_lines(const std::vector<view::Row>& rows, Charset charset, size_t most);

}  // namespace varve::render
