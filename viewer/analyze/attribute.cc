// SPDX-License-Identifier: MIT
// Attribution by one walk over the paths in the order of their numbers, with the keys of the present path on
// a stack and the sum of all time met so far. A key's total loses that sum where the walk enters the key
// while it is not on the stack, and gains it where the walk leaves it for good; so recursion counts once and
// no stack is ever written down. A path that is not below the last one costs a climb to their common
// ancestor: in the order in which samples came that is what the two samples do not share, and memory is read
// forwards, which makes this several times as fast as a depth-first walk by lists of children. Any range of
// paths can be walked on its own, so several threads share the work; sums of integers do not care. Context:
// viewer.
#include "viewer/analyze/attribute.h"

#include <algorithm>
#include <thread>

#include "viewer/analyze/paths.h"

namespace varve::analyze {
namespace {

/// A thread is worth starting for this many paths: some ten milliseconds of work.
constexpr size_t kPathsPerThread = 500'000;
constexpr size_t kMostThreads = 8;

class Walk {
 public:
  Walk(const std::vector<load::Path>& paths, const PathTimes& by_path, const SiteKeys& keys)
      : total_(keys.count + 1, by_path.width()),
        paths_(paths),
        by_path_(by_path),
        keys_(keys),
        sum_(by_path.width()),
        on_stack_(keys.count),
        open_(paths.size()) {
    open_[0] = true;
    stack_.push_back(0);
  }

  /// The time of paths [first, end).
  void run(uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; ++i) {
      const uint32_t parent = paths_[i].parent.value;
      if (parent != stack_.back()) move_to(parent);
      push(i);
      const auto own = by_path_.row(i);
      for (size_t k = 0; k < sum_.size(); ++k) sum_[k] += own[k];
    }
    while (stack_.size() > 1) pop();
  }

  MetricTable total() && { return std::move(total_); }

 private:
  void push(uint32_t path) {
    for (const uint32_t key : keys_.of(paths_[path].site))
      if (on_stack_[key]++ == 0) total_.subtract(key, sum_);
    stack_.push_back(path);
    open_[path] = true;
  }

  void pop() {
    const uint32_t path = stack_.back();
    for (const uint32_t key : keys_.of(paths_[path].site))
      if (--on_stack_[key] == 0) total_.add(key, sum_);
    stack_.pop_back();
    open_[path] = false;
  }

  /// Makes `path` the top of the stack.
  void move_to(uint32_t path) {
    climb_.clear();
    for (uint32_t up = path; !open_[up]; up = paths_[up].parent.value) climb_.push_back(up);
    const uint32_t common = climb_.empty() ? path : paths_[climb_.back()].parent.value;
    while (stack_.back() != common) pop();
    for (; !climb_.empty(); climb_.pop_back()) push(climb_.back());
  }

  MetricTable total_;
  const std::vector<load::Path>& paths_;
  const PathTimes& by_path_;
  const SiteKeys& keys_;
  std::vector<uint64_t> sum_;       // of the paths the walk has met
  std::vector<uint32_t> on_stack_;  // how often each key is on the stack
  std::vector<bool> open_;          // whether each path is on the stack
  std::vector<uint32_t> stack_, climb_;
};

MetricTable walk_range(const std::vector<load::Path>& paths, const PathTimes& by_path, const SiteKeys& keys,
                       uint32_t first, uint32_t end) {
  Walk walk(paths, by_path, keys);
  walk.run(first, end);
  return std::move(walk).total();
}

/// Most paths are on the way to a sample and have no time of their own.
MetricTable self_times(const std::vector<load::Path>& paths, const PathTimes& by_path, const SiteKeys& keys) {
  MetricTable self(keys.count + 1, by_path.width());
  self.add(keys.count, by_path.row(0));
  for (size_t i = 1; i < paths.size(); ++i) {
    if (!by_path.zero(i)) self.add(keys.of(paths[i].site).back(), by_path.row(i));
  }
  return self;
}

}  // namespace

Flat attribute(const std::vector<load::Path>& paths, const PathTimes& by_path, const SiteKeys& keys) {
  Flat flat{MetricTable(keys.count + 1, by_path.width()), MetricTable(keys.count + 1, by_path.width())};
  if (paths.empty()) return flat;
  flat.self = self_times(paths, by_path, keys);
  flat.total.add(keys.count, by_path.row(0));

  const size_t wanted = std::clamp<size_t>(paths.size() / kPathsPerThread, 1, kMostThreads);
  const size_t count = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, wanted);
  std::vector<MetricTable> parts(count);
  std::vector<std::jthread> threads;
  for (size_t t = 0; t < count; ++t) {
    const auto first = uint32_t(1 + (paths.size() - 1) * t / count);
    const auto end = uint32_t(1 + (paths.size() - 1) * (t + 1) / count);
    const auto work = [&, t, first, end] { parts[t] = walk_range(paths, by_path, keys, first, end); };
    if (t + 1 == count) {
      work();
    } else {
      threads.emplace_back(work);
    }
  }
  threads.clear();
  for (const MetricTable& part : parts) {
    for (size_t i = 0; i <= keys.count; ++i) flat.total.add(i, part, i);
  }
  return flat;
}

}  // namespace varve::analyze
