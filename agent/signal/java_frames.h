// SPDX-License-Identifier: MIT
// Callers of code that HotSpot made: its compilers use rbp as an ordinary register and leave no CFI, but each
// piece of code stands behind a header (CodeBlob) that has the size of its frame. Where these headers are and
// what they look like is learned outside the handler (java_layout.h); here they are only read: what lies in
// the committed part of a code heap directly, as HotSpot never gives that back, anything else through
// StackMemory. Not names of methods: those are in the perf map. Not the frames of virtual threads that are
// still in the heap. Context: signal.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/signal/object_lookup.h"
#include "agent/signal/stack_memory.h"

namespace varve::agent {

/// A field of a HotSpot object.
struct JavaField {
  static constexpr uint32_t kAbsent = UINT32_MAX;

  uint32_t offset = kAbsent;
  uint32_t bytes = 0;

  bool exists() const { return offset != kAbsent; }
};

/// Where HotSpot's code is and how it is described. Filled once, before it is published; later only what is
/// atomic changes.
struct JavaCodeMap {
  static constexpr unsigned kHeaps = 8;  // HotSpot makes one or three

  struct Heap {
    uint64_t low, limit;            // reserved for code
    uint64_t segment_map;           // a byte for each segment of 2^log2_segment bytes
    uint64_t high_at, map_high_at;  // where the ends of the committed parts are told
    uint32_t log2_segment;
    std::atomic<uint64_t> high;  // up to here code and its segment map were committed when last looked
  };

  uint32_t heap_count = 0;
  Heap heaps[kHeaps] = {};

  uint32_t block_header_bytes = 0;  // of what stands before each blob
  JavaField block_used;
  JavaField blob_name, blob_size, blob_frame_words, blob_frame_complete;
  JavaField blob_code_begin;   // an address; absent from JDK 8, and again since JDK 23 or so
  JavaField blob_code_offset;  // then this, relative to the blob

  /// The interpreter, once a stack has met it.
  std::atomic<uint64_t> interpreter_low{0}, interpreter_high{0};

  /// Whether `pc` lies in committed memory of a code heap.
  bool contains(uint64_t pc, StackMemory& memory) { return find(pc, memory) != nullptr; }
  Heap* find(uint64_t pc, StackMemory& memory);
};

struct JavaRegisters {
  uint64_t pc, sp, rbp;
  bool knows_rbp;
  bool exact;  // pc is the address of an instruction, not a return address
};

/// The caller. rbp is what it held there.
struct JavaCaller {
  uint64_t pc, sp, rbp;
  bool knows_rbp;
};

/// False where the code is none of HotSpot's or what is found does not fit together: the return address has
/// to lie in a code heap or in an object.
bool java_caller(JavaCodeMap& map, FindObject find_object, StackMemory& memory, const JavaRegisters& at,
                 JavaCaller* caller);

}  // namespace varve::agent
