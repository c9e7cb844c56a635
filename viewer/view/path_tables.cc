// SPDX-License-Identifier: MIT
// See path_tables.h.
// Context: viewer.
#include "viewer/view/path_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "viewer/analyze/attribute.h"
#include "viewer/analyze/object_names.h"
#include "viewer/analyze/site_keys.h"
#include "viewer/view/band_words.h"
#include "viewer/view/rows.h"

namespace varve::view {
namespace {

using analyze::ClassTimes;
using analyze::column_of;
using analyze::kPathTime;
using analyze::PathClass;

uint64_t path_sum(const ClassTimes& times) {
  return std::accumulate(times.begin(), times.end(), uint64_t(0));
}

/// Columns of the classes, of text or of data. [not recorded] has one in text only where there is any.
void add_class_columns(Table& table, const ShownPath& shown, bool text) {
  const bool gaps = std::ranges::any_of(
      shown.segments, [](const auto& segment) { return segment.what == PathClass::kNotRecorded; });
  for (const PathClass what : kShownClasses) {
    const PathClassWords& words = words_of(what);
    const bool gap = what == PathClass::kNotRecorded;
    const char* title = gap ? (gaps ? "Not recorded" : "") : words.name.data();
    if (text)
      table.columns.push_back({"", title, Unit::kTime, false, -1, gap ? 4 : 5});
    else
      table.columns.push_back({words.column, "", Unit::kTime});
  }
}

void put_classes(Table& table, std::span<const uint64_t> by_class) {
  for (const PathClass what : kShownClasses) table.put({by_class[size_t(what)]});
}

std::span<const uint64_t> classes_of(std::span<const uint64_t> metrics) {
  return metrics.subspan(analyze::kFirstPathClass);
}

/// The most that the run could be shorter, if what has these times used no CPU time.
uint64_t bound_of(std::span<const uint64_t> by_class) {
  return by_class[size_t(PathClass::kCruise)] + by_class[size_t(PathClass::kImpact)];
}

/// The classes of a level, one letter after the other; a full strip is the longest level.
std::string class_strip(const ClassTimes& times, uint64_t most) {
  constexpr size_t kStripLetters = 24;
  std::string strip;
  uint64_t filled = 0;
  for (const PathClass what : kShownClasses) {
    filled += times[size_t(what)];
    const auto until = size_t(share(filled, most) * kStripLetters + 0.5);
    strip.append(until - std::min(until, strip.size()), words_of(what).letter);
  }
  return strip;
}

/// Sorted by time on the path, whatever the request sorts CPU time by.
Request by_path_time(const Request& request) {
  Request own = request;
  if (own.sort != Sort::kTotal) own.sort = Sort::kSelf;
  return own;
}

std::vector<uint32_t> rows_with_time(const analyze::MetricTable& metrics) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < metrics.rows(); ++i)
    if (metrics.at(i, kPathTime) != 0) order.push_back(i);
  return order;
}

}  // namespace

Table path_level_table(View& view, const ShownPath& shown) {
  Table table;
  table.id = "levels";
  table.title = "Path by active threads: C Cruise, I Impact, O Overhead, B Blocking";
  table.columns = {{"level", "Threads", Unit::kNumber},
                   {"elapsed_ns", "Time", Unit::kTime},
                   {"", "Share%", Unit::kShare, false, -1, 1}};
  add_class_columns(table, shown, true);
  table.columns.push_back({"", "Classes", Unit::kStrip, false, -1, 2});
  table.columns.push_back({"class", "Level", Unit::kText});
  add_class_columns(table, shown, false);
  const analyze::BandRule& rule = shown.source.concurrency->rule;
  uint64_t most = std::max<uint64_t>(path_sum(shown.levels.unobserved), 1);
  for (const ClassTimes& times : shown.levels.by_level) most = std::max(most, path_sum(times));
  const auto add = [&](Cell level, const ClassTimes& times, std::string_view name) {
    table.begin({});
    table.put({level, path_sum(times), share(path_sum(times), shown.elapsed_ns)});
    put_classes(table, times);
    table.put({view.own(class_strip(times, most)), name});
    put_classes(table, times);
  };
  for (size_t level = 0; level < shown.levels.by_level.size(); ++level) {
    const ClassTimes& times = shown.levels.by_level[level];
    if (path_sum(times) == 0 && double(level) > rule.target) continue;
    add(uint64_t(level), times, class_name(analyze::class_of(level, uint64_t(rule.target + 0.5))));
  }
  if (path_sum(shown.levels.unobserved)) add({}, shown.levels.unobserved, "not observed");
  return table;
}

Table path_gain_table(View& view, const ShownPath& shown) {
  const Source& source = shown.source;
  analyze::Callers callers(source, shown.request.inlines);
  std::map<FunctionId, uint64_t> times;
  for (const analyze::PathSegment& segment : shown.segments)
    if (segment.what == PathClass::kCruise || segment.what == PathClass::kImpact)
      shown.paths.for_each(segment, [&](PathId path, uint64_t ns) { times[callers.of(path)] += ns; });
  std::vector<std::pair<uint64_t, FunctionId>> order;
  for (const auto& [function, ns] : times)
    if (ns != 0) order.emplace_back(ns, function);
  std::ranges::sort(order, std::greater());
  constexpr size_t kMost = 8;
  const size_t kept = std::min(order.size(), kMost);
  uint64_t rest = 0;
  for (const auto& [ns, function] : std::span(order).subspan(kept)) rest += ns;

  Table table;
  table.id = "gains";
  table.title = "How much shorter the run can get, if a function itself needs no processor";
  table.columns = {{"bound_ns", "Self bound", Unit::kTime},
                   {"", "Bound%", Unit::kShare},
                   {"", "Module", Unit::kText},
                   {"function", "Function", Unit::kText, false, 4},
                   {"", "", Unit::kText},
                   {"module", "", Unit::kText}};
  const auto add = [&](RowKind kind, uint64_t ns, const FunctionCells& cells) {
    table.add({0, kind, false},
              {ns, share(ns, shown.elapsed_ns), cells.module, cells.name, cells.short_name, cells.module});
  };
  for (const auto& [ns, function] : std::span(order).first(kept)) {
    const FunctionCells cells = function_cells(source, function);
    add(cells.special ? RowKind::kSpecial : RowKind::kOrdinary, ns, cells);
  }
  if (kept < order.size()) {
    const std::string_view label =
        view.own(fmt::format("[{}]", plural(order.size() - kept, "other function", "other functions")));
    add(RowKind::kRest, rest, {label, label, std::string_view(), std::string_view(), {}, true});
  }
  return table;
}

Table path_function_table(View& view, const ShownPath& shown) {
  const Source& source = shown.source;
  const analyze::PathTimes times = analyze::times_by_path(source.profile, shown.segments, shown.paths);
  const analyze::SiteKeys keys =
      analyze::function_keys(source.profile, source.symbols, shown.request.inlines);
  const analyze::Flat flat = analyze::attribute(source.profile.paths, times, keys);
  const Request request = by_path_time(shown.request);
  std::vector<uint32_t> order = rows_with_time(flat.total);
  sort_rows(order, flat.self, &flat.total, shown.elapsed_ns, request);
  // A caller that did nothing itself is worth a row for what it called.
  const double least = request.min_share * double(shown.elapsed_ns);
  std::stable_partition(order.begin(), order.end(),
                        [&](uint32_t row) { return double(flat.total.at(row, kPathTime)) >= least; });
  const CutRows cut = cut_rows(flat.self, order, shown.elapsed_ns, request, &flat.total);

  Table table;
  table.id = "functions";
  table.empty = "No function is on the path.";
  table.columns = {{"", "Path", Unit::kTime}, {"", "Path%", Unit::kShare, false, -1, 3}};
  add_class_columns(table, shown, true);
  table.columns.push_back({"", "Total", Unit::kTime, false, -1, 6});
  table.columns.push_back({"", "Bound", Unit::kTime, false, -1, 6});
  table.columns.push_back({"", "Module", Unit::kText, false, -1, 2});
  table.columns.push_back({"function", "Function", Unit::kText, false, int(table.columns.size()) + 1});
  for (const Column& column :
       {Column{"", "", Unit::kText}, Column{"module", "", Unit::kText}, Column{"path_ns", "", Unit::kTime}})
    table.columns.push_back(column);
  add_class_columns(table, shown, false);
  for (const Column& column : {Column{"total_ns", "", Unit::kTime}, Column{"bound_ns", "", Unit::kTime}})
    table.columns.push_back(column);
  Places::add_column(table);
  Places places(source);
  const auto add = [&](RowKind kind, std::span<const uint64_t> self, const FunctionCells& cells, Cell total,
                       Cell bound, Cell place) {
    table.begin({0, kind, false});
    table.put({self[kPathTime], share(self[kPathTime], shown.elapsed_ns)});
    put_classes(table, classes_of(self));
    table.put({total, bound, cells.module, cells.name, cells.short_name, cells.module, self[kPathTime]});
    put_classes(table, classes_of(self));
    table.put({total, bound, place});
  };
  for (size_t i = 0; i < cut.kept; ++i) {
    const FunctionId id =
        order[i] < source.symbols.functions.size() ? FunctionId{order[i]} : FunctionId::none();
    const FunctionCells cells = function_cells(source, id);
    add(cells.special ? RowKind::kSpecial : RowKind::kOrdinary, flat.self.row(order[i]), cells,
        flat.total.at(order[i], kPathTime),
        id.valid() ? Cell(bound_of(classes_of(flat.total.row(order[i])))) : Cell(), places.of(id, view));
  }
  const auto add_sum = [&](RowKind kind, std::string_view name, std::span<const uint64_t> self) {
    add(kind, self, {name, name, std::string_view(), std::string_view(), {}, true}, {}, {},
        std::string_view());
  };
  if (cut.below) add_sum(RowKind::kRest, view.own(std::string(cut.label)), cut.rest);
  std::vector<uint64_t> out(analyze::kPathMetricCount);
  out[kPathTime] = shown.filtered_out_ns;
  if (shown.filtered_out_ns) add_sum(RowKind::kFilteredOut, kFilteredOut, out);
  return table;
}

Table path_thread_table(View& view, const ShownPath& shown) {
  const load::Profile& profile = shown.source.profile;
  const analyze::MetricTable times = analyze::times_by_thread(profile, shown.segments);
  const Request request = by_path_time(shown.request);
  std::vector<uint32_t> order = rows_with_time(times);
  sort_rows(order, times, nullptr, shown.elapsed_ns, request);
  const CutRows cut = cut_rows(times, order, shown.elapsed_ns, request);
  Table table;
  table.id = "threads";
  table.empty = "No thread is on the path.";
  table.columns = {{"", "Path", Unit::kTime}, {"", "Path%", Unit::kShare, false, -1, 3}};
  add_class_columns(table, shown, true);
  for (const Column& column :
       {Column{"", "Segments", Unit::kCount, false, -1, 1}, Column{"pid", "PID", Unit::kNumber, false, -1, 2},
        Column{"tid", "TID", Unit::kNumber}, Column{"name", "Thread", Unit::kText},
        Column{"path_ns", "", Unit::kTime}})
    table.columns.push_back(column);
  add_class_columns(table, shown, false);
  table.columns.push_back({"segments", "", Unit::kCount});
  table.columns.push_back({"bound_ns", "", Unit::kTime});
  const auto add = [&](RowKind kind, std::span<const uint64_t> row, ThreadId id, std::string_view name) {
    Cell pid, tid;
    if (id.valid()) {
      const load::Thread& thread = profile.threads[id.index()];
      pid = uint64_t(uint32_t(profile.processes[thread.process.index()].pid));
      tid = uint64_t(uint32_t(thread.tid));
    }
    table.begin({0, kind, false});
    table.put({row[kPathTime], share(row[kPathTime], shown.elapsed_ns)});
    put_classes(table, classes_of(row));
    table.put({row[analyze::kPathSegments], pid, tid, name, row[kPathTime]});
    put_classes(table, classes_of(row));
    table.put({row[analyze::kPathSegments], bound_of(classes_of(row))});
  };
  for (size_t i = 0; i < cut.kept; ++i) {
    const bool known = order[i] < profile.threads.size();
    add(known ? RowKind::kOrdinary : RowKind::kSpecial, times.row(order[i]),
        known ? ThreadId{order[i]} : ThreadId::none(),
        known ? std::string_view(profile.threads[order[i]].name) : words_of(PathClass::kNotRecorded).name);
  }
  if (cut.below) add(RowKind::kRest, cut.rest, {}, view.own(std::string(cut.label)));
  std::vector<uint64_t> out(analyze::kPathMetricCount);
  out[kPathTime] = shown.filtered_out_ns;
  if (shown.filtered_out_ns) add(RowKind::kFilteredOut, out, {}, kFilteredOut);
  return table;
}

}  // namespace varve::view
