// SPDX-License-Identifier: MIT
// Attribution by one walk over the paths with time. A key is entered where the walk enters a path of it while
// the key is not on the stack, and gets what was met since where the walk leaves that path; so recursion
// counts once. Ranges of paths are walked by several threads; sums of integers do not care. Context: viewer.
#include "viewer/analyze/attribute.h"

#include <algorithm>

#include "viewer/analyze/path_walk.h"
#include "viewer/analyze/path_workers.h"

namespace varve::analyze {
namespace {

class Totals {
 public:
  Totals(const std::vector<load::Path>& paths, const SiteKeys& keys, size_t width)
      : table_(keys.count + 1, width), paths_(paths), keys_(keys), sums_(width), on_stack_(keys.count) {}

  void enter(uint32_t path) {
    sums_.enter();
    size_t entered = 0;
    for (const uint32_t key : keys_.of(paths_[path].site)) {
      if (on_stack_[key]) continue;
      on_stack_[key] = true;
      entered_.push_back(key);
      ++entered;
    }
    counts_.push_back(entered);
  }
  void at(uint32_t, std::span<const uint64_t> numbers) { sums_.add(numbers); }
  void leave(uint32_t) {
    const auto numbers = sums_.leave();
    for (size_t i = counts_.back(); i > 0; --i) {
      table_.add(entered_.back(), numbers);
      on_stack_[entered_.back()] = false;
      entered_.pop_back();
    }
    counts_.pop_back();
  }

  const MetricTable& table() const { return table_; }

 private:
  MetricTable table_;
  const std::vector<load::Path>& paths_;
  const SiteKeys& keys_;
  OpenSums sums_;
  std::vector<uint8_t> on_stack_;  // by key
  std::vector<uint32_t> entered_;  // keys by the paths on the stack that brought them
  std::vector<size_t> counts_;     // how many of those, by path on the stack
};

MetricTable self_times(const std::vector<load::Path>& paths, const PathTimes& by_path, const SiteKeys& keys) {
  MetricTable self(keys.count + 1, by_path.width());
  by_path.for_each([&](uint32_t path, std::span<const uint64_t> numbers) {
    self.add(path == 0 ? keys.count : keys.of(paths[path].site).back(), numbers);
  });
  return self;
}

}  // namespace

Flat attribute(const std::vector<load::Path>& paths, const PathTimes& by_path, const SiteKeys& keys) {
  Flat flat{MetricTable(keys.count + 1, by_path.width()), MetricTable(keys.count + 1, by_path.width())};
  if (paths.empty()) return flat;
  flat.self = self_times(paths, by_path, keys);
  flat.total.add(keys.count, by_path.row(0));
  std::vector<Totals> parts(workers_for(by_path), Totals(paths, keys, by_path.width()));
  share_paths(by_path, parts.size(), [&](size_t part, size_t first, size_t end) {
    walk_paths(paths, by_path, first, end, parts[part]);
  });
  for (const Totals& part : parts)
    for (size_t i = 0; i <= keys.count; ++i) flat.total.add(i, part.table(), i);
  return flat;
}

}  // namespace varve::analyze
