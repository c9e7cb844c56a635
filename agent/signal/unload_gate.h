// SPDX-License-Identifier: MIT
// Between who reads a library's unwind tables in place and who unloads libraries. dlclose waits for readers
// that were there before it; those that come while it runs read through the kernel (kernel_copy.h), ten times
// as slow. Context: signal (Reading), the dlclose hook (Unloading).
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

#include "agent/signal/raw_syscall.h"

namespace varve::agent {

class UnloadGate {
 public:
  bool closed() const { return unloading_.load() != 0; }
  void enter() { readers_.fetch_add(1); }
  void leave() { readers_.fetch_sub(1); }

  /// Returns when nobody reads in place any more, or after as many pauses, by default for some 0.1 s: a
  /// reader may be stopped by a debugger.
  void close(int pauses = 1000) {
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
  Reading() { unload_gate.enter(); }
  ~Reading() { unload_gate.leave(); }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
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
