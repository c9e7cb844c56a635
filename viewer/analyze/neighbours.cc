// SPDX-License-Identifier: MIT
// One pass over the call tree: a node is inside if it or an ancestor is one of the functions.
// Context: viewer.
#include "viewer/analyze/neighbours.h"

#include <algorithm>
#include <map>

namespace varve::analyze {
namespace {

/// Sums by function, in the end sorted.
class Sums {
 public:
  explicit Sums(size_t width) : width_(width) {}

  void add(FunctionId function, std::span<const uint64_t> numbers) {
    std::vector<uint64_t>& sum = by_function_[function.value];
    sum.resize(width_);
    for (size_t k = 0; k < width_; ++k) sum[k] += numbers[k];
  }

  std::vector<Neighbour> sorted() && {
    std::vector<Neighbour> rows;
    for (auto& [function, metrics] : by_function_) rows.push_back({FunctionId{function}, std::move(metrics)});
    std::stable_sort(rows.begin(), rows.end(), [](const Neighbour& a, const Neighbour& b) {
      return a.metrics[kCpu] > b.metrics[kCpu];
    });
    return rows;
  }

 private:
  size_t width_;
  std::map<uint32_t, std::vector<uint64_t>> by_function_;
};

void add(std::vector<uint64_t>& sum, std::span<const uint64_t> numbers) {
  for (size_t k = 0; k < sum.size(); ++k) sum[k] += numbers[k];
}

}  // namespace

std::vector<FunctionId> functions_named(const symbol::SymbolTable& symbols, const FunctionTree& calls,
                                        std::string_view name, const Pattern& pattern) {
  std::vector<bool> occurs(symbols.functions.size());
  for (const TreeNode& node : calls.nodes) {
    if (node.function.valid()) occurs[node.function.index()] = true;
  }
  std::vector<FunctionId> exact, found;
  for (uint32_t i = 0; i < symbols.functions.size(); ++i) {
    if (!occurs[i]) continue;
    const symbol::Function& function = symbols.functions[i];
    const std::string_view full = symbols.strings.text(function.name);
    if (full == name || symbols.strings.text(function.short_name) == name ||
        symbols.strings.text(function.linkage_name) == name) {
      exact.push_back({i});
    } else if (pattern.given() && pattern.matches(full)) {
      found.push_back({i});
    }
  }
  return exact.empty() ? found : exact;
}

Neighbours neighbours(const FunctionTree& calls, std::vector<FunctionId> functions, size_t function_count) {
  const size_t width = calls.total.width();
  std::vector<bool> in_middle(function_count);
  for (const FunctionId function : functions) in_middle[function.index()] = true;
  const auto is_one = [&](uint32_t node) {
    const FunctionId function = calls.nodes[node].function;
    return function.valid() && in_middle[function.index()];
  };

  Neighbours result;
  result.functions = std::move(functions);
  for (auto* sum : {&result.total, &result.self, &result.outer_self, &result.elsewhere}) sum->resize(width);
  Sums callers(width), callees(width), recursive(width);
  std::vector<bool> inside(calls.nodes.size());
  std::vector<bool> outermost(calls.nodes.size());
  for (uint32_t i = 1; i < calls.nodes.size(); ++i) {
    const uint32_t parent = calls.nodes[i].parent;
    const bool one = is_one(i);
    inside[i] = one || inside[parent];
    outermost[i] = one && !inside[parent];
    if (one) add(result.self, calls.self.row(i));
    if (!inside[i]) add(result.elsewhere, calls.self.row(i));
    if (outermost[i]) {
      add(result.total, calls.total.row(i));
      add(result.outer_self, calls.self.row(i));
      callers.add(calls.nodes[parent].function, calls.total.row(i));
    } else if (one && !is_one(parent)) {
      recursive.add(calls.nodes[parent].function, calls.total.row(i));
    }
    if (outermost[parent]) callees.add(calls.nodes[i].function, calls.total.row(i));
  }
  result.callers = std::move(callers).sorted();
  result.callees = std::move(callees).sorted();
  result.recursive_callers = std::move(recursive).sorted();
  return result;
}

}  // namespace varve::analyze
