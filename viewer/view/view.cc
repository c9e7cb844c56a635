// SPDX-License-Identifier: MIT
// Rows and texts are added. See view.h.
// Context: viewer.
#include "viewer/view/view.h"

namespace varve::view {

void Table::begin(Row row) { rows.push_back(row); }

void Table::put(std::initializer_list<Cell> values) { cells.insert(cells.end(), values); }

void Table::add(Row row, std::initializer_list<Cell> values) {
  begin(row);
  put(values);
}

std::string_view View::own(std::string text) { return texts.emplace_back(std::move(text)); }

}  // namespace varve::view
