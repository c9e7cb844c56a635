// SPDX-License-Identifier: MIT
// See wait_rows.h.
// Context: viewer.
#include "viewer/load/wait_rows.h"

#include <algorithm>

#include "viewer/load/ledger.h"

namespace varve::load {

void WaitRows::add(const DecodedEvent& event, ThreadId thread, PathId path) {
  if (event.record == format::RecordKind::kRelease) {
    waits_.releases.push_back(
        {event.time_ns, event.duration_ns, event.object, thread, path, event.count, event.kind});
    return;
  }
  if (event.record == format::RecordKind::kCreation) {
    waits_.creations.push_back({event.time_ns, event.object, thread, path, event.kind, event.count != 0});
    return;
  }
  // As of weights: sums must not wrap.
  const uint64_t duration = std::min(event.duration_ns, kMostCpuNs - waited_ns_);
  waited_ns_ += duration;
  waits_.waits.push_back(
      {event.time_ns, duration, event.object, thread, path, std::max(event.count, 1u), event.kind});
  waits_.waits.back().timed_out = event.timed_out;
}

void WaitRows::adopt(const DecodedSamples& decoded) {
  using format::RecordKind;
  const size_t releases_end = decoded.waits.size() - decoded.creations;
  const size_t waits_end = releases_end - decoded.releases;
  for (size_t i = 0; i < decoded.waits.size(); ++i) {
    const format::DecodedWait& row = decoded.waits[i];
    const RecordKind record = i < waits_end      ? RecordKind::kWaitEvent
                              : i < releases_end ? RecordKind::kRelease
                                                 : RecordKind::kCreation;
    add({record, format::ObjectKind(row.kind & ~format::kDecodedTimedOut), row.count, row.time_ns, row.object,
         row.duration_ns, (row.kind & format::kDecodedTimedOut) != 0},
        {row.thread}, {row.path});
  }
}

}  // namespace varve::load
