// SPDX-License-Identifier: MIT
// Attribution by one depth-first walk. A key's total grows where the walk enters it while it is not on the
// stack, by the subtree's time; so recursion counts once and no stack is ever written down. Context: viewer.
#include "viewer/analyze/attribute.h"

namespace varve::analyze {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

/// Children of every path as linked lists in two arrays: 8 bytes a path, and no order of the paths is assumed
/// beyond parents before children.
struct ChildLists {
  std::vector<uint32_t> first, next;

  explicit ChildLists(const std::vector<load::Path>& paths)
      : first(paths.size(), kNone), next(paths.size(), kNone) {
    for (size_t i = paths.size(); i-- > 1;) {
      const size_t parent = paths[i].parent.index();
      next[i] = first[parent];
      first[parent] = uint32_t(i);
    }
  }
};

class Walk {
 public:
  Walk(const std::vector<load::Path>& paths, const MetricTable& inclusive, const SiteKeys& keys,
       MetricTable& total)
      : paths_(paths), inclusive_(inclusive), keys_(keys), total_(total), on_stack_(keys.count) {}

  void run() {
    const ChildLists children(paths_);
    uint32_t at = 0;
    while (true) {
      uint32_t next = children.first[at];
      while (next == kNone && at != 0) {
        leave(at);
        next = children.next[at];
        at = paths_[at].parent.value;
      }
      if (next == kNone) return;
      at = next;
      enter(at);
    }
  }

 private:
  void enter(uint32_t path) {
    for (const uint32_t key : keys_.of(paths_[path].site)) {
      if (on_stack_[key]++ == 0) total_.add(key, inclusive_, path);
    }
  }
  void leave(uint32_t path) {
    for (const uint32_t key : keys_.of(paths_[path].site)) --on_stack_[key];
  }

  const std::vector<load::Path>& paths_;
  const MetricTable& inclusive_;
  const SiteKeys& keys_;
  MetricTable& total_;
  std::vector<uint32_t> on_stack_;
};

}  // namespace

void add_to_parents(const std::vector<load::Path>& paths, MetricTable& by_path) {
  for (size_t i = paths.size(); i-- > 1;) by_path.add(paths[i].parent.index(), by_path, i);
}

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
