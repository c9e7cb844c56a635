// SPDX-License-Identifier: MIT
// SessionWriter: the session file of a run. It holds the control block that every agent maps, and, as text,
// what is known about the run. Valid at every instant: a record counts only once the chunk's `used` says so.
// Not a reader (viewer/load) and not the source of the facts (host_facts.h, supervisor.h).
// Context: viewer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "common/file_format.h"
#include "common/units.h"
#include "common/wait_format.h"
#include "viewer/record/chunk_writer.h"
#include "viewer/record/control_state.h"

namespace varve::record {

/// What the agents read from the control block.
struct AgentSettings {
  Nanos interval{10'000'000};
  uint32_t stack_depth = 1024;  // frames
  bool follow = true;
  bool delayed = false;                       // begin without samples (--delay)
  bool events = false;                        // ticks come from events, not from CPU timers
  bool events_at_once = false;                // ... from each thread's start on
  bool events_in_step = false;                // ... only of threads that may be in step with the scheduler
  Nanos wait_min{format::kDefaultWaitMinNs};  // waits as long as this have a stack; zero: none is recorded
  uint32_t tried_filters = 0;                 // filter_trial.h
};

class SessionWriter {
 public:
  SessionWriter(SessionWriter&& other) noexcept;
  SessionWriter& operator=(SessionWriter&&) = delete;
  ~SessionWriter();

  /// Creates the file in `directory` (mode 0600, never an existing one) and locks it for as long as this
  /// object lives: that is how others know that the profile is still being recorded.
  static tl::expected<SessionWriter, std::string> create(int directory, const AgentSettings& settings);

  /// Appends a record. False: no room on the disk; what was written before stays valid.
  bool text(std::string_view key, std::string_view value);
  bool process_exit(format::ProcessExitRecord record);

  /// The state that the agents obey; other processes may change it at any time.
  ControlPages control() const { return {control_page_}; }

  /// Gives the last chunk its checksum; nothing is written after that.
  void seal();

  Nanos start_time() const { return {header_.start_monotonic_ns}; }  // CLOCK_MONOTONIC
  /// What other files of the run take their session id from.
  const format::FileHeader& header() const { return header_; }

 private:
  explicit SessionWriter(int descriptor);

  tl::expected<void, std::string> begin(const AgentSettings& settings);
  bool append(const void* bytes, size_t size);

  int descriptor_ = -1;
  void* control_page_ = nullptr;  // the file's first two pages, shared with the agents
  format::FileHeader header_;
  ChunkWriter chunks_;
};

}  // namespace varve::record
