// SPDX-License-Identifier: MIT
// See wait_lists.h.
// Context: viewer.
#include "viewer/view/wait_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "viewer/analyze/object_names.h"
#include "viewer/analyze/site_keys.h"

namespace varve::view {
namespace {

using load::Wait;

template <typename Key>
using Groups = std::vector<analyze::WaitGroup<Key>>;

/// Numbers for paths by their functions: equal where the names of all frames are.
class FunctionPaths {
 public:
  FunctionPaths(const Source& source, bool inlines) : source_(source), inlines_(inlines) {}

  uint32_t number(PathId path) {
    std::vector<PathId> way;  // from the leaf to what is known
    PathId at = path;
    for (; at.index() != 0 && !known_.contains(at.index()); at = parent(at)) way.push_back(at);
    uint32_t number = at.index() == 0 ? 0 : known_[at.index()];
    while (!way.empty()) {
      const auto inner = frames(way.back());
      for (size_t i = inner.size(); i-- > 0;) number = child(number, inner[i].function);
      known_[way.back().index()] = number;
      way.pop_back();
    }
    return number;
  }

  /// From the innermost function on.
  std::vector<FunctionId> functions(uint32_t number) const {
    std::vector<FunctionId> functions;
    for (; number != 0; number = nodes_[number].parent) functions.push_back(nodes_[number].function);
    return functions;
  }

 private:
  struct Node {
    uint32_t parent = 0;
    FunctionId function;
  };

  PathId parent(PathId path) const { return source_.profile.paths[path.index()].parent; }
  std::span<const symbol::Frame> frames(PathId path) const {
    return analyze::counted_frames(source_.symbols, source_.profile.paths[path.index()].site, inlines_);
  }
  uint32_t child(uint32_t of, FunctionId function) {
    const auto [at, fresh] = children_.try_emplace(std::pair(of, function), uint32_t(nodes_.size()));
    if (fresh) nodes_.push_back({of, function});
    return at->second;
  }

  const Source& source_;
  const bool inlines_;
  std::vector<Node> nodes_ = {{}};  // the first is the empty path
  std::map<std::pair<uint32_t, FunctionId>, uint32_t> children_;
  std::unordered_map<uint32_t, uint32_t> known_;  // by path
};

std::string_view name_of(const FunctionCells& cells, bool in_short) {
  return std::get<std::string_view>(in_short ? cells.short_name : cells.name);
}

/// How many of the innermost functions are libraries' that programs wait through; none where all are.
size_t library_functions(const Source& source, const std::vector<FunctionId>& functions) {
  const auto own = std::ranges::find_if_not(functions, [&](FunctionId function) {
    return analyze::is_library(function_module(source, function),
                               name_of(function_cells(source, function), false));
  });
  return own == functions.end() ? 0 : size_t(own - functions.begin());
}

/// "std::mutex::lock <- pop <- render <- main"; in short, from the program's own on, "pop <- render <- 1
/// more".
std::string text_words(const Source& source, const std::vector<FunctionId>& functions, bool in_short) {
  constexpr size_t kShort = 2;
  const size_t first = in_short ? library_functions(source, functions) : 0;
  std::string words;
  for (size_t i = first; i < functions.size(); ++i) {
    if (!words.empty()) words += " <- ";
    if (in_short && i == first + kShort) return words + fmt::format("{} more", functions.size() - i);
    words += name_of(function_cells(source, functions[i]), in_short);
  }
  return words;
}

/// "main;render;pop", as flame graphs are folded.
std::string folded_words(const Source& source, const std::vector<FunctionId>& functions) {
  std::string words;
  for (size_t i = functions.size(); i-- > 0;) {
    words += name_of(function_cells(source, functions[i]), false);
    if (i > 0) words += ';';
  }
  return words;
}

std::vector<Column> rest_columns(std::initializer_list<Column> more) {
  std::vector<Column> columns = {{"longest_ns", "", Unit::kTime}, {"threads", "", Unit::kCount}};
  columns.insert(columns.end(), more);
  return columns;
}

Row row_of(bool special) { return {0, special ? RowKind::kSpecial : RowKind::kOrdinary, false}; }

}  // namespace

Table wait_function_table(View& view, const ShownWaits& shown) {
  const Source& source = shown.source;
  analyze::Callers callers(source, shown.request.inlines);
  Groups<FunctionId> groups = analyze::wait_groups(source.profile, shown.passing,
                                                   [&](const Wait& wait) { return callers.of(wait.path); });
  WaitTable table(view, shown,
                  {"functions",
                   "function",
                   "functions",
                   {{"", "Module", Unit::kText, false, -1, 4},
                    {"function", "Function", Unit::kText, false, 2},
                    {"", "", Unit::kText},
                    {"module", "", Unit::kText}},
                   rest_columns({{"place", "", Unit::kText}}),
                   1,
                   2});
  Places places(source);
  table.fill(groups, [&](const analyze::WaitGroup<FunctionId>& group) {
    const FunctionCells cells = function_cells(source, group.key);
    table.add(row_of(cells.special), group, {cells.module, cells.name, cells.short_name, cells.module},
              {longest_cell(group), uint64_t(group.threads), places.of(group.key, view)});
  });
  return std::move(table).table();
}

Table wait_thread_table(View& view, const ShownWaits& shown) {
  const load::Profile& profile = shown.source.profile;
  Groups<ThreadId> groups =
      analyze::wait_groups(profile, shown.passing, [](const Wait& wait) { return wait.thread; });
  WaitTable table(view, shown,
                  {"threads",
                   "thread",
                   "threads",
                   {{"pid", "PID", Unit::kNumber, false, -1, 4},
                    {"tid", "TID", Unit::kNumber},
                    {"", "Program", Unit::kText, false, -1, 4},
                    {"name", "Thread", Unit::kText}},
                   {{"longest_ns", "", Unit::kTime}},
                   3,
                   1});
  table.fill(groups, [&](const analyze::WaitGroup<ThreadId>& group) {
    const load::Thread& thread = profile.threads[group.key.index()];
    const load::Process& process = profile.processes[thread.process.index()];
    table.add({}, group,
              {uint64_t(uint32_t(process.pid)), uint64_t(uint32_t(thread.tid)),
               analyze::program_name(process), std::string_view(thread.name)},
              {longest_cell(group)});
  });
  return std::move(table).table();
}

Table wait_path_table(View& view, const ShownWaits& shown) {
  const Source& source = shown.source;
  FunctionPaths paths(source, shown.request.inlines);
  Groups<uint32_t> groups = analyze::wait_groups(source.profile, shown.passing,
                                                 [&](const Wait& wait) { return paths.number(wait.path); });
  WaitTable table(view, shown,
                  {"callpaths",
                   "call path",
                   "call paths",
                   {{"", "Who waited <- its callers", Unit::kText, false, 1},
                    {"", "", Unit::kText},
                    {"callpath", "", Unit::kText},
                    {"function", "", Unit::kText}},
                   rest_columns({{"place", "", Unit::kText}}),
                   0,
                   3});
  Places places(source);
  table.fill(groups, [&](const analyze::WaitGroup<uint32_t>& group) {
    const std::vector<FunctionId> functions = paths.functions(group.key);
    const bool none = functions.empty();
    const FunctionId leaf = none ? FunctionId::none() : functions.front();
    const std::string_view empty = kEmptyStack;
    const FunctionCells cells = function_cells(source, leaf);
    table.add(row_of(cells.special), group,
              {none ? empty : view.own(text_words(source, functions, false)),
               none ? empty : view.own(text_words(source, functions, true)),
               none ? empty : view.own(folded_words(source, functions)), cells.name},
              {longest_cell(group), uint64_t(group.threads), places.of(leaf, view)});
  });
  return std::move(table).table();
}

}  // namespace varve::view
