// SPDX-License-Identifier: MIT
// A whole view as text: facts, tables, notes, the ledger.
// Context: viewer.
#include <fmt/format.h>

#include <algorithm>

#include "viewer/render/bars.h"
#include "viewer/render/cells.h"
#include "viewer/render/elide_name.h"
#include "viewer/render/numbers.h"
#include "viewer/render/render.h"
#include "viewer/render/text_table.h"
#include "viewer/render/wrap.h"

namespace varve::render {
namespace {

std::string wrapped(std::string_view sentence, const TextStyle& style, size_t indent = 2) {
  std::string out;
  for (const std::string& line : wrap_words(escape(sentence, style.charset), style.width, indent))
    out += line + "\n";
  return out;
}

std::string facts_text(const view::View& view, const TextStyle& style) {
  size_t labels = 0;
  for (const view::Fact& fact : view.facts) labels = std::max(labels, fact.label.size());
  std::string out;
  for (const view::Fact& fact : view.facts) {
    if (fact.label.empty() || std::holds_alternative<std::monostate>(fact.value)) continue;
    std::string value = cell_text(fact.value, fact.unit, style.charset);
    const auto elide = fact.id == "function" ? elide_name : elide_middle;
    if (fact.one_line && style.width > labels + 2) value = elide(value, style.width - labels - 2);
    out += wrapped(fmt::format("{:<{}}  {}", fact.label, labels, value), style, labels + 2);
  }
  return out;
}

std::string tables_text(const view::View& view, const TextStyle& style) {
  std::string out;
  for (const view::Table& table : view.tables) {
    if (table.only_data || (table.rows.empty() && table.empty.empty())) continue;
    if (!out.empty()) out += "\n";
    if (!table.title.empty()) out += wrapped(table.title, style);
    if (table.rows.empty()) {
      out += wrapped(table.empty, style);
      continue;
    }
    const TableText shown = text_table(table, style);
    out += shown.text;
    if (shown.folded) out += wrapped("+N: so many outer levels of lines are not drawn.", style);
  }
  return out;
}

std::string legend_text(const view::View& view, const TextStyle& style) {
  std::string words;
  for (const auto& [letter, meaning] : view.legend)
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", strip_text({&letter, 1}, style), meaning);
  return words.empty() ? "" : wrapped("Each letter is what took most of its time: " + words + ".", style);
}

void add_part(std::string& out, const std::string& part) {
  if (part.empty()) return;
  if (!out.empty()) out += "\n";
  out += part;
}

}  // namespace

std::string ledger_line(const analyze::Ledger& ledger) {
  const TimeScale scale = time_scale(ledger.cpu.count);
  // The parts are printed so that they add up to the sum as printed: the largest takes up what rounding
  // leaves.
  uint64_t step = scale.nanos;
  for (int i = 0; i < scale.decimals; ++i) step /= 10;
  const auto rounded = [step](uint64_t ns) { return ns / step + (ns % step * 2 >= step ? 1 : 0); };
  uint64_t parts[] = {rounded(ledger.sampled.count), rounded(ledger.residual.count),
                      rounded(ledger.not_sampled.count)};
  uint64_t& most = *std::max_element(std::begin(parts), std::end(parts));
  most += rounded(ledger.cpu.count) - (parts[0] + parts[1] + parts[2]);
  const auto shown = [&](uint64_t steps) {
    return fmt::format("{} {}", time_number(steps * step, scale), scale.unit);
  };
  return fmt::format("CPU time {} = {} sampled + {} residual + {} not sampled",
                     shown(rounded(ledger.cpu.count)), shown(parts[0]), shown(parts[1]), shown(parts[2]));
}

std::string placed_line(const analyze::Ledger& ledger) {
  const TimeScale scale = time_scale(ledger.cpu.count);
  return fmt::format(
      "Of this residual, {} {} stand at functions: the first sample of a short thread counts for a whole "
      "interval.",
      time_number(ledger.residual_placed.count, scale), scale.unit);
}

std::string text(const view::View& view, const TextStyle& style) {
  std::string out = facts_text(view, style);
  add_part(out, tables_text(view, style));
  std::string end = legend_text(view, style);
  for (const std::string& note : view.notes) end += wrapped(note, style);
  if (!view.filter.empty()) {
    const uint64_t whole = view.ledger.whole().count;
    const double part = whole == 0 ? 0 : double(view.ledger.shown.count) / double(whole);
    end += wrapped(fmt::format("Filter {}: {} of {}, {}%", view.filter, time_text(view.ledger.shown.count),
                               time_text(whole), percent(part)),
                   style);
  }
  end += wrapped(ledger_line(view.ledger), style);
  if (view.ledger.residual_placed != Nanos{}) end += wrapped(placed_line(view.ledger), style);
  add_part(out, end);
  std::string next;
  for (const std::string& command : view.next) next += fmt::format("  {}\n", escape(command, style.charset));
  if (!next.empty()) add_part(out, "Next:\n" + next);
  return out;
}

}  // namespace varve::render
