// SPDX-License-Identifier: MIT
// See copied_code.h.
// Context: signal.
#include "agent/signal/copied_code.h"

#include <sys/resource.h>

#include <algorithm>

#include "agent/signal/clock.h"
#include "agent/signal/loaded_object.h"

namespace varve::agent {
namespace {

// A reading takes 50 us for a hundred mappings. The first few, while they are short, come as they are asked
// for; later ones cost a thousandth of the time at most: a runtime that makes code all the time asks for
// ever.
constexpr uint32_t kFreeReadings = 4;
constexpr uint64_t kShortNs = 200'000;
constexpr uint64_t kPauseFactor = 1000;
// Memory of code that was made at run time is given back, and a copy may take its place.
constexpr uint64_t kEmptyNs = 1'000'000'000;

/// How often this thread has given the processor away by itself.
long times_waited() {
  rusage usage{};
  raw_syscall(__NR_getrusage, RUSAGE_THREAD, as_arg(&usage));
  return usage.ru_nvcsw;
}

bool same_place(const MappedRange& a, const MappedRange& b) {
  return a.range.begin == b.range.begin && a.offset == b.offset && a.same_file(b);
}

}  // namespace

void CopiedCode::look(uint64_t pc, ModuleLog& modules) {
  if (busy_.exchange(1, std::memory_order_acquire)) return;
  if (const uint64_t now = monotonic_ns(); now >= not_before_ns_ && !known_empty(pc, now)) {
    const uint64_t begin = thread_cpu_ns();
    const long waits = times_waited();
    read_map(pc, modules);
    // Others that ran meanwhile on a busy machine are no cost of the reading; a lock of the kernel's is.
    const uint64_t cost = times_waited() == waits ? thread_cpu_ns() - begin : monotonic_ns() - now;
    if (++readings_ >= kFreeReadings || cost > kShortNs) not_before_ns_ = now + kPauseFactor * cost;
  }
  busy_.store(0, std::memory_order_release);
}

void CopiedCode::reset() {
  readings_ = copy_count_ = noted_count_ = empty_count_ = 0;
  not_before_ns_ = empty_until_ns_ = 0;
  busy_.store(0, std::memory_order_release);
}

bool CopiedCode::known_empty(uint64_t pc, uint64_t now_ns) {
  if (now_ns >= empty_until_ns_) {
    empty_count_ = 0;
    empty_until_ns_ = now_ns + kEmptyNs;
  }
  return std::ranges::any_of(std::span(empty_, std::min(empty_count_, kMostEmpty)),
                             [&](const CodeRange& range) { return range.contains(pc); });
}

/// Collects what may be a copy, first of all what `pc` lies in, and the stretch around `pc` that is none:
/// neighbouring mappings without a file are one, since a runtime changes the rights of its code page by page.
void CopiedCode::read_map(uint64_t pc, ModuleLog& modules) {
  CodeRange around, found_empty;
  copy_count_ = 0;
  each_mapping(buffer_, [&](const MappedRange& mapped) {
    const bool here = mapped.range.contains(pc);
    dl_find_object object{};
    if (mapped.inode != 0 && mapped.executable && !find_object(mapped.range.begin, object) &&
        (here || copy_count_ < kMostCopies))
      copies_[std::min(copy_count_++, kMostCopies - 1)] = mapped;
    copy_count_ = std::min(copy_count_, kMostCopies);
    if (mapped.inode != 0 || around.end != mapped.range.begin) around.begin = mapped.range.begin;
    around.end = mapped.range.end;
    if (around.contains(pc)) found_empty = around;
    if (mapped.inode != 0) around = {};
  });
  forget_gone(modules);
  if (copy_count_) note_origins(modules);
  const bool copy = std::ranges::any_of(std::span(noted_, noted_count_),
                                        [&](const MappedRange& noted) { return noted.range.contains(pc); });
  if (found_empty.end && !copy) empty_[empty_count_++ % kMostEmpty] = found_empty;
}

/// What was unmapped, or is another file's now, is no copy any more.
void CopiedCode::forget_gone(ModuleLog& modules) {
  for (uint32_t i = 0; i < noted_count_;) {
    const MappedRange noted = noted_[i];
    const bool stays = std::ranges::any_of(std::span(copies_, copy_count_),
                                           [&](const MappedRange& copy) { return same_place(copy, noted); });
    // Among too many others it may have been left out.
    if (stays || copy_count_ == kMostCopies) {
      ++i;
      continue;
    }
    modules.note_gone(noted.range.begin);
    noted_[i] = noted_[--noted_count_];
  }
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
      const auto same = [&](const MappedRange& noted) { return same_place(noted, copy); };
      if (noted_count_ == kMostCopies || std::ranges::any_of(std::span(noted_, noted_count_), same)) continue;
      const uint64_t size = std::min(copy.range.end - copy.range.begin, mapped.range.end - origin);
      if (modules.note_copy(object, {copy.range.begin, copy.range.begin + size}, origin))
        noted_[noted_count_++] = copy;
    }
  });
}

}  // namespace varve::agent
