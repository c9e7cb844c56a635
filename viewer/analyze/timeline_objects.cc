// SPDX-License-Identifier: MIT
// See timeline_objects.h.
// Context: viewer.
#include "viewer/analyze/timeline_objects.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace varve::analyze {
namespace {

class Collector {
 public:
  Collector(const load::Profile& profile, const Timeline& line)
      : profile_(profile), line_(line), times_(line.slices), objects_(line.slices, kNoObject) {
    found_.of.assign(line.states.size(), kNoObject);
  }

  TimelineObjects run() {
    for (size_t row = 0; row < line_.threads.size(); ++row) add_thread(row);
    sort_by_use();
    return std::move(found_);
  }

 private:
  void add_thread(size_t row) {
    const auto& waits = profile_.waits.waits;
    auto wait = std::ranges::lower_bound(waits, line_.threads[row], {}, &load::Wait::thread);
    std::ranges::fill(times_, 0);
    for (; wait != waits.end() && wait->thread == line_.threads[row]; ++wait) {
      const uint32_t object = number_of(key_of(profile_, *wait));
      for_each_slice(line_, {wait->begin_ns(), wait->end_ns}, [&](size_t slice, TimeRange part) {
        if (part.length() <= times_[slice]) return;
        times_[slice] = part.length();
        objects_[slice] = object;
      });
    }
    for (size_t slice = 0; slice < line_.slices; ++slice) {
      const size_t at = row * line_.slices + slice;
      if (times_[slice] == 0 || line_.states[at].state != RunState::kBlocked) continue;
      found_.of[at] = objects_[slice];
      ++slices_[objects_[slice]];
    }
  }

  uint32_t number_of(const ObjectKey& key) {
    const auto [known, fresh] = numbers_.try_emplace(key, uint32_t(found_.objects.size()));
    if (fresh) found_.objects.push_back(key), slices_.push_back(0);
    return known->second;
  }

  void sort_by_use() {
    std::vector<uint32_t> order(found_.objects.size()), place(order.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, std::greater(), [&](uint32_t i) { return slices_[i]; });
    std::vector<ObjectKey> sorted;
    for (uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      sorted.push_back(found_.objects[order[i]]);
    }
    found_.objects = std::move(sorted);
    for (uint32_t& object : found_.of)
      if (object != kNoObject) object = place[object];
  }

  const load::Profile& profile_;
  const Timeline& line_;
  TimelineObjects found_;
  std::map<ObjectKey, uint32_t> numbers_;
  std::vector<uint64_t> slices_;   // by object: how many are of it
  std::vector<uint64_t> times_;    // of a thread, by slice: the longest wait in it
  std::vector<uint32_t> objects_;  // likewise: for what
};

}  // namespace

TimelineObjects timeline_objects(const load::Profile& profile, const Timeline& line) {
  return Collector(profile, line).run();
}

}  // namespace varve::analyze
