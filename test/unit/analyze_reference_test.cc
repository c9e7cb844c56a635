// SPDX-License-Identifier: MIT
// D-46: every analysis against a naive one that walks the stack of each sample. Context: tests.
#include <criterion/criterion.h>

#include <map>
#include <set>

#include "test/unit/random_profile.h"
#include "viewer/analyze/attribute.h"
#include "viewer/analyze/call_tree.h"
#include "viewer/analyze/concurrency.h"
#include "viewer/analyze/filter.h"
#include "viewer/analyze/neighbours.h"

using namespace varve;
using namespace varve::analyze;
using varve::test::RandomProfile;
using varve::test::StackFrame;

namespace {

constexpr uint64_t kReferenceSeeds = 20;

/// CPU time and samples.
struct Sum {
  uint64_t cpu = 0, samples = 0;
  auto operator<=>(const Sum&) const = default;
  void add(const load::Samples& rows, size_t i) { cpu += rows.weight_ns[i], samples += rows.ticks[i]; }
  bool zero() const { return cpu == 0 && samples == 0; }
};

Sum sum_at(const MetricTable& table, size_t row) { return {table.at(row, kCpu), table.at(row, kSamples)}; }

Selection everything(const RandomProfile& made) { return select(made.profile, made.symbols, {}, {}); }

/// Compares a flat view with self and total by key, recomputed from the keys of each sample's sites.
void check_flat(const RandomProfile& made, const SiteKeys& keys) {
  std::map<size_t, Sum> self, total;
  const load::Samples& rows = made.profile.samples;
  for (size_t i = 0; i < rows.size(); ++i) {
    std::vector<size_t> stack;
    for (const SiteId site : test::sites_of(made.profile, rows.path[i])) {
      for (const uint32_t key : keys.of(site)) stack.push_back(key);
    }
    if (stack.empty()) stack.push_back(keys.count);
    self[stack.back()].add(rows, i);
    for (const size_t key : std::set<size_t>(stack.begin(), stack.end())) total[key].add(rows, i);
  }
  const Flat flat = attribute(made.profile.paths, everything(made).by_path, keys);
  for (size_t key = 0; key <= keys.count; ++key) {
    cr_expect(sum_at(flat.self, key) == self[key], "self of key %zu", key);
    cr_expect(sum_at(flat.total, key) == total[key], "total of key %zu", key);
  }
}

using Chain = std::vector<StackFrame>;

/// Self and total by the chain of functions from the root.
void check_call_tree(const RandomProfile& made, bool inlines) {
  std::map<Chain, Sum> self, total;
  const load::Samples& rows = made.profile.samples;
  for (size_t i = 0; i < rows.size(); ++i) {
    Chain chain;
    for (const StackFrame& frame : test::stack_of(made, rows.path[i], inlines)) {
      chain.push_back(frame);
      total[chain].add(rows, i);
    }
    self[chain].add(rows, i);
  }
  const FunctionTree tree = call_tree(made.profile, made.symbols, everything(made).by_path, inlines, 0);
  cr_expect_eq(tree.nodes.size(), total.size() + 1);
  std::vector<Chain> chains(tree.nodes.size());
  for (uint32_t i = 1; i < tree.nodes.size(); ++i) {
    const TreeNode& node = tree.nodes[i];
    cr_assert_lt(node.parent, i);
    chains[i] = chains[node.parent];
    chains[i].push_back({node.function, node.inlined});
    cr_expect_eq(node.depth, chains[i].size());
    cr_expect(sum_at(tree.self, i) == self[chains[i]]);
    cr_expect(sum_at(tree.total, i) == total[chains[i]]);
  }
  cr_expect_eq(tree.total.at(0, kCpu), made.profile.kernel_cpu.count);
}

void check_caller_tree(const RandomProfile& made, bool inlines) {
  std::map<std::vector<uint32_t>, Sum> total;
  const load::Samples& rows = made.profile.samples;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Chain stack = test::stack_of(made, rows.path[i], inlines);
    std::vector<uint32_t> callers;
    for (size_t j = stack.size(); j-- > 0;) {
      callers.push_back(stack[j].function.value);
      total[callers].add(rows, i);
    }
  }
  const FunctionTree tree = caller_tree(made.profile, made.symbols, everything(made).by_path, inlines, 0);
  cr_expect_eq(tree.nodes.size(), total.size() + 1);
  std::vector<std::vector<uint32_t>> chains(tree.nodes.size());
  uint64_t all_self = 0;
  for (uint32_t i = 1; i < tree.nodes.size(); ++i) {
    const TreeNode& node = tree.nodes[i];
    chains[i] = chains[node.parent];
    chains[i].push_back(node.function.value);
    cr_expect(sum_at(tree.total, i) == total[chains[i]]);
    cr_expect_eq(tree.self.at(i, kCpu), node.depth == 1 ? tree.total.at(i, kCpu) : 0);
    all_self += tree.self.at(i, kCpu);
  }
  cr_expect_eq(all_self, made.profile.kernel_cpu.count);
}

std::map<uint32_t, Sum> by_function(const std::vector<Neighbour>& rows) {
  std::map<uint32_t, Sum> sums;
  for (const Neighbour& row : rows) sums[row.function.value] = {row.metrics[kCpu], row.metrics[kSamples]};
  return sums;
}

void check_neighbours(const RandomProfile& made, bool inlines, const std::set<uint32_t>& wanted) {
  std::map<uint32_t, Sum> callers, callees, recursive;
  Sum total, self, repeated, elsewhere;
  const load::Samples& rows = made.profile.samples;
  const auto is_one = [&](const StackFrame& frame) { return wanted.count(frame.function.value) != 0; };
  for (size_t i = 0; i < rows.size(); ++i) {
    const Chain stack = test::stack_of(made, rows.path[i], inlines);
    const auto outermost = std::find_if(stack.begin(), stack.end(), is_one);
    if (outermost == stack.end()) {
      elsewhere.add(rows, i);
      continue;
    }
    total.add(rows, i);
    callers[outermost == stack.begin() ? UINT32_MAX : (outermost - 1)->function.value].add(rows, i);
    const auto innermost = std::find_if(stack.rbegin(), stack.rend(), is_one);
    if (innermost == stack.rbegin()) {
      self.add(rows, i);
    } else {
      callees[(innermost - 1)->function.value].add(rows, i);
    }
    if (std::count_if(stack.begin(), stack.end(), is_one) > 1) repeated.add(rows, i);
    std::set<uint32_t> again;
    for (auto frame = outermost + 1; frame != stack.end(); ++frame)
      if (is_one(*frame) && !is_one(*(frame - 1))) again.insert((frame - 1)->function.value);
    for (const uint32_t caller : again) recursive[caller].add(rows, i);
  }
  std::vector<FunctionId> functions;
  for (const uint32_t each : wanted) functions.push_back({each});
  const Neighbours got = neighbours(made.profile, made.symbols, everything(made).by_path, inlines, functions);
  const auto sum_of = [](const std::vector<uint64_t>& metrics) {
    return Sum{metrics[kCpu], metrics[kSamples]};
  };
  cr_expect(sum_of(got.total) == total);
  cr_expect(sum_of(got.self) == self);
  cr_expect(sum_of(got.repeated) == repeated);
  cr_expect(sum_of(got.elsewhere) == elsewhere);
  cr_expect(by_function(got.callers) == callers);
  cr_expect(by_function(got.callees) == callees);
  cr_expect(by_function(got.recursive_callers) == recursive);
}

}  // namespace

Test(analyze_reference, flat_views) {
  for (uint64_t seed = 0; seed < kReferenceSeeds; ++seed) {
    const RandomProfile made = test::random_profile(seed);
    for (const bool inlines : {true, false}) {
      check_flat(made, function_keys(made.profile, made.symbols, inlines));
      check_flat(made, line_keys(made.profile, made.symbols, inlines).sites);
    }
    check_flat(made, module_keys(made.profile));
  }
}

Test(analyze_reference, trees) {
  for (uint64_t seed = 0; seed < kReferenceSeeds; ++seed) {
    const RandomProfile made = test::random_profile(seed);
    for (const bool inlines : {true, false}) {
      check_call_tree(made, inlines);
      check_caller_tree(made, inlines);
    }
  }
}

Test(analyze_reference, neighbours_of_one_and_of_several) {
  for (uint64_t seed = 0; seed < kReferenceSeeds; ++seed) {
    const RandomProfile made = test::random_profile(seed);
    for (const bool inlines : {true, false}) {
      check_neighbours(made, inlines, {uint32_t(seed)});
      check_neighbours(made, inlines, {uint32_t(seed), uint32_t(seed + 3), uint32_t(seed + 7)});
    }
  }
}

/// A tree with a threshold is the whole tree without what lies below light nodes.
Test(analyze_reference, threshold_only_stops_growing) {
  for (uint64_t seed = 0; seed < kReferenceSeeds; ++seed) {
    const RandomProfile made = test::random_profile(seed, 3000);
    const PathTimes by_path = everything(made).by_path;
    for (const bool inlines : {true, false}) {
      const FunctionTree whole = call_tree(made.profile, made.symbols, by_path, inlines, 0);
      for (const uint64_t part : {10, 50, 200}) {
        const uint64_t least = made.profile.kernel_cpu.count / part;
        const FunctionTree cut = call_tree(made.profile, made.symbols, by_path, inlines, least);
        const auto heavy = [&](const FunctionTree& tree) {
          std::multiset<std::pair<uint64_t, uint64_t>> rows;
          for (uint32_t i = 1; i < tree.nodes.size(); ++i)
            if (tree.total.at(i, kCpu) >= least) rows.emplace(tree.total.at(i, kCpu), tree.self.at(i, kCpu));
          return rows;
        };
        cr_expect(heavy(whole) == heavy(cut));
        cr_expect_gt(heavy(cut).size(), 0);
        cr_expect_leq(cut.nodes.size(), whole.nodes.size());
      }
    }
  }
}

/// A tree with too many nodes becomes the one with the smallest of the raised thresholds that makes it fit.
Test(analyze_reference, a_limit_on_nodes_raises_the_threshold) {
  const RandomProfile made = test::random_profile(3);
  const auto small = [&](auto build) {
    const FunctionTree whole = build(uint64_t(0), kMostTreeNodes);
    cr_expect_eq(whole.threshold, 0);
    const size_t most = whole.nodes.size() / 2;
    const FunctionTree limited = build(uint64_t(0), most);
    cr_expect_gt(limited.threshold, 0);
    cr_expect_leq(limited.nodes.size(), most);
    const FunctionTree same = build(limited.threshold, kMostTreeNodes);
    cr_expect_eq(same.nodes.size(), limited.nodes.size());
    cr_expect_eq(build(uint64_t(0), 0).total.at(0, kCpu), made.profile.kernel_cpu.count);
  };
  small([&](uint64_t threshold, size_t most) {
    return call_tree(made.profile, made.symbols, everything(made).by_path, true, threshold, most);
  });
  small([&](uint64_t threshold, size_t most) {
    return caller_tree(made.profile, made.symbols, everything(made).by_path, true, threshold, most);
  });
}

/// The order of paths, and how far apart a path and its parent are, change nothing.
Test(analyze_reference, any_numbering_of_paths) {
  RandomProfile made = test::random_profile(9, 600);
  std::vector<uint32_t> order(made.profile.paths.size()), place(order.size());
  // By depth: every path is far from its parent.
  std::vector<size_t> depth(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    order[i] = i;
    if (i != 0) depth[i] = depth[made.profile.paths[i].parent.index()] + 1;
  }
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return depth[a] < depth[b]; });
  for (uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  std::vector<load::Path> paths;
  for (const uint32_t old : order) {
    load::Path path = made.profile.paths[old];
    if (old != 0) path.parent = {place[path.parent.index()]};
    paths.push_back(path);
  }
  made.profile.paths = paths;
  for (PathId& path : made.profile.samples.path) path = {place[path.index()]};
  check_flat(made, function_keys(made.profile, made.symbols, true));
  check_call_tree(made, true);
  check_caller_tree(made, true);
}
