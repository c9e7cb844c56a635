// SPDX-License-Identifier: MIT
// What a row of a view is about, read from its cells: they have ids for scripts, and those say it. Context:
// viewer.
#pragma once

#include <string>

#include "viewer/tui/screen.h"
#include "viewer/view/view.h"

namespace varve::tui {

/// The text of the cell in the column with this id or, without id, this title; empty if there is none.
std::string cell_of(const view::Table& table, uint32_t row, std::string_view id);

/// Whether a row stands for others: those that are cut off, or filtered out.
bool is_sum(const view::Row& row);

/// What tells rows of one name apart, for finding one again in a view that is made anew.
std::string ids_of(const view::Table& table, uint32_t row);

bool has_column_id(const view::Table& table, std::string_view id);

/// The number of that cell; 0 if there is none.
uint64_t number_of(const view::Table& table, uint32_t row, std::string_view id);

enum class NameForm : uint8_t { kShort, kFull };
/// The names in a column, each once, in the order of the rows; `kShort` where there are short ones.
std::vector<std::string> names_in(const view::Table& table, std::string_view id, NameForm form);
/// A number for each row of a tree by its function and those above it, which stays the same when names become
/// better: inlined calls, which nobody knew before, are no part of it but for their own rows.
std::vector<uint64_t> tree_keys(const view::Table& table);
bool is_inlined(const view::Table& table, uint32_t row);

/// Function, module and thread of a row; a row that stands for no code has no function.
Subject subject_of(const view::Table& table, uint32_t row);

/// The function as a view is asked for it: "f", or "f@libx.so+0x12" where that is needed.
std::string chosen(const Subject& subject);

/// Name, place and numbers in full, in one line. `counted`: what is counted beside the time, "sample".
Detail detail_of(const view::Table& table, uint32_t row, std::string_view counted);

/// Orders rows by a column: texts as in a dictionary, numbers with the largest first. Rows that are sums
/// stay last.
void sort_rows_by(const view::Table& table, size_t column, bool reverse, std::vector<uint32_t>& rows);

}  // namespace varve::tui
