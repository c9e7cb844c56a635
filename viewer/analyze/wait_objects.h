// SPDX-License-Identifier: MIT
// WaitObjects: what threads waited for, each object with the sum of its waits by band, and who had it or
// ended the waits. An object is known by its process, kind and address. Context: viewer.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "viewer/analyze/object_key.h"
#include "viewer/analyze/wait_sums.h"

namespace varve::analyze {

/// A thread that others waited for, at one place of the program: where it released the object.
struct Holder {
  ThreadId thread;
  PathId path;             // of its releases
  uint64_t caused_ns = 0;  // of waits, while it was the next to release
  uint64_t releases = 0;
  uint32_t most_waiters = 0;
};

/// What no holder caused.
enum class Uncaused : uint8_t {
  kTimedOut,      // the wait ended by itself
  kAfterRelease,  // until the thread that was let go on did
  kCounted,       // short waits, and those beyond what a process may write: they were only added up
  kUnseen,        // nobody was seen to end the wait
  kCount
};

struct WaitObject : WaitSum {
  ObjectKey key;
  uint32_t number = 0;                                           // of object_numbers()
  bool is_file = false;                                          // on a disk: who waits for it waits for that
  std::array<uint64_t, size_t(Uncaused::kCount)> uncaused_ns{};  // and what holders caused are wait_ns
  PathId first{0};                // of the first wait with a stack; path 0: none has one
  std::vector<Holder> holders;    // by the time they caused, the largest first
  std::vector<uint32_t> counted;  // rows of the counted waits
};

/// By poorly used time, then by all, the largest first. `counted` are waits of the range that pass a filter.
/// Their times are those in the bands `chosen`; of these and of the range holders have what they caused, and
/// of the range their releases.
std::vector<WaitObject> wait_objects(const load::Profile& profile, TimeRange range,
                                     const Concurrency& concurrency, const std::vector<CountedWait>& counted,
                                     const BandSet& chosen = kAllBands);

/// Those of the counted waits whose thread, process, module, function and object pass.
std::vector<CountedWait> waits_that_pass(const load::Profile& profile, const symbol::SymbolTable& symbols,
                                         const Filter& filter, const std::vector<CountedWait>& counted);

}  // namespace varve::analyze
