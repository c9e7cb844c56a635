// SPDX-License-Identifier: MIT
// The objects that moved the critical path, and which thread delayed which by each. Context: viewer.
#include <algorithm>
#include <iterator>

#include "viewer/analyze/object_names.h"
#include "viewer/view/cut_kinds.h"
#include "viewer/view/path_tables.h"
#include "viewer/view/rows.h"

namespace varve::view {
namespace {

using analyze::ClassTimes;
using analyze::PathClass;
using analyze::PathDelay;

constexpr std::array kDelaying = {PathClass::kImpact, PathClass::kOverhead, PathClass::kBlocking};

struct Sum {
  uint64_t moves = 0;
  ClassTimes times{};

  void add(const Sum& other) {
    moves += other.moves;
    for (size_t i = 0; i < times.size(); ++i) times[i] += other.times[i];
  }
  uint64_t delayed() const {
    uint64_t sum = 0;
    for (const PathClass what : kDelaying) sum += times[size_t(what)];
    return sum;
  }
};

struct DelayRow {
  const PathDelay* delay;  // the first of an object; null: a sum
  Sum sum;
  std::string label{};  // of a sum
};

/// The largest first, as many as the request asks for, and then sums of the others.
void sort_and_cut(std::vector<DelayRow>& rows, const ShownPath& shown, std::string_view one,
                  std::string_view many) {
  const auto kind_of = [&](size_t i) {
    return analyze::kind_of_many(shown.source.profile, rows[i].delay->object);
  };
  std::ranges::stable_sort(rows, [](const DelayRow& a, const DelayRow& b) {
    return std::pair(a.sum.delayed(), a.sum.moves) > std::pair(b.sum.delayed(), b.sum.moves);
  });
  std::vector<uint64_t> sizes;
  for (const DelayRow& row : rows) sizes.push_back(row.sum.delayed());
  const Cut cut = cut_list(sizes, shown.elapsed_ns, shown.request);
  std::vector<DelayRow> sums;
  for (const CutKind& kind : cut_kinds(cut, sizes, shown.elapsed_ns, shown.request, one, many, kind_of)) {
    sums.push_back({nullptr, {}, kind.label});
    for (const size_t i : kind.rows) sums.back().sum.add(rows[i].sum);
  }
  rows.resize(cut.kept);
  std::ranges::move(sums, std::back_inserter(rows));
}

/// Blocking of which nobody knows what for.
Sum other_waits(const ShownPath& shown) {
  Sum sum;
  for (const analyze::PathSegment& segment : shown.segments)
    if (segment.what == PathClass::kBlocking && segment.wait == analyze::kNoWait)
      sum.times[size_t(segment.what)] += segment.range.length();
  return sum;
}

void add_columns(Table& table, bool text) {
  const auto add = [&](const char* id, const char* title, Unit unit, int spare = 0) {
    table.columns.push_back({text ? "" : id, text ? title : "", unit, false, -1, text ? spare : 0});
  };
  add("moves", "Moves", Unit::kCount, 1);
  for (const PathClass what : kDelaying)
    add(words_of(what).column, words_of(what).name.data(), Unit::kTime, 5);
}

void put_numbers(Table& table, const Sum& sum) {
  table.put({sum.moves});
  for (const PathClass what : kDelaying) table.put({sum.times[size_t(what)]});
}

Cell number_of(const load::Profile& profile, ThreadId thread) {
  return thread.valid() ? Cell(uint64_t(uint32_t(profile.threads[thread.index()].tid))) : Cell();
}

/// The object of a row, or what a sum is of.
std::string_view object_of(View& view, const ShownPath& shown, const DelayRow& row) {
  return view.own(row.delay ? analyze::object_words(shown.source, row.delay->object) : row.label);
}

Table object_table(View& view, const ShownPath& shown, std::vector<DelayRow> objects) {
  Table table;
  table.id = "objects";
  table.title = "Objects that moved the path from one thread to another, or that it waited for";
  table.empty = "No object moved the path.";
  add_columns(table, true);
  table.columns.push_back({"object", "Object", Unit::kText});
  table.columns.push_back({"pid", "", Unit::kNumber});
  add_columns(table, false);
  sort_and_cut(objects, shown, "object", "objects");
  const size_t known = objects.size();
  if (const Sum others = other_waits(shown); others.delayed())
    objects.push_back({nullptr, others, std::string(kOtherWaits)});
  for (size_t i = 0; i < objects.size(); ++i) {
    const DelayRow& row = objects[i];
    const ProcessId process = row.delay ? row.delay->object.process : ProcessId::none();
    table.begin({0, row.delay ? RowKind::kOrdinary : i < known ? RowKind::kRest : RowKind::kSpecial, false});
    put_numbers(table, row.sum);
    table.put({object_of(view, shown, row), pid_cell(shown.source.profile, process)});
    put_numbers(table, row.sum);
  }
  return table;
}

Table delay_table(View& view, const ShownPath& shown, std::vector<DelayRow> pairs) {
  const load::Profile& profile = shown.source.profile;
  const ThreadNames names(profile);
  Table table;
  table.id = "delays";
  table.title = "Who delayed whom";
  add_columns(table, true);
  table.columns.insert(table.columns.end(), {{"", "Delayed by", Unit::kText, false, -1, 6},
                                             {"", "Thread", Unit::kText, false, -1, 4},
                                             {"object", "Object", Unit::kText},
                                             {"from_tid", "", Unit::kNumber},
                                             {"tid", "", Unit::kNumber}});
  add_columns(table, false);
  std::erase_if(pairs, [](const DelayRow& row) { return !row.delay->from.valid(); });
  sort_and_cut(pairs, shown, "pair", "pairs");
  for (const DelayRow& row : pairs) {
    const ThreadId from = row.delay ? row.delay->from : ThreadId::none();
    const ThreadId to = row.delay ? row.delay->to : ThreadId::none();
    table.begin({0, row.delay ? RowKind::kOrdinary : RowKind::kRest, false});
    put_numbers(table, row.sum);
    table.put({view.own(names.of(from)), view.own(names.of(to)), object_of(view, shown, row),
               number_of(profile, from), number_of(profile, to)});
    put_numbers(table, row.sum);
  }
  return table;
}

}  // namespace

void add_object_tables(View& view, const ShownPath& shown) {
  const std::vector<PathDelay> delays =
      analyze::path_delays(shown.source.profile, shown.segments, shown.moves);
  std::vector<DelayRow> objects, pairs;
  for (const PathDelay& delay : delays) {
    const Sum sum{delay.moves, delay.times};
    if (objects.empty() || objects.back().delay->object != delay.object) objects.push_back({&delay, {}});
    objects.back().sum.add(sum);
    pairs.push_back({&delay, sum});
  }
  view.tables.push_back(object_table(view, shown, std::move(objects)));
  view.tables.push_back(delay_table(view, shown, std::move(pairs)));
}

}  // namespace varve::view
