// SPDX-License-Identifier: MIT
// Waits and releases, as records among the samples of a thread: what a thread waited for, how long and where,
// and who let it go on. They stand in sample chunks because their stacks are encoded like those of samples,
// against the one before. Not a reader and not a writer: those are viewer/load/sample_decoder and
// agent/wait_trace. Context: any; nothing here allocates.
#pragma once

#include "common/file_format.h"

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
  kCount
};

// kWaitEvent and kRelease. RecordHeader::flags as of kSample: low 4 bits StackEnd, kSampleFramePointer. Body,
// all LEB128 varints:
//   time delta, as of kSample
//   ago: ns from the moment that this is about, the end of the wait or the release, to the record's time
//   kind: ObjectKind
//   object: an address, unless ObjectKind says otherwise
//   duration: kWaitEvent: ns of waiting; kRelease: ns since the longest wait for this object began
//   count: kWaitEvent: waits that this record is the sum of; kRelease: threads that waited, as far as the
//   agent
//     knew
//   the stack, as of kSample; nothing where StackEnd is kNotTaken, and then the next record's stack is told
//     against the one before this
/// Whether the object of a kind is an address of the program's memory.
constexpr bool is_in_memory(ObjectKind kind) {
  return (kind >= ObjectKind::kMutex && kind <= ObjectKind::kBarrier) || kind == ObjectKind::kFutex;
}

/// With the descriptor that is the object of a kDescriptor: to write to it. The object of a release of that
/// kind is the inode of a pipe, to which somebody wrote; whether anybody waited the writer does not know.
inline constexpr uint64_t kWriting = uint64_t(1) << 32;

/// The object of a kPoll of which nobody knows a descriptor.
inline constexpr uint64_t kNoDescriptor = UINT32_MAX;

inline constexpr uint64_t kDefaultWaitMinNs = 50'000;  // shorter waits have no stack

}  // namespace varve::format
