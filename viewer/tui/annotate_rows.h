// SPDX-License-Identifier: MIT
// What the screen of a function's lines and instructions asks of the tables that it shows. Context: viewer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "viewer/tui/canvas.h"
#include "viewer/view/view.h"

namespace varve::tui {

bool has_column(const view::Table& table, std::string_view title);

/// The first share of a row, 0 to 1; 0 where it has none.
double share_of(const view::Table& table, uint32_t row);

/// Without the colon of the first of a basic block.
std::string address_of(const view::Table& table, uint32_t row);

/// Rows with time, the most first.
std::vector<uint32_t> hot_rows(const view::Table& table);

/// Whether no sample is in the code that is shown.
bool untimed(const view::View& view);

/// On top, for no other line is sure to name the function; the pane is what is left.
void draw_function(Pane& pane, const view::View& view);

/// "Code of ns::f(int) (libx.so+0x12)" in fewer columns: of the function its own name stays.
std::string short_title(const std::string& title, size_t width);

}  // namespace varve::tui
