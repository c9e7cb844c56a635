// SPDX-License-Identifier: MIT
// JSON by nlohmann-json: keys in the order of the view, numbers as numbers, names escaped as in every other
// output. Context: viewer.
#include <nlohmann/json.hpp>

#include "viewer/render/render.h"

namespace varve::render {
namespace {

using nlohmann::ordered_json;

ordered_json value_of(const view::Cell& cell, view::Unit unit) {
  if (const auto* text = std::get_if<std::string_view>(&cell)) return escape(*text);
  if (const auto* share = std::get_if<double>(&cell)) return *share;
  if (const auto* number = std::get_if<uint64_t>(&cell)) {
    if (unit == view::Unit::kFlag) return *number != 0;
    return *number;
  }
  return nullptr;
}

ordered_json row_of(const view::Table& table, size_t i) {
  ordered_json row = ordered_json::object();
  for (size_t j = 0; j < table.columns.size(); ++j) {
    const view::Column& column = table.columns[j];
    if (!column.id.empty()) row[column.id] = value_of(table.row(i)[j], column.unit);
  }
  return row;
}

ordered_json table_of(const view::Table& table) {
  if (table.json == view::TableShape::kObject) return row_of(table, 0);
  ordered_json rows = ordered_json::array();
  const bool list = table.json == view::TableShape::kList;
  for (size_t i = 0; i < table.rows.size(); ++i)
    rows.push_back(list ? value_of(table.row(i)[0], table.columns[0].unit) : row_of(table, i));
  return rows;
}

}  // namespace

std::string json(const view::View& view) {
  ordered_json out = {{"view", view.name}};
  for (const view::Fact& fact : view.facts) {
    if (!fact.id.empty()) out[fact.id] = value_of(fact.value, fact.unit);
  }
  for (const view::Table& table : view.tables) {
    if (!table.id.empty()) out[table.id] = table_of(table);
  }
  const analyze::Ledger& ledger = view.ledger;
  out["ledger"] = {{"cpu_ns", ledger.cpu.count},
                   {"sampled_ns", ledger.sampled.count},
                   {"residual_ns", ledger.residual.count},
                   {"residual_placed_ns", ledger.residual_placed.count},
                   {"unsampled_ns", ledger.not_sampled.count},
                   {"shown_ns", ledger.shown.count},
                   {"filtered_out_ns", ledger.filtered_out.count}};
  if (!view.filter.empty()) out["filter"] = escape(view.filter);
  out["notes"] = ordered_json::array();
  for (const std::string& note : view.notes) out["notes"].push_back(escape(note));
  return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace varve::render
