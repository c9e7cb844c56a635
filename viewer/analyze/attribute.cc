// SPDX-License-Identifier: MIT
// Attribution by one walk over the paths in the order of their numbers, with the keys of the present path on
// a stack. A key's total grows where the walk enters it while it is not on the stack, by the subtree's time;
// so recursion counts once and no stack is ever written down. A path that is not below the last one costs a
// climb to their common ancestor: in the order in which samples came that is what the two samples do not
// share, and memory is read forwards, which makes this several times as fast as a depth-first walk by lists
// of children. Context: viewer.
#include "viewer/analyze/attribute.h"

#include "viewer/analyze/paths.h"

namespace varve::analyze {
namespace {

class Walk {
 public:
  Walk(const std::vector<load::Path>& paths, const MetricTable& inclusive, const SiteKeys& keys,
       MetricTable& total)
      : paths_(paths),
        inclusive_(inclusive),
        keys_(keys),
        total_(total),
        on_stack_(keys.count),
        open_(paths.size()) {
    open_[0] = true;
    stack_.push_back(0);
  }

  void run() {
    for (uint32_t i = 1; i < paths_.size(); ++i) {
      const uint32_t parent = paths_[i].parent.value;
      if (parent != stack_.back()) move_to(parent);
      for (const uint32_t key : keys_.of(paths_[i].site)) {
        if (on_stack_[key]++ == 0) total_.add(key, inclusive_, i);
      }
      stack_.push_back(i);
      open_[i] = true;
    }
  }

 private:
  /// Makes `path` the top of the stack.
  void move_to(uint32_t path) {
    climb_.clear();
    for (; !open_[path]; path = paths_[path].parent.value) climb_.push_back(path);
    for (; stack_.back() != path; stack_.pop_back()) {
      open_[stack_.back()] = false;
      for (const uint32_t key : keys_.of(paths_[stack_.back()].site)) --on_stack_[key];
    }
    for (; !climb_.empty(); climb_.pop_back()) {
      const uint32_t next = climb_.back();
      for (const uint32_t key : keys_.of(paths_[next].site)) ++on_stack_[key];
      stack_.push_back(next);
      open_[next] = true;
    }
  }

  const std::vector<load::Path>& paths_;
  const MetricTable& inclusive_;
  const SiteKeys& keys_;
  MetricTable& total_;
  std::vector<uint32_t> on_stack_;  // how often each key is on the stack
  std::vector<bool> open_;          // whether each path is on the stack
  std::vector<uint32_t> stack_, climb_;
};

}  // namespace

Flat attribute(const std::vector<load::Path>& paths, MetricTable by_path, const SiteKeys& keys) {
  Flat flat{MetricTable(keys.count + 1, by_path.width()), MetricTable(keys.count + 1, by_path.width())};
  if (paths.empty()) return flat;
  flat.self.add(keys.count, by_path, 0);
  flat.total.add(keys.count, by_path, 0);
  for (size_t i = 1; i < paths.size(); ++i) flat.self.add(keys.of(paths[i].site).back(), by_path, i);
  add_to_parents(paths, by_path);
  Walk(paths, by_path, keys, flat.total).run();
  return flat;
}

}  // namespace varve::analyze
