// SPDX-License-Identifier: MIT
// Cells of a table as text, without widths. Context: viewer.
#pragma once

#include <string>

#include "viewer/render/escape.h"
#include "viewer/render/numbers.h"
#include "viewer/view/view.h"

namespace varve::render {

/// Of the columns that are shown, in ns.
uint64_t largest_time(const view::Table& table);
/// All times of a table in one unit, so that columns can be compared.
TimeScale common_scale(const view::Table& table);

/// A number without its unit; empty for what is none.
std::string number_text(const view::Cell& cell, view::Unit unit, const TimeScale& scale);

/// Text stands left, and so does what is drawn; numbers stand right.
bool stands_left(view::Unit unit);

/// The heading of a column, with the unit of its times, in ASCII: as wide as it is long.
std::string heading_text(const view::Column& column, const TimeScale& scale);

/// One cell by its unit, a time with its unit: for facts and sentences.
std::string cell_text(const view::Cell& cell, view::Unit unit, Charset charset);

/// An escaped text of this column in at most `width` columns of the screen: functions keep their own names,
/// other texts both ends.
std::string elide_cell(const view::Table& table, size_t column, std::string_view escaped, size_t width);

}  // namespace varve::render
