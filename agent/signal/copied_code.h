// SPDX-License-Identifier: MIT
// CopiedCode: code of a loaded object that the program mapped a second time. V8 does so with its builtins, a
// third of the time of one node program, to have them near the code it makes. The dynamic loader knows
// nothing of such a mapping, so the agent looks for it when it meets code that no object claims. Context:
// signal and thread start (look), forked child (reset).
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/signal/memory_map.h"
#include "agent/signal/module_log.h"

namespace varve::agent {

class CopiedCode {
 public:
  /// `pc` lies in no loaded object. Reads the process's memory map, but not for addresses that were lately
  /// seen to be no copy, and not in the pause after a reading; tells `modules` of copies that came and went.
  void look(uint64_t pc, ModuleLog& modules);

  /// After fork: begins again.
  void reset();

 private:
  static constexpr uint32_t kMostCopies = 8;
  static constexpr uint32_t kMostEmpty = 16;

  bool known_empty(uint64_t pc, uint64_t now_ns);
  void read_map(uint64_t pc, ModuleLog& modules);
  void forget_gone(ModuleLog& modules);
  void note_origins(ModuleLog& modules);

  std::atomic<uint32_t> busy_{0};
  uint32_t readings_ = 0;
  uint64_t not_before_ns_ = 0;  // CLOCK_MONOTONIC
  MappedRange copies_[kMostCopies] = {};
  uint32_t copy_count_ = 0;
  MappedRange noted_[kMostCopies] = {};  // what `modules` knows of
  uint32_t noted_count_ = 0;
  CodeRange empty_[kMostEmpty] = {};  // a ring: code made at run time, and what else is no copy
  uint32_t empty_count_ = 0;
  uint64_t empty_until_ns_ = 0;
  char buffer_[4096] = {};
};

}  // namespace varve::agent
