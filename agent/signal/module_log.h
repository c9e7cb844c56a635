// SPDX-License-Identifier: MIT
// ModuleLog: which files are mapped where and when, the program's own at once and others when a stack first
// leads through them. There is no hook on dlopen: its search path depends on who calls it, and a wrapper
// would be the caller. So the unwinder's lookups report every module they meet; only unloading is told by a
// hook (dlclose), by checking who is still there. Context: signal (note), agent start and dlclose hook (the
// others, with SIGPROF blocked).
#pragma once

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdint>

#include "agent/signal/elf_image.h"
#include "agent/signal/process_file.h"
#include "agent/signal/spin_lock.h"

namespace varve::agent {

class ModuleLog {
 public:
  /// The program itself: its link map has no path, and its headers need not stand at the start of the mapping
  /// that a lookup returns (a non-contiguous one is returned segment by segment), so both come from the
  /// auxiliary vector.
  struct Program {
    const char* path = nullptr;
    ProgramHeaders headers;
  };

  /// `counters` is where refused records are counted.
  void start(ProcessFile& file, format::CountersRecord& counters, const Program& program, uint64_t time_ns);

  /// After fork: begins again with nothing known.
  void reset();

  /// kNot: the log was busy, or the module went, or it has the place of one that went unnoticed; what was
  /// looked up must be looked up again.
  enum class Noted { kNot, kWithTables, kWithoutTables };  // of unwind information (has_frame_tables())
  /// Records the module of a lookup result unless it is known. Cheap when it is: one probe of a table.
  Noted note(const dl_find_object& found);

  /// Records `copy`, a second mapping of what the loader mapped at `origin`, in the object `found`. False:
  /// the log was busy or the object went.
  bool note_copy(const dl_find_object& found, CodeRange copy, uint64_t origin);

  /// The copy that begins at `start` is mapped no more.
  void note_gone(uint64_t start);

  /// Marks modules that are mapped no more as unloaded at `time_ns`.
  void note_unloads(uint64_t time_ns);

 private:
  struct Known {
    std::atomic<const link_map*> map;  // null: free; kTombstone: was used
    uint64_t start, end;               // of its segments
    const void* frames;                // its .eh_frame_hdr: another module may have the same map later
    bool has_tables;                   // that leads to them
    uint64_t code;                     // an address that a lookup must find; of a copy: of what was copied
    uint64_t unload_ns;                // of a tombstone: since when its place is free
    uint32_t module;
  };
  static constexpr uint32_t kSlots = 2048;  // a power of two; half full at the most

  /// What is written of a module.
  struct Described {
    const link_map* map = nullptr;
    const void* frames = nullptr;
    bool has_tables = false;
    uint64_t bias = 0;
    const char* path = nullptr;  // in path_, unless it is another's
    ElfImage image;
  };

  bool describe(const dl_find_object& found, Described& module);
  const char* path_of(const char* name);
  Known* find(const dl_find_object& found, uint64_t start);
  bool add(const Described& module, uint64_t code);
  void remember(const Described& described, uint64_t code, uint32_t module);
  void unload(Known& known, uint64_t time_ns);
  uint64_t retire_overlapping(uint64_t start, uint64_t end, uint64_t time_ns, bool& retired);
  uint8_t* reserve(uint32_t bytes, uint64_t time_ns);

  ProcessFile* file_ = nullptr;
  format::CountersRecord* counters_ = nullptr;
  Program program_;
  uint64_t start_time_ns_ = 0;
  SpinLock lock_;
  Chunk chunk_;
  uint32_t next_module_ = 0;
  uint32_t known_count_ = 0;
  uint32_t taken_count_ = 0;
  uint16_t taken_[kSlots] =
      {};  // slots of known_ in use, tombstones included: the pages of the others stay untouched
  Known known_[kSlots] = {};
  // Of the module that is being described, under the lock. Most have headers and build id in one window.
  uint8_t window_[1024] = {};
  char path_[4096] = {};
};

/// Adds to a counter of the file; any number of threads at once.
inline void count(format::CountersRecord& counters, format::Counter which, uint64_t amount = 1) {
  reinterpret_cast<std::atomic<uint64_t>&>(counters.values[uint32_t(which)])
      .fetch_add(amount, std::memory_order_relaxed);
}

}  // namespace varve::agent
