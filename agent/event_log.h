// SPDX-License-Identifier: MIT
// EventLog: records of moments in the life of a process that belong to no thread's samples, in chunks of
// their own: what the program said by varve.h, children that it reaped. Each kind has a log, and a most of
// bytes, so that none takes another's room or fills a disk. Context: any thread of the target, its signal
// handlers included: all signals are blocked while a log is held.
#pragma once

#include <cstdint>

#include "agent/signal/process_file.h"
#include "agent/signal/spin_lock.h"
#include "agent/signal_block.h"

namespace varve::agent {

class EventLog {
 public:
  /// Where a record of `size` bytes, a multiple of 8, may be written, all zero; null where there is no room,
  /// or no more is wanted. The log must be held until it is committed.
  uint8_t* begin_record(uint32_t size, uint64_t time_ns);
  void commit(uint32_t size, uint64_t time_ns);
  /// No more is wanted.
  bool is_full() const { return full_; }

  /// In the child of a fork: its file has no record yet, and a thread that was not copied may hold the log.
  void begin_anew();

 private:
  friend class EventGuard;
  bool have_room(uint32_t bytes, uint64_t time_ns);

  SpinLock lock_;
  Chunk chunk_;
  uint32_t bytes_ = 0;  // of its chunks
  bool full_ = false;
};

/// Holds a log.
class EventGuard {
 public:
  explicit EventGuard(EventLog& log) : log_(log) { log_.lock_.lock(); }
  ~EventGuard() { log_.lock_.unlock(); }
  EventGuard(const EventGuard&) = delete;
  EventGuard& operator=(const EventGuard&) = delete;

 private:
  SignalBlock signals_;  // before the lock is taken, until after it is free
  EventLog& log_;
};

}  // namespace varve::agent
