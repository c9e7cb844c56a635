// SPDX-License-Identifier: MIT
// Stacked bars of bands on a pane: full blocks that end in an eighth where the terminal has colours and
// UTF-8, else a letter a band. Context: viewer.
#pragma once

#include "viewer/tui/canvas.h"
#include "viewer/view/view.h"

namespace varve::tui {

/// In `columns` cells, which a bar with parts of the sum 1 fills.
void draw_bar(Pane& pane, size_t row, size_t column, size_t columns, const view::Bar& bar);

Ink band_ink(analyze::Band band);

/// "-Poor =Ok #Ideal !Over", each in its colour. Returns the column after it.
size_t draw_band_legend(Pane& pane, size_t row, size_t column);

}  // namespace varve::tui
