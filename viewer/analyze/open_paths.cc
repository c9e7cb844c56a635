// SPDX-License-Identifier: MIT
// A node of the call tree is a chain of functions. How heavy a chain can be at the most is known before there
// is a tree: a first walk adds up the time of all chains by their hashes, in a table small enough for the
// processor's caches, where chains that meet only seem heavier than they are. A second walk follows chains
// that may be heavy and leaves the others closed. Context: viewer.
#include "viewer/analyze/open_paths.h"

#include <algorithm>
#include <bit>

#include "viewer/analyze/path_walk.h"
#include "viewer/analyze/path_workers.h"
#include "viewer/analyze/site_keys.h"
#include "viewer/load/intern_table.h"

namespace varve::analyze {
namespace {

/// Sixteen slots a path, so that few chains meet; at most eight megabytes of sums: ten million stacks of
/// twenty-four unlike calls each put 0.002 % of the time into each, where screens ask for nodes of 0.05 %.
class Slots {
 public:
  explicit Slots(size_t paths) : bits_(std::clamp(unsigned(std::bit_width(paths)) + 4, 8u, 20u)) {}

  size_t count() const { return size_t{1} << bits_; }
  size_t of(uint64_t hash) const { return hash >> (64 - bits_); }

 private:
  unsigned bits_;
};

/// The frames of each site as the call tree tells them apart.
SiteKeys frame_keys(const load::Profile& profile, const symbol::SymbolTable& symbols, bool inlines) {
  SiteKeys result{{0}, {}, 2 * symbols.functions.size()};
  for (uint32_t i = 0; i < profile.sites.size(); ++i) {
    const auto frames = counted_frames(symbols, {i}, inlines);
    for (size_t j = frames.size(); j-- > 0;)
      result.keys.push_back(frames[j].function.value << 1 | uint32_t(inlines && frames[j].inlined));
    result.first.push_back(uint32_t(result.keys.size()));
  }
  return result;
}

/// Of a chain with one frame more: the same however frames are divided among sites.
uint64_t extend(uint64_t hash, uint32_t key) { return load::spread(hash + key + 1); }

/// A visitor: the time of all chains, by slot.
struct ChainTimes {
  const std::vector<load::Path>& paths;
  const SiteKeys& keys;
  struct Frame {
    uint64_t hash, sum_before;
  };
  Slots slots{paths.size()};
  std::vector<uint64_t> by_slot = std::vector<uint64_t>(slots.count());
  std::vector<Frame> stack = {{1, 0}};
  uint64_t sum = 0;

  void enter(uint32_t path) {
    for (const uint32_t key : keys.of(paths[path].site))
      stack.push_back({extend(stack.back().hash, key), sum});
  }
  void at(uint32_t, std::span<const uint64_t> numbers) { sum += numbers[kCpu]; }
  void leave(uint32_t path) {
    for (size_t frames = keys.of(paths[path].site).size(); frames > 0; --frames) {
      by_slot[slots.of(stack.back().hash)] += sum - stack.back().sum_before;
      stack.pop_back();
    }
  }
};

/// The slots whose chains may be worth `threshold` ns.
std::vector<bool> heavy_slots(const std::vector<load::Path>& paths, const PathTimes& by_path,
                              const SiteKeys& keys, uint64_t threshold) {
  std::vector<bool> heavy(Slots(paths.size()).count(), threshold == 0);
  if (threshold == 0) return heavy;
  std::vector<ChainTimes> parts(workers_for(by_path), ChainTimes{paths, keys});
  share_paths(by_path, parts.size(), [&](size_t part, size_t first, size_t end) {
    walk_paths(paths, by_path, first, end, parts[part]);
  });
  for (size_t slot = 0; slot < heavy.size(); ++slot) {
    uint64_t sum = 0;
    for (const ChainTimes& part : parts) sum += part.by_slot[slot];
    heavy[slot] = sum >= threshold;
  }
  return heavy;
}

/// A visitor: the paths whose parents' chains are heavy, and for each path with time the last of those on its
/// stack.
struct Opener {
  const std::vector<load::Path>& paths;
  const SiteKeys& keys;
  const std::vector<bool>& heavy;
  PathSet open;
  Slots slots{paths.size()};
  struct Place {
    uint64_t hash;
    uint32_t last_open;
    bool goes_on;
  };
  std::vector<Place> stack = {{1, 0, true}};
  std::vector<uint32_t> last_open = {};  // of paths with time, in their order

  void enter(uint32_t path) {
    Place place = stack.back();
    if (place.goes_on) {
      open.insert(path);
      for (const uint32_t key : keys.of(paths[path].site)) place.hash = extend(place.hash, key);
      place.last_open = path;
      place.goes_on = heavy[slots.of(place.hash)];
    }
    stack.push_back(place);
  }
  void at(uint32_t, std::span<const uint64_t>) { last_open.push_back(stack.back().last_open); }
  void leave(uint32_t) { stack.pop_back(); }
};

/// The members of `open` as a tree of their own.
std::vector<load::Path> paths_of(const std::vector<load::Path>& paths, const PathSet& open) {
  std::vector<load::Path> own;
  own.reserve(open.size());
  open.for_each(0, open.paths(), [&](uint32_t path, uint32_t) {
    const load::Path& old = paths[path];
    own.push_back(path == 0 ? old : load::Path{{open.rank(old.parent.index())}, old.site});
  });
  return own;
}

}  // namespace

OpenPaths open_paths(const load::Profile& profile, const symbol::SymbolTable& symbols,
                     const PathTimes& by_path, bool inlines, uint64_t threshold) {
  const SiteKeys keys = frame_keys(profile, symbols, inlines);
  const std::vector<bool> heavy = heavy_slots(profile.paths, by_path, keys, threshold);
  const size_t workers = workers_for(by_path);
  std::vector<Opener> parts(workers, Opener{profile.paths, keys, heavy, PathSet(profile.paths.size())});
  share_paths(by_path, workers, [&](size_t part, size_t first, size_t end) {
    walk_paths(profile.paths, by_path, first, end, parts[part]);
  });

  PathSet open = std::move(parts[0].open);
  for (const Opener& part : std::span(parts).subspan(1)) open.insert(part.open);
  open.insert(0);
  open.close();
  OpenPaths result{paths_of(profile.paths, open), MetricTable(open.size(), by_path.width())};
  for (size_t i = 0; i < workers; ++i) {
    auto last = parts[i].last_open.begin();
    by_path.for_each(by_path.with().part(i, workers), by_path.with().part(i + 1, workers),
                     [&](uint32_t, std::span<const uint64_t> numbers) {
                       result.inclusive.add(open.rank(*last++), numbers);
                     });
  }
  for (size_t i = open.size(); i-- > 1;)
    result.inclusive.add(result.paths[i].parent.index(), result.inclusive, i);
  return result;
}

}  // namespace varve::analyze
