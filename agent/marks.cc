// SPDX-License-Identifier: MIT
// Marks and pauses of the program, as records of the agent's file. See varve.h for what they mean and marks.h
// for the rest.
// Context: any thread of the target, its signal handlers included.
#include "agent/marks.h"

#include <cstring>

#include "agent/event_log.h"
#include "agent/image.h"
#include "agent/real.h"
#include "agent/signal/agent_state.h"
#include "agent/signal/clock.h"

namespace varve::agent {
namespace {

using format::MarkKind;

constinit EventLog marks;

/// Bytes of a name that are kept: no part of a UTF-8 character at the end.
uint32_t kept_bytes(const char* name) {
  auto size = uint32_t(strnlen(name, format::kMostMarkNameBytes + 1));
  if (size <= format::kMostMarkNameBytes) return size;
  size = format::kMostMarkNameBytes;
  while (size > 0 && (uint8_t(name[size]) & 0xc0) == 0x80) --size;
  return size;
}

/// The log must be held.
void write_mark(MarkKind kind, const char* name, uint64_t time_ns) {
  uint32_t name_bytes = kept_bytes(name);
  uint32_t size = format::round_up(uint32_t(sizeof(format::MarkRecord)) + name_bytes + 1, 8);
  uint8_t* out = marks.begin_record(size, time_ns);
  if (!out) return count(format::Counter::kMarksLost);
  format::MarkRecord record{};
  record.header = {uint16_t(size), uint8_t(format::RecordKind::kMark), uint8_t(kind)};
  record.thread = current_block ? current_block->record->index : format::kNoThread;
  record.time_ns = time_ns;
  std::memcpy(out, &record, sizeof record);
  std::memcpy(out + sizeof record, name, name_bytes);
  marks.commit(size, time_ns);
}

bool can_be_told() { return in_recorded_process() && agent_state.state() != format::ControlState::kStopped; }

void pause_program(bool paused) {
  if (!can_be_told()) return;
  EventGuard guard(marks);
  if (agent_state.paused_by_program.exchange(paused, std::memory_order_relaxed) == paused) return;
  write_mark(paused ? MarkKind::kPause : MarkKind::kResume, "", monotonic_ns());
}

}  // namespace

void begin_marks_of_child() {
  marks.begin_anew();
  if (agent_state.paused_by_program.load(std::memory_order_relaxed))
    write_mark(MarkKind::kPause, "", monotonic_ns());
}

VARVE_HOOK void varve_agent_pause() { pause_program(true); }

VARVE_HOOK void varve_agent_resume() { pause_program(false); }

VARVE_HOOK void varve_agent_mark(const char* name) {
  if (!name || !*name || !can_be_told()) return;
  uint64_t now = monotonic_ns();
  EventGuard guard(marks);
  write_mark(MarkKind::kMark, name, now);
}

}  // namespace varve::agent
