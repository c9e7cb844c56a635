// SPDX-License-Identifier: MIT
// Marks and pauses of the program, as records of the agent's file. See varve.h for what they mean and marks.h
// for the rest.
// Context: any thread of the target, its signal handlers included: all signals are blocked while the log is
// held.
#include "agent/marks.h"

#include <cstring>

#include "agent/image.h"
#include "agent/real.h"
#include "agent/signal/agent_state.h"
#include "agent/signal/clock.h"
#include "agent/signal_block.h"

namespace varve::agent {
namespace {

using format::MarkKind;

constexpr uint32_t kFirstChunk = 1024;
constexpr uint32_t kLargestChunk = 64 * 1024;
/// A program that marks each of its steps must not fill the disk.
constexpr uint32_t kMostBytes = 1024 * 1024;

struct MarkLog {
  SpinLock lock;
  Chunk chunk;
  uint32_t bytes = 0;  // of its chunks
};
constinit MarkLog marks;

class MarkGuard {
 public:
  MarkGuard() { marks.lock.lock(); }
  ~MarkGuard() { marks.lock.unlock(); }
  MarkGuard(const MarkGuard&) = delete;
  MarkGuard& operator=(const MarkGuard&) = delete;

 private:
  SignalBlock signals_;
};

/// Makes room for one record. False: there is none, or no more is wanted.
bool have_room(uint32_t bytes, uint64_t time_ns) {
  if (marks.chunk && marks.chunk.room() >= bytes) return true;
  uint32_t size = marks.chunk ? marks.chunk.header->capacity * 2 : kFirstChunk;
  if (size > kLargestChunk) size = kLargestChunk;
  if (marks.bytes + size > kMostBytes) return false;
  Chunk next =
      agent_state.file.allocate(format::ChunkType::kMarks, exactly(size), format::kNoThread, time_ns);
  if (!next) return false;
  if (marks.chunk) {
    ProcessFile::seal(marks.chunk);
    agent_state.file.release(marks.chunk);
  }
  marks.chunk = next;
  marks.bytes += size;
  return true;
}

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
  if (!have_room(size, time_ns)) return count(format::Counter::kMarksLost);
  format::MarkRecord record{};
  record.header = {uint16_t(size), uint8_t(format::RecordKind::kMark), uint8_t(kind)};
  record.thread = current_block ? current_block->record->index : format::kNoThread;
  record.time_ns = time_ns;
  uint8_t* out = marks.chunk.end();
  std::memset(out, 0, size);
  std::memcpy(out, &record, sizeof record);
  std::memcpy(out + sizeof record, name, name_bytes);
  marks.chunk.header->last_time_ns = time_ns;
  marks.chunk.commit(size);
}

bool can_be_told() { return in_recorded_process() && agent_state.state() != format::ControlState::kStopped; }

void pause_program(bool paused) {
  if (!can_be_told()) return;
  MarkGuard guard;
  if (agent_state.paused_by_program.exchange(paused, std::memory_order_relaxed) == paused) return;
  write_mark(paused ? MarkKind::kPause : MarkKind::kResume, "", monotonic_ns());
}

}  // namespace

void begin_marks_of_child() {
  marks.lock.unlock();  // a thread that the fork did not copy may have held it
  marks.chunk = {};
  marks.bytes = 0;
  if (agent_state.paused_by_program.load(std::memory_order_relaxed))
    write_mark(MarkKind::kPause, "", monotonic_ns());
}

VARVE_HOOK void varve_agent_pause() { pause_program(true); }

VARVE_HOOK void varve_agent_resume() { pause_program(false); }

VARVE_HOOK void varve_agent_mark(const char* name) {
  if (!name || !*name || !can_be_told()) return;
  uint64_t now = monotonic_ns();
  MarkGuard guard;
  write_mark(MarkKind::kMark, name, now);
}

}  // namespace varve::agent
