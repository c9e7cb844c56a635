// SPDX-License-Identifier: MIT
// See event_log.h.
// Context: any thread of the target, its signal handlers included.
#include "agent/event_log.h"

#include <cstring>

#include "agent/signal/agent_state.h"

namespace varve::agent {
namespace {

constexpr uint32_t kFirstChunk = 1024;
constexpr uint32_t kLargestChunk = 64 * 1024;
/// A program that marks each of its steps must not fill the disk.
constexpr uint32_t kMostBytes = 1024 * 1024;

}  // namespace

bool EventLog::have_room(uint32_t bytes, uint64_t time_ns) {
  if (chunk_ && chunk_.room() >= bytes) return true;
  uint32_t size = chunk_ ? chunk_.header->capacity * 2 : kFirstChunk;
  if (size > kLargestChunk) size = kLargestChunk;
  if (bytes_ + size > kMostBytes) return full_ = true, false;
  Chunk next =
      agent_state.file.allocate(format::ChunkType::kMarks, exactly(size), format::kNoThread, time_ns);
  if (!next) return false;
  if (chunk_) {
    ProcessFile::seal(chunk_);
    agent_state.file.release(chunk_);
  }
  chunk_ = next;
  bytes_ += size;
  return true;
}

uint8_t* EventLog::begin_record(uint32_t size, uint64_t time_ns) {
  if (!have_room(size, time_ns)) return nullptr;
  std::memset(chunk_.end(), 0, size);
  return chunk_.end();
}

void EventLog::commit(uint32_t size, uint64_t time_ns) {
  chunk_.header->last_time_ns = time_ns;
  chunk_.commit(size);
}

void EventLog::begin_anew() {
  lock_.unlock();
  chunk_ = {};
  bytes_ = 0;
  full_ = false;
}

}  // namespace varve::agent
