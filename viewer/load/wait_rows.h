// SPDX-License-Identifier: MIT
// WaitRows: events of threads as rows of Waits, in the order in which they come. Context: viewer, one thread.
#pragma once

#include "viewer/load/decoded_file.h"
#include "viewer/load/sample_decoder.h"
#include "viewer/load/waits.h"

namespace varve::load {

class WaitRows {
 public:
  /// `waits` outlives this.
  explicit WaitRows(Waits& waits) : waits_(waits) {}

  /// A wait, a release or a creation.
  void add(const DecodedEvent& event, ThreadId thread, PathId path);
  /// All of a file that holds them decoded already.
  void adopt(const DecodedSamples& decoded);

 private:
  Waits& waits_;
  uint64_t waited_ns_ = 0;  // sum of the waits added so far
};

}  // namespace varve::load
