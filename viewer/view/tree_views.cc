// SPDX-License-Identifier: MIT
// The tree views: top-down and bottom-up, as rows in the order in which a tree is read. What a limit cuts
// anywhere in the tree becomes one row at its end: a row below every node would hide the chains that a reader
// looks for. Context: viewer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "viewer/analyze/call_tree.h"
#include "viewer/view/band_columns.h"
#include "viewer/view/make.h"
#include "viewer/view/rows.h"

namespace varve::view {
namespace {

using analyze::kCpu;
using analyze::kSamples;

/// Children of each node, in the order that was asked for; and which nodes stand, the heaviest.
class Order {
 public:
  Order(const analyze::FunctionTree& tree, uint64_t least, uint64_t limit, Sort sort)
      : tree_(tree),
        sorted_by_(sort == Sort::kSelf ? tree.self : tree.total),
        metric_(sort_metric(sort, tree.total)),
        first_(tree.nodes.size() + 1) {
    children_.resize(tree.nodes.size() - 1);
    std::iota(children_.begin(), children_.end(), 1u);
    std::sort(children_.begin(), children_.end(), [&](uint32_t a, uint32_t b) {
      if (tree.nodes[a].parent != tree.nodes[b].parent) return tree.nodes[a].parent < tree.nodes[b].parent;
      return comes_first(a, b);
    });
    for (const uint32_t child : children_) ++first_[tree.nodes[child].parent + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    keep(least, limit);
  }

  std::span<const uint32_t> children(uint32_t node) const {
    return {children_.data() + first_[node], children_.data() + first_[node + 1]};
  }
  bool kept(uint32_t node) const { return kept_[node]; }
  /// None where none stands, or several.
  std::optional<uint32_t> only_kept_child(uint32_t node) const {
    std::optional<uint32_t> found;
    for (const uint32_t child : children(node)) {
      if (!kept(child)) continue;
      if (found) return std::nullopt;
      found = child;
    }
    return found;
  }
  bool limited() const { return limited_; }

 private:
  bool comes_first(uint32_t a, uint32_t b) const {
    const uint64_t of_a = sorted_by_.at(a, metric_), of_b = sorted_by_.at(b, metric_);
    return of_a != of_b ? of_a > of_b : heavier(a, b);
  }

  bool heavier(uint32_t a, uint32_t b) const {
    const uint64_t of_a = tree_.total.at(a, kCpu), of_b = tree_.total.at(b, kCpu);
    return of_a != of_b ? of_a > of_b : a < b;
  }

  /// The heaviest `limit` of the nodes with at least `least`. A parent is at least as heavy as its child and
  /// stands before it, so what stands is a tree.
  void keep(uint64_t least, uint64_t limit) {
    kept_.assign(tree_.nodes.size(), false);
    std::vector<uint32_t> heavy;
    for (uint32_t i = 1; i < tree_.nodes.size(); ++i) {
      if (tree_.total.at(i, kCpu) >= least) heavy.push_back(i);
    }
    limited_ = limit != 0 && heavy.size() > limit;
    if (limited_) {
      std::nth_element(heavy.begin(), heavy.begin() + ptrdiff_t(limit), heavy.end(),
                       [this](uint32_t a, uint32_t b) { return heavier(a, b); });
      heavy.resize(limit);
    }
    for (const uint32_t node : heavy) kept_[node] = true;
  }

  const analyze::FunctionTree& tree_;
  const analyze::MetricTable& sorted_by_;
  const analyze::Metric metric_;
  std::vector<uint32_t> children_;
  std::vector<uint32_t> first_;
  std::vector<bool> kept_;
  bool limited_ = false;
};

/// A child is hot if its parent is and it has at least half of the parent's time.
bool is_hot(const analyze::FunctionTree& tree, uint32_t node, bool parent_hot) {
  return parent_hot && tree.total.at(node, kCpu) * 2 >= tree.total.at(tree.nodes[node].parent, kCpu) &&
         tree.total.at(node, kCpu) != 0;
}

class TreeTable {
 public:
  TreeTable(const Source& source, const Request& request, const analyze::FunctionTree& tree,
            const std::vector<uint64_t>& all, uint64_t least, View& view, Table& table)
      : source_(source),
        request_(request),
        tree_(tree),
        all_(all),
        view_(view),
        table_(table),
        bands_(source, largest_cpu(tree.total)),
        places_(source),
        order_(tree, least, request.limit, request.sort) {}

  /// A stack of our own: trees are as deep as --stack-depth allows, and an inlined chain deeper.
  void fill() {
    struct Place {
      uint32_t node;
      size_t next;
      bool hot;
      bool has_hot;  // child; of two halves one is
    };
    std::vector<Place> path = {{0, 0, true, false}};
    while (!path.empty()) {
      Place& top = path.back();
      const auto children = order_.children(top.node);
      while (top.next < children.size() && !order_.kept(children[top.next])) ++top.next;
      if (top.next == children.size()) {
        path.pop_back();
        continue;
      }
      const uint32_t child = children[top.next];
      const bool hot = !top.has_hot && is_hot(tree_, child, top.hot);
      top.has_hot |= hot;
      ++top.next;
      const std::vector<uint32_t> run = recursion_from(child);
      add_run(run, uint32_t(path.size() - 1), hot);
      path.push_back({run.back(), 0, hot, false});
    }
  }

  /// The self time of all that was cut: what the rows that stand do not have. An inclusive time of rows from
  /// all over the tree would mean nothing.
  void add_rest(const std::vector<uint64_t>& selected) {
    size_t cut = 0;
    std::vector<uint64_t> self = selected;
    for (uint32_t i = 1; i < tree_.nodes.size(); ++i) {
      if (!order_.kept(i)) {
        ++cut;
        continue;
      }
      for (size_t k = 0; k < self.size(); ++k) self[k] -= tree_.self.at(i, k);
    }
    if (cut > 0) add_sum(RowKind::kRest, self, view_.own(cut_label(cut, order_.limited(), request_)));
  }

  void add_filtered_out(const std::vector<uint64_t>& out) {
    if (out[kCpu] > 0 || out[kSamples] > 0) add_sum(RowKind::kFilteredOut, out, kFilteredOut);
  }

 private:
  /// `total` is empty for a sum of rows from all over the tree. In text bands are those of the total, as the
  /// first column is; scripts get those of the self time, which can be added up, and those of the total.
  void add(Row row, std::span<const uint64_t> self, std::span<const uint64_t> total, const Cell& name,
           const Cell& short_name, const Cell& module, const Cell& place) {
    const Cell total_ns = total.empty() ? Cell() : Cell(total[kCpu]);
    table_.begin(row);
    table_.put({total_ns, total.empty() ? Cell() : Cell(share(total[kCpu], all_[kCpu])), self[kCpu]});
    total.empty() ? bands_.put_no_text(table_) : bands_.put_text(table_, total);
    table_.put(
        {module, name, short_name, uint64_t(row.depth), name, module, self[kCpu], total_ns, self[kSamples]});
    bands_.put_data(table_, self);
    total.empty() ? bands_.put_no_data(table_) : bands_.put_data(table_, total);
    table_.put({place});
  }

  /// The node, and if recursion is folded the nodes of the same function straight below it: a function that
  /// calls itself and nothing else worth a row.
  std::vector<uint32_t> recursion_from(uint32_t node) const {
    std::vector<uint32_t> run = {node};
    while (request_.fold_recursion) {
      const std::optional<uint32_t> child = order_.only_kept_child(run.back());
      if (!child) break;
      const analyze::TreeNode &here = tree_.nodes[run.back()], &below = tree_.nodes[*child];
      if (below.function != here.function || below.inlined != here.inlined) break;
      run.push_back(*child);
    }
    return run;
  }

  Cell with_suffix(const Cell& name, std::string_view suffix) {
    return view_.own(fmt::format("{}{}", std::get<std::string_view>(name), suffix));
  }

  void add_run(const std::vector<uint32_t>& run, uint32_t depth, bool hot) {
    const analyze::TreeNode& first = tree_.nodes[run.front()];
    FunctionCells cells = function_cells(source_, first.function);
    std::string suffix = first.inlined && !cells.special ? " (inlined)" : "";
    if (run.size() > 1) suffix += fmt::format(" (x{})", run.size());
    if (!suffix.empty()) {
      cells.name = with_suffix(cells.name, suffix);
      cells.short_name = with_suffix(cells.short_name, suffix);
    }
    std::vector<uint64_t> self(all_.size());
    for (const uint32_t node : run) {
      for (size_t k = 0; k < self.size(); ++k) self[k] += tree_.self.at(node, k);
    }
    add({depth, cells.special ? RowKind::kSpecial : RowKind::kOrdinary, hot}, self,
        tree_.total.row(run.front()), cells.name, cells.short_name, cells.module,
        places_.of(first.function, view_));
  }

  void add_sum(RowKind kind, std::span<const uint64_t> self, std::string_view label) {
    add({0, kind, false}, self, {}, label, label, std::string_view(), std::string_view());
  }

  const Source& source_;
  const Request& request_;
  const analyze::FunctionTree& tree_;
  const std::vector<uint64_t>& all_;
  View& view_;
  Table& table_;
  BandColumns bands_;
  Places places_;
  Order order_;
};

/// What is sorted by stays where room is short.
Table tree_table(const Source& source, const Request& request, const char* id, const char* title) {
  const BandColumns bands(source, 1);
  Table table;
  table.id = id;
  table.empty = "No call path has any time.";
  table.columns = {
      {"", "Total", Unit::kTime},
      {"", "Total%", Unit::kShare},
      {"", "Self", Unit::kTime, false, -1, request.sort == Sort::kSelf ? 0 : 4},
  };
  bands.add_text_columns(table);
  const std::vector<Column> rest = {
      {"", "Module", Unit::kText, false, -1, 3},
      {"", title, Unit::kText, true, int(table.columns.size()) + 2},
      {"", "", Unit::kText},
      {"depth", "", Unit::kNumber},
      {"function", "", Unit::kText},
      {"module", "", Unit::kText},
      {"self_ns", "", Unit::kTime},
      {"total_ns", "", Unit::kTime},
      {"samples", "", Unit::kCount},
  };
  table.columns.insert(table.columns.end(), rest.begin(), rest.end());
  bands.add_data_columns(table);
  bands.add_data_columns(table, "total_");
  Places::add_column(table);
  return table;
}

/// Nodes lighter than this are not grown, so not shown either.
uint64_t threshold(const Request& request, const analyze::Selection& selection) {
  return uint64_t(std::ceil(request.min_share * double(whole(selection)[kCpu])));
}

View tree_view(const Source& source, const Request& request, const analyze::Selection& selection,
               const analyze::FunctionTree& tree, Table table) {
  View view;
  const std::vector<uint64_t> all = whole(selection);
  Request raised = request;
  if (tree.threshold > threshold(request, selection)) {
    raised.min_share = share(tree.threshold, all[kCpu]);
    view.notes.push_back(fmt::format("The whole tree has over {} rows; those below {:.3g}% are added up.",
                                     analyze::kMostTreeNodes, 100 * raised.min_share));
  }
  TreeTable rows(source, raised, tree, all, tree.threshold, view, table);
  rows.fill();
  rows.add_rest(selection.kept);
  rows.add_filtered_out(selection.filtered_out);
  view.tables.push_back(std::move(table));
  return view;
}

}  // namespace

Made make_top_down(const Source& source, const Request& request, const analyze::Selection& selection) {
  const auto tree = analyze::call_tree(source.profile, source.symbols, selection.by_path, request.inlines,
                                       threshold(request, selection));
  return tree_view(source, request, selection, tree, tree_table(source, request, "top_down", "Call tree"));
}

Made make_bottom_up(const Source& source, const Request& request, const analyze::Selection& selection) {
  const auto tree = analyze::caller_tree(source.profile, source.symbols, selection.by_path, request.inlines,
                                         threshold(request, selection));
  return tree_view(source, request, selection, tree,
                   tree_table(source, request, "bottom_up", "Function, then its callers"));
}

}  // namespace varve::view
