// SPDX-License-Identifier: MIT
// Between who reads a library's unwind tables in place and who unloads libraries. dlclose waits for readers
// that were there before it; those that come while it runs read through the kernel (kernel_copy.h), several
// times as slow. Context: signal (Reading), the dlclose hook (Unloading).
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

#include "agent/signal/raw_syscall.h"

namespace varve::agent {

class UnloadGate {
 public:
  bool closed() const { return unloading_.load() != 0; }

  /// False: it is closed, and there is nothing to leave. Both sides write before they look, so one of them
  /// sees the other.
  bool enter() {
    readers_.fetch_add(1);
    if (!closed()) return true;
    leave();
    return false;
  }
  void leave() { readers_.fetch_sub(1); }

  /// Returns when nobody is within any more. A reader needs a microsecond, but may have lost the processor,
  /// or be held by a debugger: after so many pauses, by default for some 2 s, it is left to its luck.
  void close(int pauses = 20'000) {
    unloading_.fetch_add(1);
    timespec pause{0, 50'000};
    for (int i = 0; i < pauses && readers_.load() != 0; ++i) raw_syscall(__NR_nanosleep, as_arg(&pause));
  }
  void open() { unloading_.fetch_sub(1); }

  /// In a fork's child, where other threads that read are no more. One that was unloading leaves it closed,
  /// which is slow and safe.
  void forget_readers() { readers_.store(0); }

 private:
  std::atomic<uint32_t> readers_{0};
  std::atomic<uint32_t> unloading_{0};
};

inline constinit UnloadGate unload_gate __attribute__((visibility("hidden")));

/// From before the loader is asked for an object until its tables have been read.
class Reading {
 public:
  Reading() : in_place_(unload_gate.enter()) {}
  ~Reading() {
    if (in_place_) unload_gate.leave();
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  /// No dlclose can take what the loader names from now on; else it is to be copied.
  bool in_place() const { return in_place_; }

 private:
  const bool in_place_;
};

/// While libraries may go.
class Unloading {
 public:
  Unloading() { unload_gate.close(); }
  ~Unloading() { unload_gate.open(); }
  Unloading(const Unloading&) = delete;
  Unloading& operator=(const Unloading&) = delete;
};

}  // namespace varve::agent
