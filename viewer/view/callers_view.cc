// SPDX-License-Identifier: MIT
// The callers view: one function in the middle, who calls it above, whom it calls below.
// Context: viewer.
#include <fmt/format.h>

#include "viewer/analyze/neighbours.h"
#include "viewer/view/band_columns.h"
#include "viewer/view/make.h"
#include "viewer/view/rows.h"

namespace varve::view {
namespace {

using analyze::kCpu;
using analyze::kSamples;

/// One third of the view. All three have the same columns, so CSV is one table with the relation in front.
Table part(const Source& source, const BandColumns& bands, const char* id, const char* title,
           const char* heading) {
  Table table;
  table.id = id;
  table.title = title;
  table.columns = {
      {"", "Total", Unit::kTime},
      {"", "Total%", Unit::kShare},
      {"", "Of it%", Unit::kShare, false, -1, 3},
      {"", source.of_waits ? "Waits" : "Samples", Unit::kCount, false, -1, 4},
  };
  bands.add_text_columns(table);
  const std::vector<Column> rest = {
      {"", "Module", Unit::kText, false, -1, 5},
      {"", heading, Unit::kText, false, int(table.columns.size()) + 2},
      {"", "", Unit::kText},
      {"relation", "", Unit::kText},
      {"function", "", Unit::kText},
      {"module", "", Unit::kText},
      {"total_ns", "", Unit::kTime},
      {"total_share", "", Unit::kShare},
      {"samples", "", Unit::kCount},
  };
  table.columns.insert(table.columns.end(), rest.begin(), rest.end());
  bands.add_data_columns(table);
  Places::add_column(table);
  return table;
}

class CallersView {
 public:
  CallersView(const Source& source, const Request& request, const analyze::Neighbours& middle, uint64_t whole)
      : source_(source),
        request_(request),
        middle_(middle),
        whole_(whole),
        bands_(source, std::max<uint64_t>(middle.total[kCpu], 1)),
        places_(source) {}

  View make(const std::vector<uint64_t>& filtered_out) {
    Table callers = part(source_, bands_, "callers", "Called by", "Caller");
    add_all(callers, middle_.callers, "caller");
    Table function = part(source_, bands_, "function", "Function", "Function");
    const FunctionId first = middle_.functions.front();
    add(function, {}, middle_.total, named(function_cells(source_, first)), "function",
        middle_.functions.size() == 1 ? first : FunctionId::none());
    note_others();
    add(function, {0, RowKind::kRest, false}, middle_.elsewhere, label("[other stacks]"), "outside");
    if (filtered_out[kCpu] > 0 || filtered_out[kSamples] > 0) {
      add(function, {0, RowKind::kFilteredOut, false}, filtered_out, label(kFilteredOut), "outside");
    }
    Table callees = part(source_, bands_, "callees", "Calls", "Callee");
    if (middle_.self[kCpu] > 0 || middle_.self[kSamples] > 0) {
      add(callees, {0, RowKind::kSpecial, false}, middle_.self, label("[self]"), "self");
    }
    add_all(callees, middle_.callees, "callee");
    view_.tables = {std::move(callers), std::move(function), std::move(callees)};
    add_recursion();
    return std::move(view_);
  }

 private:
  static FunctionCells label(std::string_view text) { return {text, text, std::string_view(), {}, {}, true}; }

  /// Several functions of one name are one row, with a count.
  FunctionCells named(FunctionCells cells) {
    if (const size_t count = middle_.functions.size(); count > 1) {
      for (Cell* name : {&cells.name, &cells.short_name}) {
        *name = view_.own(fmt::format("{} and {} more", std::get<std::string_view>(*name), count - 1));
      }
    }
    return cells;
  }

  void add(Table& table, Row row, const std::vector<uint64_t>& metrics, const FunctionCells& cells,
           std::string_view relation, FunctionId id = FunctionId::none()) {
    const uint64_t ns = metrics[kCpu];
    const bool inside = relation != "outside";
    table.begin(row);
    table.put(
        {ns, share(ns, whole_), inside ? Cell(share(ns, middle_.total[kCpu])) : Cell(), metrics[kSamples]});
    bands_.put_text(table, metrics);
    table.put({cells.module, cells.name, cells.short_name, relation, cells.name, cells.module, ns,
               share(ns, whole_), metrics[kSamples]});
    bands_.put_data(table, metrics);
    table.put({places_.of(id, view_)});
  }

  /// Several that fit the name are shown as one, so the user is told how to see one alone.
  void note_others() {
    const std::vector<FunctionId>& all = middle_.functions;
    if (all.size() < 2) return;
    view_.notes.push_back(
        fmt::format("{} functions fit '{}' and are added up here; for one alone ask for {}.", all.size(),
                    request_.function, chosen_words(source_, all, FunctionId::none())));
  }

  void add_all(Table& table, const std::vector<analyze::Neighbour>& rows, std::string_view relation) {
    std::vector<uint64_t> sizes;
    for (const analyze::Neighbour& each : rows) sizes.push_back(each.metrics[kCpu]);
    const Cut cut = cut_list(sizes, whole_, request_);
    std::vector<uint64_t> rest(middle_.total.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i >= cut.kept) {
        for (size_t k = 0; k < rest.size(); ++k) rest[k] += rows[i].metrics[k];
        continue;
      }
      const FunctionId function = rows[i].function;
      const bool root = !function.valid();
      const FunctionCells cells = root ? label("[start of the stack]") : function_cells(source_, function);
      add(table, {0, cells.special ? RowKind::kSpecial : RowKind::kOrdinary, false}, rows[i].metrics, cells,
          relation, function);
    }
    if (cut.below > 0) add(table, {0, RowKind::kRest, false}, rest, label(view_.own(cut.label)), relation);
  }

  void add_recursion() {
    if (middle_.repeated[kCpu] > 0)
      view_.notes.push_back(fmt::format(
          "Recursive: in {:.1f}% of its time it is on the stack more than once; callers are of the "
          "outermost, callees of the innermost.",
          100 * share(middle_.repeated[kCpu], middle_.total[kCpu])));
    for (const analyze::Neighbour& each : middle_.recursive_callers) {
      view_.notes.push_back(
          fmt::format("Recursive: also called by {} inside its own time, {:.1f}% of it.",
                      std::get<std::string_view>(function_cells(source_, each.function).name),
                      100 * share(each.metrics[kCpu], middle_.total[kCpu])));
    }
    view_.facts.push_back({"function_self_ns", "", Unit::kTime, middle_.self[kCpu]});
    view_.facts.push_back({"function_total_ns", "", Unit::kTime, middle_.total[kCpu]});
  }

  const Source& source_;
  const Request& request_;
  const analyze::Neighbours& middle_;
  uint64_t whole_;
  BandColumns bands_;
  Places places_;
  View view_;
};

}  // namespace

Made make_callers(const Source& source, const Request& request, const analyze::Selection& selection) {
  auto functions = analyze::functions_named(source.profile, source.symbols, selection.by_path,
                                            request.inlines, request.function, request.function_pattern);
  if (functions.empty()) {
    return tl::unexpected(no_function(source, request, selection.by_path));
  }
  const auto middle = analyze::neighbours(source.profile, source.symbols, selection.by_path, request.inlines,
                                          std::move(functions));
  return CallersView(source, request, middle, whole(selection)[kCpu]).make(selection.filtered_out);
}

}  // namespace varve::view
