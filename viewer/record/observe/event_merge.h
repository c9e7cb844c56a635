// SPDX-License-Identifier: MIT
// EventMerge: the events of several rings, each in the order of time, as one stream in the order of time. A
// ring that is read before another may lack an event that is older than those of the other, so the stream
// ends at a limit that its owner knows to be old enough.
// Context: viewer, one thread.
#pragma once

#include <algorithm>
#include <vector>

#include "viewer/record/observe/perf_ring.h"

namespace varve::record::observe {

class EventMerge {
 public:
  explicit EventMerge(size_t rings) : rings_(rings) {}

  /// The next event of a ring. An event that is earlier than the one before is given that one's time.
  void add(size_t ring, const RingEvent& event) {
    std::vector<RingEvent>& events = rings_[ring].events;
    events.push_back(event);
    rings_[ring].last = events.back().time = std::max(event.time, rings_[ring].last);
  }

  /// Hands out all events up to `limit`.
  template <typename Use>
  void take_until(Nanos limit, Use use) {
    heads_.clear();
    for (size_t ring = 0; ring < rings_.size(); ++ring) push_head(ring, limit);
    while (!heads_.empty()) {
      std::pop_heap(heads_.begin(), heads_.end(), later);
      size_t ring = heads_.back().ring;
      heads_.pop_back();
      use(rings_[ring].events[rings_[ring].next++]);
      push_head(ring, limit);
    }
    for (Ring& ring : rings_) {
      ring.events.erase(ring.events.begin(), ring.events.begin() + ptrdiff_t(ring.next));
      ring.next = 0;
    }
  }

 private:
  struct Ring {
    std::vector<RingEvent> events;
    size_t next = 0;  // not handed out yet
    Nanos last;
  };
  struct Head {
    Nanos time;
    size_t ring;
  };
  static bool later(const Head& a, const Head& b) {
    return a.time != b.time ? a.time > b.time : a.ring > b.ring;
  }

  void push_head(size_t ring, Nanos limit) {
    const Ring& queue = rings_[ring];
    if (queue.next == queue.events.size() || queue.events[queue.next].time > limit) return;
    heads_.push_back({queue.events[queue.next].time, ring});
    std::push_heap(heads_.begin(), heads_.end(), later);
  }

  std::vector<Ring> rings_;
  std::vector<Head> heads_;
};

}  // namespace varve::record::observe
