// SPDX-License-Identifier: MIT
// CSV: the first table of a view and those with the same columns, or its facts. Quoting as in RFC 4180. A
// name that a spreadsheet would take for a formula begins with an apostrophe. Context: viewer.
#include <fmt/format.h>

#include <algorithm>

#include "viewer/render/render.h"

namespace varve::render {
namespace {

/// A program chooses its names, and a spreadsheet computes what begins so: =HYPERLINK(...) sends the table to
/// whom it names. The apostrophe says that it is text (OWASP, CSV injection), and one that was there is
/// doubled, so that who leaves out the first has the name. Tabs and line breaks, which do likewise, are
/// escaped already; the last four are the wide forms of the first, for which some take them.
bool is_taken_for_more(std::string_view text) {
  constexpr std::string_view kFirst[] = {"=", "+", "-", "@", "'", "\uff1d", "\uff0b", "\uff0d", "\uff20"};
  return std::ranges::any_of(kFirst, [&](std::string_view first) { return text.starts_with(first); });
}

void append_text(std::string& out, std::string_view text) {
  const std::string escaped = (is_taken_for_more(text) ? "'" : "") + escape(text);
  const bool quote = escaped.find_first_of(",;\"") != std::string::npos ||
                     (!escaped.empty() && (escaped.front() == ' ' || escaped.back() == ' '));
  if (!quote) {
    out += escaped;
    return;
  }
  out += '"';
  for (const char c : escaped) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void append_cell(std::string& out, const view::Cell& cell) {
  if (const auto* text = std::get_if<std::string_view>(&cell)) return append_text(out, *text);
  if (const auto* number = std::get_if<uint64_t>(&cell)) {
    fmt::format_to(std::back_inserter(out), "{}", *number);
  } else if (const auto* share = std::get_if<double>(&cell)) {
    fmt::format_to(std::back_inserter(out), "{:.9f}", *share);
  }
}

std::string header(const view::Table& table) {
  std::string line;
  for (const view::Column& column : table.columns) {
    if (column.id.empty()) continue;
    if (!line.empty()) line += ',';
    line += column.id;
  }
  return line;
}

void append_rows(std::string& out, const view::Table& table) {
  for (size_t i = 0; i < table.rows.size(); ++i) {
    bool first = true;
    for (size_t j = 0; j < table.columns.size(); ++j) {
      if (table.columns[j].id.empty()) continue;
      if (!first) out += ',';
      first = false;
      append_cell(out, table.row(i)[j]);
    }
    out += '\n';
  }
}

std::string facts(const view::View& view) {
  std::string out = "field,value\n";
  for (const view::Fact& fact : view.facts) {
    if (fact.id.empty()) continue;
    append_text(out, fact.id);
    out += ',';
    append_cell(out, fact.value);
    out += '\n';
  }
  return out;
}

}  // namespace

std::string csv(const view::View& view) {
  if (view.csv_is_facts || view.tables.empty()) return facts(view);
  const std::string first = header(view.tables.front());
  std::string out = first + '\n';
  for (const view::Table& table : view.tables) {
    if (header(table) == first) append_rows(out, table);
  }
  return out;
}

}  // namespace varve::render
