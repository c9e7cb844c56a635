// SPDX-License-Identifier: MIT
// SampleTable: rows in the order they were read, then put in the order of Samples: by thread, then by time.
// Context: viewer, one thread.
#pragma once

#include <vector>

#include "viewer/load/decoded_file.h"
#include "viewer/load/ledger.h"
#include "viewer/load/profile.h"

namespace varve::load {

class SampleTable {
 public:
  /// Begins a run of samples of one thread; add() appends to it.
  void begin_run(ThreadId thread);
  void add(uint64_t time_ns, uint64_t weight_ns, PathId path) {
    time_.push_back(time_ns);
    weight_.push_back(weight_ns);
    paths_.push_back(path);
  }
  size_t size() const { return time_.size(); }
  /// Adds to the weight of a row, by its number in the order in which rows were added.
  void add_weight(size_t row, uint64_t weight_ns) { weight_[row] += weight_ns; }

  /// All rows at once, into an empty table.
  void adopt(DecodedSamples samples);

  /// Rows without a tick. They come after the samples were added.
  void add_ledger(const std::vector<LedgerRow>& rows);

  /// Moves all rows out, in order.
  Samples finish();

 private:
  struct Run {
    ThreadId thread;
    uint64_t first_time_ns;
    size_t first, count;
  };
  void close_run();
  void sort_runs();
  template <typename Column>
  Column gather(Column& column) const;
  static void sort_by_time(Samples& samples, size_t first, size_t end);

  std::vector<Run> runs_;
  std::vector<uint64_t> time_, weight_;
  std::vector<PathId> paths_;
  size_t sample_count_ = 0;  // rows below are samples, the others the ledger's
};

}  // namespace varve::load
