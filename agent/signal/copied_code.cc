// SPDX-License-Identifier: MIT
// See copied_code.h.
// Context: signal.
#include "agent/signal/copied_code.h"

#include <algorithm>

#include "agent/signal/clock.h"
#include "agent/signal/loaded_object.h"

namespace varve::agent {
namespace {

// A reading takes 50 us for a hundred mappings. The first few come as they are asked for, later ones cost a
// thousandth of the time at most: a runtime that makes code all the time asks for ever.
constexpr uint32_t kFreeReadings = 4;
constexpr uint64_t kPauseFactor = 1000;

}  // namespace

void CopiedCode::look(uint64_t pc, ModuleLog& modules) {
  if (busy_.exchange(1, std::memory_order_acquire)) return;
  if (!known_empty(pc)) {
    const uint64_t begin = monotonic_ns();
    if (begin >= not_before_ns_) {
      read_map(pc, modules);
      const uint64_t end = monotonic_ns();
      if (++readings_ >= kFreeReadings) not_before_ns_ = end + kPauseFactor * (end - begin);
    }
  }
  busy_.store(0, std::memory_order_release);
}

void CopiedCode::reset() {
  readings_ = copy_count_ = empty_count_ = 0;
  not_before_ns_ = 0;
  busy_.store(0, std::memory_order_release);
}

bool CopiedCode::known_empty(uint64_t pc) const {
  const CodeRange* end = empty_ + std::min(empty_count_, kMostEmpty);
  return std::any_of(empty_, end, [&](const CodeRange& range) { return range.contains(pc); });
}

/// Collects what may be a copy, and the memory without a file around `pc`: neighbouring mappings are one,
/// since a runtime changes the rights of its code page by page.
void CopiedCode::read_map(uint64_t pc, ModuleLog& modules) {
  CodeRange around, found_empty;
  copy_count_ = 0;
  each_mapping(buffer_, [&](const MappedRange& mapped) {
    if (mapped.inode == 0) {
      if (around.end != mapped.range.begin) around.begin = mapped.range.begin;
      around.end = mapped.range.end;
      if (around.contains(pc)) found_empty = around;
      return;
    }
    dl_find_object object{};
    if (mapped.executable && copy_count_ < kMostCopies && !find_object(mapped.range.begin, object))
      copies_[copy_count_++] = mapped;
  });
  if (found_empty.end) empty_[empty_count_++ % kMostEmpty] = found_empty;
  if (copy_count_) note_origins(modules);
}

/// Finds the mappings by the loader that have the same parts of the same files.
void CopiedCode::note_origins(ModuleLog& modules) {
  each_mapping(buffer_, [&](const MappedRange& mapped) {
    if (!mapped.executable || mapped.inode == 0) return;
    for (uint32_t i = 0; i < copy_count_; ++i) {
      const MappedRange& copy = copies_[i];
      const uint64_t origin = mapped.range.begin + (copy.offset - mapped.offset);
      dl_find_object object{};
      if (!copy.same_file(mapped) || !mapped.range.contains(origin) || !find_object(origin, object)) continue;
      const uint64_t size = std::min(copy.range.end - copy.range.begin, mapped.range.end - origin);
      modules.note_copy(object, {copy.range.begin, copy.range.begin + size}, origin);
    }
  });
}

}  // namespace varve::agent
