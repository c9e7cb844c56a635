// SPDX-License-Identifier: MIT
// The flat views: hotspots, modules and lines. One attribution over different keys, one shape of table.
// Context: viewer.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "viewer/analyze/attribute.h"
#include "viewer/view/make.h"
#include "viewer/view/rows.h"

namespace varve::view {
namespace {

using analyze::kCpu;
using analyze::kSamples;

/// Keys with any time, the largest self first, then the largest total, then by key: the same order every
/// time.
std::vector<uint32_t> order_of(const analyze::Flat& flat) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < flat.total.rows(); ++i) {
    if (!flat.total.zero(i)) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (flat.self.at(a, kCpu) != flat.self.at(b, kCpu)) return flat.self.at(a, kCpu) > flat.self.at(b, kCpu);
    if (flat.total.at(a, kCpu) != flat.total.at(b, kCpu))
      return flat.total.at(a, kCpu) > flat.total.at(b, kCpu);
    return a < b;
  });
  return order;
}

/// The numbers of a row; the callers append what the row is about.
struct Numbers {
  uint64_t self_ns;
  double self_share;
  Cell total_ns, total_share;  // empty in rows that are sums of others: an inclusive time cannot be added up
  uint64_t samples;
};

/// Fills the table: rows in order, then what was cut, then what was filtered out.
template <typename Add>
void fill(const analyze::Flat& flat, const analyze::Selection& selection, const Request& request,
          const Add& add) {
  const std::vector<uint64_t> all = whole(selection);
  const std::vector<uint32_t> order = order_of(flat);
  const CutRows cut = cut_rows(flat.self, order, all[kCpu], request);
  for (size_t i = 0; i < cut.kept; ++i) {
    const uint32_t key = order[i];
    const uint64_t self = flat.self.at(key, kCpu), total = flat.total.at(key, kCpu);
    add(key, std::string(), RowKind::kOrdinary,
        Numbers{self, share(self, all[kCpu]), total, share(total, all[kCpu]), flat.self.at(key, kSamples)});
  }
  if (cut.below > 0) {
    add(UINT32_MAX, cut.label, RowKind::kRest,
        Numbers{cut.rest[kCpu], share(cut.rest[kCpu], all[kCpu]), {}, {}, cut.rest[kSamples]});
  }
  const std::vector<uint64_t>& out = selection.filtered_out;
  if (out[kCpu] > 0 || out[kSamples] > 0) {
    add(UINT32_MAX, std::string(kFilteredOut), RowKind::kFilteredOut,
        Numbers{out[kCpu], share(out[kCpu], all[kCpu]), {}, {}, out[kSamples]});
  }
}

Cell error_cell(const Request& request, const Numbers& numbers, const analyze::Selection& selection) {
  if (!request.errors) return {};
  return share_error(numbers.self_share, whole(selection)[kSamples]);
}

/// Self and total as every flat view shows them, left of what they are about.
void text_numbers(Table& table, const Request& request) {
  table.columns.push_back({"", "Self", Unit::kTime});
  table.columns.push_back({"", "Self%", Unit::kShare});
  table.columns.push_back({"", request.errors ? "+-%" : "", Unit::kShare});
  table.columns.push_back({"", "Total", Unit::kTime, false, -1, 2});
  table.columns.push_back({"", "Total%", Unit::kShare, false, -1, 4});
  table.columns.push_back({"", "Samples", Unit::kCount, false, -1, 1});
}

void csv_numbers(Table& table) {
  table.columns.push_back({"self_ns", "", Unit::kTime});
  table.columns.push_back({"self_share", "", Unit::kShare});
  table.columns.push_back({"total_ns", "", Unit::kTime});
  table.columns.push_back({"total_share", "", Unit::kShare});
  table.columns.push_back({"samples", "", Unit::kCount});
}

}  // namespace

Made make_hotspots(const Source& source, const Request& request, analyze::Selection selection) {
  View view;
  Table table;
  table.id = "hotspots";
  table.empty = "No function has any time.";
  text_numbers(table, request);
  table.columns.push_back({"", "Module", Unit::kText, false, -1, 3});
  table.columns.push_back({"function", "Function", Unit::kText, false, 8});
  table.columns.push_back({"", "", Unit::kText});
  table.columns.push_back({"module", "", Unit::kText});
  table.columns.push_back({"file", "", Unit::kText});
  table.columns.push_back({"line", "", Unit::kNumber});
  csv_numbers(table);
  if (request.errors) table.columns.push_back({"self_error", "", Unit::kShare});

  const auto keys = analyze::function_keys(source.profile, source.symbols, request.inlines);
  const analyze::Flat flat = analyze::attribute(source.profile.paths, std::move(selection.by_path), keys);
  fill(flat, selection, request, [&](uint32_t key, std::string label, RowKind kind, const Numbers& n) {
    const bool function = kind == RowKind::kOrdinary && key < keys.count;
    FunctionCells cells = function_cells(source, function ? FunctionId{key} : FunctionId::none());
    if (!label.empty()) cells.name = cells.short_name = view.own(std::move(label));
    if (kind == RowKind::kOrdinary && cells.special) kind = RowKind::kSpecial;
    const Cell error = error_cell(request, n, selection);
    table.add({0, kind, false}, {n.self_ns, n.self_share, error, n.total_ns, n.total_share, n.samples,
                                 cells.module, cells.name, cells.short_name, cells.module, cells.file,
                                 cells.line, n.self_ns, n.self_share, n.total_ns, n.total_share, n.samples});
    if (request.errors) table.cells.push_back(error);
  });
  view.tables.push_back(std::move(table));
  return view;
}

Made make_modules(const Source& source, const Request& request, analyze::Selection selection) {
  View view;
  Table table;
  table.id = "modules";
  table.empty = "No module has any time.";
  text_numbers(table, request);
  table.columns.push_back({"", "Module", Unit::kText, false, 7});
  table.columns.push_back({"", "", Unit::kText});
  table.columns.push_back({"module", "", Unit::kText});
  table.columns.push_back({"path", "", Unit::kText});
  table.columns.push_back({"build_id", "", Unit::kText});
  csv_numbers(table);

  const load::Profile& profile = source.profile;
  const analyze::SiteKeys keys = analyze::module_keys(profile);
  const analyze::Flat flat = analyze::attribute(profile.paths, std::move(selection.by_path), keys);
  fill(flat, selection, request, [&](uint32_t key, std::string label, RowKind kind, const Numbers& n) {
    Cell name = kEmptyStack, path = std::string_view(), build_id = std::string_view();
    if (!label.empty()) {
      name = view.own(std::move(label));
    } else if (key < profile.modules.size()) {
      const load::Module& module = profile.modules[key];
      name = analyze::module_name(profile, {key});
      path = std::string_view(module.path);
      build_id = view.own(fmt::format("{:02x}", fmt::join(module.build_id, "")));
    } else if (key < keys.count) {
      name = symbol::special_name(load::SpecialSite(key - profile.modules.size()));
      kind = RowKind::kSpecial;
    }
    const Cell shown = std::get<std::string_view>(path).empty() ? name : path;
    table.add({0, kind, false}, {n.self_ns, n.self_share, error_cell(request, n, selection), n.total_ns,
                                 n.total_share, n.samples, shown, name, name, path, build_id, n.self_ns,
                                 n.self_share, n.total_ns, n.total_share, n.samples});
  });
  view.tables.push_back(std::move(table));
  return view;
}

Made make_lines(const Source& source, const Request& request, analyze::Selection selection) {
  View view;
  Table table;
  table.id = "lines";
  table.empty = "No line has any time.";
  text_numbers(table, request);
  table.columns.push_back({"", "Module", Unit::kText, false, -1, 3});
  table.columns.push_back({"", "Line", Unit::kText});
  table.columns.push_back({"", "Function", Unit::kText, false, 9});
  table.columns.push_back({"", "", Unit::kText});
  table.columns.push_back({"file", "", Unit::kText});
  table.columns.push_back({"line", "", Unit::kNumber});
  table.columns.push_back({"function", "", Unit::kText});
  table.columns.push_back({"module", "", Unit::kText});
  csv_numbers(table);

  const analyze::LineKeys lines = analyze::line_keys(source.profile, source.symbols, request.inlines);
  const analyze::Flat flat =
      analyze::attribute(source.profile.paths, std::move(selection.by_path), lines.sites);
  fill(flat, selection, request, [&](uint32_t key, std::string label, RowKind kind, const Numbers& n) {
    const bool known = kind == RowKind::kOrdinary && key < lines.rows.size();
    const analyze::LineKey line = known ? lines.rows[key] : analyze::LineKey{};
    FunctionCells cells = function_cells(source, line.function);
    if (!label.empty()) cells.name = cells.short_name = view.own(std::move(label));
    if (kind == RowKind::kOrdinary && cells.special) kind = RowKind::kSpecial;
    const std::string_view file = source.symbols.strings.text(line.file);
    const std::string_view base = file.substr(file.rfind('/') + 1);
    Cell place, number;
    if (line.line != 0) {
      place = view.own(fmt::format("{}:{}", base, line.line));
      number = uint64_t(line.line);
    }
    table.add({0, kind, false},
              {n.self_ns, n.self_share, error_cell(request, n, selection), n.total_ns, n.total_share,
               n.samples, cells.module, place, cells.name, cells.short_name, file, number, cells.name,
               cells.module, n.self_ns, n.self_share, n.total_ns, n.total_share, n.samples});
  });
  view.tables.push_back(std::move(table));
  return view;
}

}  // namespace varve::view
