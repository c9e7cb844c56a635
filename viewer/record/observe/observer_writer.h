// SPDX-License-Identifier: MIT
// ObserverWriter: the observer file of a profile, as common/FORMAT.md has it: threads (tracks), switches or
// sweeps, kinds of waits. It encodes and keeps the file valid at every instant; what the threads do is told
// to it by a source of run states. The first write that fails ends it: later calls do nothing, and the file
// stays what it was.
// Context: viewer, one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "common/observer_format.h"
#include "common/run_state.h"
#include "common/units.h"
#include "viewer/record/chunk_writer.h"
#include "viewer/record/observe/proc_text.h"
#include "viewer/record/observe/seen_file.h"
#include "viewer/record/observe/stack_walk.h"

namespace varve::record::observe {

/// What one thread did in the stretch of time that a sweep tells about.
struct SweepEntry {
  uint32_t track = 0;
  Nanos ran, ready;
  uint64_t switched_in = 0;
  uint32_t processor = 0;  // format::kUnknownProcessor where nobody looked
};

class ObserverWriter {
 public:
  /// Creates the file in `directory` (mode 0600, never an existing one). The error is a sentence.
  static tl::expected<std::unique_ptr<ObserverWriter>, std::string> create(int directory,
                                                                           const format::FileHeader& session);
  ~ObserverWriter();
  ObserverWriter(const ObserverWriter&) = delete;
  ObserverWriter& operator=(const ObserverWriter&) = delete;

  /// The caller fills in all but the record's header.
  void track(format::TrackRecord record, bool start_seen);
  void track_end(format::TrackEndRecord record);
  void wait(uint32_t track, Nanos time, WaitKind kind);
  void switches_lost(Nanos time, uint64_t count);

  /// A file that stacks lead through, before the first of them; `module` is the row of CodeFiles.
  void wait_module(uint32_t module, std::string_view path, std::span<const uint8_t> build_id);
  /// `named`: what its descriptor is has been told by wait_file().
  void wait_stack(uint32_t track, Nanos time, const SyscallLook& call, const SeenStack& stack, bool named);
  /// Before the look that it is of; `track` is one of the process.
  void wait_file(uint32_t track, Nanos time, const SeenFile& file);

  /// Events in the order of time. One that is earlier than the one before is given that one's time.
  void switch_event(Nanos time, uint32_t track, format::SwitchKind kind, uint32_t processor);

  /// Stretches follow each other: none begins before the end of the one before.
  void sweep(Nanos begin, Nanos length, std::span<const SweepEntry> entries);

  /// What was said so far survives the recorder from now on.
  void flush(Nanos now);
  /// Flushes, seals, and gives unused space back.
  void finish(Nanos now);

  bool failed() const { return error_ != 0; }
  int error() const { return error_; }  // errno of the write that failed

 private:
  ObserverWriter(int descriptor, uint64_t offset) : descriptor_(descriptor), chunks_(descriptor, offset, 0) {}

  bool make_room(size_t bytes);
  void add(const void* record, size_t size);
  template <typename Record>
  void add_record(Record record, format::RecordKind kind, uint8_t flags);
  void close_switches();

  int descriptor_;
  ChunkWriter chunks_;
  Nanos position_;  // where the deltas of the chunk have got to: nothing earlier is encoded any more
  std::vector<uint8_t> switches_;  // a record being filled; empty: none
  int error_ = 0;
};

}  // namespace varve::record::observe
