// SPDX-License-Identifier: MIT
// The flat views: hotspots, modules and lines. One attribution over different keys, one shape of table.
// Context: viewer.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "viewer/analyze/attribute.h"
#include "viewer/view/band_columns.h"
#include "viewer/view/make.h"
#include "viewer/view/rows.h"

namespace varve::view {
namespace {

using analyze::kCpu;
using analyze::kSamples;

/// Keys with any time, in the order that the request asks for: the same every time.
std::vector<uint32_t> order_of(const analyze::Flat& flat, uint64_t whole_ns, const Request& request) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < flat.total.rows(); ++i) {
    if (!flat.total.zero(i)) order.push_back(i);
  }
  sort_rows(order, flat.self, &flat.total, whole_ns, request);
  return order;
}

/// The numbers of a row; the callers append what the row is about.
struct Numbers {
  std::span<const uint64_t> self;  // a row of a MetricTable
  double self_share;
  Cell total_ns, total_share;  // empty in rows that are sums of others: an inclusive time cannot be added up
};

/// Fills the table: rows in order, then what was cut, then what was filtered out.
template <typename Add>
void fill(const analyze::Flat& flat, const analyze::Selection& selection, const Request& request,
          const Add& add) {
  const std::vector<uint64_t> all = whole(selection);
  const std::vector<uint32_t> order = order_of(flat, all[kCpu], request);
  const CutRows cut = cut_rows(flat.self, order, all[kCpu], request);
  for (size_t i = 0; i < cut.kept; ++i) {
    const uint32_t key = order[i];
    const uint64_t self = flat.self.at(key, kCpu), total = flat.total.at(key, kCpu);
    add(key, std::string(), RowKind::kOrdinary,
        Numbers{flat.self.row(key), share(self, all[kCpu]), total, share(total, all[kCpu])});
  }
  if (cut.below > 0) {
    add(UINT32_MAX, cut.label, RowKind::kRest, Numbers{cut.rest, share(cut.rest[kCpu], all[kCpu]), {}, {}});
  }
  const std::vector<uint64_t>& out = selection.filtered_out;
  if (out[kCpu] > 0 || out[kSamples] > 0) {
    add(UINT32_MAX, std::string(kFilteredOut), RowKind::kFilteredOut,
        Numbers{out, share(out[kCpu], all[kCpu]), {}, {}});
  }
}

/// The numbers that every flat view shows: in text left of what a row is about, for scripts right of it.
class NumberColumns {
 public:
  NumberColumns(const Source& source, const Request& request, const analyze::Selection& selection,
                const analyze::Flat& flat)
      : request_(request),
        counted_(source.of_waits ? "Waits" : "Samples"),
        samples_(whole(selection)[kSamples]),
        bands_(source, largest_cpu(flat.self)) {}

  void add_text_columns(Table& table) const {
    const char* error = request_.errors ? "+-%" : "";
    for (const Column& column :
         {Column{"", "Self", Unit::kTime}, Column{"", "Self%", Unit::kShare}, Column{"", error, Unit::kShare},
          Column{"", "Total", Unit::kTime, false, -1, 4}, Column{"", "Total%", Unit::kShare, false, -1, 6},
          Column{"", counted_, Unit::kCount, false, -1, 3}})
      table.columns.push_back(column);
    bands_.add_text_columns(table);
  }
  void add_data_columns(Table& table) const {
    for (const Column& column : {Column{"self_ns", "", Unit::kTime}, Column{"self_share", "", Unit::kShare},
                                 Column{"total_ns", "", Unit::kTime}, Column{"total_share", "", Unit::kShare},
                                 Column{"samples", "", Unit::kCount}})
      table.columns.push_back(column);
    bands_.add_data_columns(table);
    if (request_.errors) table.columns.push_back({"self_error", "", Unit::kShare});
  }
  void put_text(Table& table, const Numbers& n) const {
    table.put({n.self[kCpu], n.self_share, error_of(n), n.total_ns, n.total_share, n.self[kSamples]});
    bands_.put_text(table, n.self);
  }
  void put_data(Table& table, const Numbers& n) const {
    table.put({n.self[kCpu], n.self_share, n.total_ns, n.total_share, n.self[kSamples]});
    bands_.put_data(table, n.self);
    if (request_.errors) table.put({error_of(n)});
  }

 private:
  Cell error_of(const Numbers& n) const {
    return request_.errors ? Cell(share_error(n.self_share, samples_)) : Cell();
  }

  const Request& request_;
  const char* counted_;
  uint64_t samples_;
  BandColumns bands_;
};

/// The index that the next column will have.
int next_column(const Table& table) { return int(table.columns.size()); }

}  // namespace

Made make_hotspots(const Source& source, const Request& request, const analyze::Selection& selection) {
  View view;
  Table table;
  table.id = "hotspots";
  table.empty = "No function has any time.";
  const analyze::Flat& flat = selection.functions(source.profile, source.symbols, request.inlines);
  const NumberColumns numbers(source, request, selection, flat);
  Places places(source);
  numbers.add_text_columns(table);
  table.columns.push_back({"", "Module", Unit::kText, false, -1, 5});
  table.columns.push_back({"function", "Function", Unit::kText, false, next_column(table) + 1});
  table.columns.push_back({"", "", Unit::kText});
  table.columns.push_back({"module", "", Unit::kText});
  table.columns.push_back({"file", "", Unit::kText});
  table.columns.push_back({"line", "", Unit::kNumber});
  numbers.add_data_columns(table);
  Places::add_column(table);
  fill(flat, selection, request, [&](uint32_t key, std::string label, RowKind kind, const Numbers& n) {
    const bool function = kind == RowKind::kOrdinary && key < source.symbols.functions.size();
    const FunctionId id = function ? FunctionId{key} : FunctionId::none();
    FunctionCells cells = function_cells(source, id);
    if (!label.empty()) cells.name = cells.short_name = view.own(std::move(label));
    if (kind == RowKind::kOrdinary && cells.special) kind = RowKind::kSpecial;
    table.begin({0, kind, false});
    numbers.put_text(table, n);
    table.put({cells.module, cells.name, cells.short_name, cells.module, cells.file, cells.line});
    numbers.put_data(table, n);
    table.put({places.of(id, view)});
  });
  view.tables.push_back(std::move(table));
  return view;
}

Made make_modules(const Source& source, const Request& request, const analyze::Selection& selection) {
  View view;
  Table table;
  table.id = "modules";
  table.empty = "No module has any time.";
  const load::Profile& profile = source.profile;
  const analyze::SiteKeys keys = analyze::module_keys(profile);
  const analyze::Flat flat = analyze::attribute(profile.paths, selection.by_path, keys);
  const NumberColumns numbers(source, request, selection, flat);
  numbers.add_text_columns(table);
  table.columns.push_back({"", "Module", Unit::kText, false, next_column(table) + 1});
  table.columns.push_back({"", "", Unit::kText});
  table.columns.push_back({"module", "", Unit::kText});
  table.columns.push_back({"path", "", Unit::kText});
  table.columns.push_back({"build_id", "", Unit::kText});
  numbers.add_data_columns(table);
  fill(flat, selection, request, [&](uint32_t key, std::string label, RowKind kind, const Numbers& n) {
    Cell name = no_stack(source), path = std::string_view(), build_id = std::string_view();
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
    table.begin({0, kind, false});
    numbers.put_text(table, n);
    table.put({shown, name, name, path, build_id});
    numbers.put_data(table, n);
  });
  view.tables.push_back(std::move(table));
  return view;
}

Made make_lines(const Source& source, const Request& request, const analyze::Selection& selection) {
  View view;
  Table table;
  table.id = "lines";
  table.empty = "No line has any time.";
  const analyze::LineKeys lines = analyze::line_keys(source.profile, source.symbols, request.inlines);
  const analyze::Flat flat = analyze::attribute(source.profile.paths, selection.by_path, lines.sites);
  const NumberColumns numbers(source, request, selection, flat);
  numbers.add_text_columns(table);
  table.columns.push_back({"", "Module", Unit::kText, false, -1, 5});
  table.columns.push_back({"", "Line", Unit::kText});
  table.columns.push_back({"", "Function", Unit::kText, false, next_column(table) + 1});
  table.columns.push_back({"", "", Unit::kText});
  table.columns.push_back({"file", "", Unit::kText});
  table.columns.push_back({"line", "", Unit::kNumber});
  table.columns.push_back({"function", "", Unit::kText});
  table.columns.push_back({"module", "", Unit::kText});
  numbers.add_data_columns(table);
  Places places(source);
  Places::add_column(table);
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
    table.begin({0, kind, false});
    numbers.put_text(table, n);
    table.put({cells.module, place, cells.name, cells.short_name, file, number, cells.name, cells.module});
    numbers.put_data(table, n);
    table.put({places.of(line.function, view)});
  });
  view.tables.push_back(std::move(table));
  return view;
}

}  // namespace varve::view
