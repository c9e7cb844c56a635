// SPDX-License-Identifier: MIT
// Waits and releases, as records among the samples of a thread: what a thread waited for, how long and where,
// and who let it go on. They stand in sample chunks because their stacks are encoded like those of samples,
// against the one before. Not a reader and not a writer: those are viewer/load/sample_decoder and
// agent/wait_trace. Context: any; nothing here allocates.
#pragma once

#include <initializer_list>

#include "common/sample_format.h"

namespace varve::format {

/// What is waited for. New kinds go to the end.
enum class ObjectKind : uint8_t {
  kNone = 0,
  kMutex = 1,
  kRwLock = 2,
  kCondition = 3,
  kSemaphore = 4,
  kBarrier = 5,
  kThread = 6,       // the end of a thread; the object is its tid
  kChild = 7,        // the end of a process; the object is what waitpid was given, 0 for any
  kSleep = 8,        // a time; no object
  kPoll = 9,         // descriptors to be ready; the object is epoll's descriptor, else the first of them
  kDescriptor = 10,  // read, write, accept and so on of the descriptor that is the object
  kFutex = 11,       // of the program's own, by syscall()
  kOnce = 12,        // that another thread is done with what is to be done once; the object is its control
  kSignal = 13,      // a signal; no object
  kQueue = 14,       // a System V message queue to have one, or room; the object is its number, and kToSend
  kSemaphores = 15,  // a set of System V semaphores; the object is its number
  kFileLock = 16,    // a lock of a file, by the descriptor that is the object
  kCount
};

/// A bit for each: hooks ask twice a call, and a table would be searched, and in their caches.
constexpr uint32_t set_of(std::initializer_list<ObjectKind> kinds) {
  static_assert(uint32_t(ObjectKind::kCount) <= 32);
  uint32_t set = 0;
  for (const ObjectKind each : kinds) set |= uint32_t{1} << uint32_t(each);
  return set;
}

/// In objects that are numbers: who waits wants to send, and one that receives lets it go on.
inline constexpr uint64_t kToSend = uint64_t{1} << 32;

/// Whether threads of the process end waits for it by a call that is seen. Not so are the end of a thread or
/// a process, which are no calls.
constexpr bool is_released(ObjectKind kind) {
  constexpr uint32_t kKinds = set_of({ObjectKind::kMutex, ObjectKind::kRwLock, ObjectKind::kCondition,
                                      ObjectKind::kSemaphore, ObjectKind::kBarrier, ObjectKind::kFutex,
                                      ObjectKind::kOnce, ObjectKind::kQueue, ObjectKind::kSemaphores});
  return kind < ObjectKind::kCount && (kKinds >> uint32_t(kind) & 1) != 0;
}
/// Whether the object is a descriptor, whose name is noted.
constexpr bool is_descriptor(ObjectKind kind) {
  return kind == ObjectKind::kPoll || kind == ObjectKind::kDescriptor || kind == ObjectKind::kFileLock;
}

// kWaitEvent, kRelease and kCreation. RecordHeader::flags as of kSample: low 4 bits StackEnd,
// kSampleFramePointer; and kWaitTimedOut. Body, all LEB128 varints:
//   time delta, as of kSample
//   ago: ns from the moment that this is about, the end of the wait, the release or the creation, to the
//     record's time
//   kind: ObjectKind
//   object: an address, unless ObjectKind says otherwise
//   duration: kWaitEvent: ns of waiting; kRelease: ns since the longest wait for this object began,
//     but of a barrier how long the call took of the thread that came last; kCreation: 0
//   count: kWaitEvent: waits that this record is the sum of; kRelease: threads that waited, as far as the
//     agent knew, 1 where one of them tells it for its releaser; kCreation: 1 where the object was
//     initialized, 0 where it was destroyed
//   the stack, as of kSample; nothing where StackEnd is kNotTaken, and then the next record's stack is told
//     against the one before this
/// Whether the object of a kind is an address of the program's memory.
constexpr bool is_in_memory(ObjectKind kind) {
  return (kind >= ObjectKind::kMutex && kind <= ObjectKind::kBarrier) || kind == ObjectKind::kFutex ||
         kind == ObjectKind::kOnce;
}

/// Of a kWaitEvent that is one wait: the time that the program gave it was over. (No wait has overruns.)
inline constexpr uint8_t kWaitTimedOut = kSampleHasOverrun;

/// The agent times waits by the processor's counter, to this much, and releases by CLOCK_MONOTONIC.
inline constexpr uint64_t kWaitClockNs = 1000;

/// A wait for a message of at most so much that timed out and is begun anew at most so much later is one
/// wait, in slices: time to take a mutex, to look and to write the record of the slice, not to work. With a
/// longer limit wait timers and polls, and there the time that is over is what ends the wait.
inline constexpr uint64_t kLongestSliceNs = 11'000'000, kLongestLookNs = 100'000;
constexpr bool may_be_slice(ObjectKind kind, uint64_t duration_ns) {
  const bool is_message =
      kind == ObjectKind::kCondition || kind == ObjectKind::kSemaphore || kind == ObjectKind::kFutex;
  return is_message && duration_ns <= kLongestSliceNs;
}
constexpr bool goes_on(uint64_t end_ns, uint64_t next_begin_ns) {
  return next_begin_ns <= end_ns + kLongestLookNs;
}

/// The object of a kPoll of which nobody knows a descriptor.
inline constexpr uint64_t kNoDescriptor = UINT32_MAX;

inline constexpr uint64_t kDefaultWaitMinNs = 50'000;  // shorter waits have no stack

}  // namespace varve::format
