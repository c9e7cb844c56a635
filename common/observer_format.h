// SPDX-License-Identifier: MIT
// Records of the observer file, version 1: what each thread of the run was doing, as switches or as sweeps.
// All integers are little endian. Not a reader and not a writer: those are viewer/load/observer_file and
// viewer/record/observe/observer_writer. Context: any; nothing here allocates.
#pragma once

#include "common/sample_format.h"

namespace varve::format {

/// A thread as the observer sees it, from its start to its end, across exec. A second record of the same
/// track tells a change: a new name or, after an exec by another thread than the main one, a new tid.
struct TrackRecord {
  RecordHeader header;  // flags: kTrackStartSeen
  uint32_t track;       // index within the file, from 0
  int32_t pid;
  int32_t tid;
  int32_t ppid;
  int32_t own_tid;   // in a pid namespace of its own: its number there, as its agent knows it; 0: not known
  uint64_t time_ns;  // its start, or when it was first seen
  char name[16];
};
static_assert(sizeof(TrackRecord) == 48);
inline constexpr uint8_t kTrackStartSeen = 1;  // time_ns is the thread's start, not the first look at it

/// Counts are the kernel's over the thread's life; kUnknownCount where nobody could read them at the end.
struct TrackEndRecord {
  RecordHeader header;
  uint32_t track;
  uint64_t time_ns;  // its end, or when it was found gone
  uint32_t voluntary_switches;
  uint32_t involuntary_switches;
};
static_assert(sizeof(TrackEndRecord) == 24);
inline constexpr uint32_t kUnknownCount = UINT32_MAX;

/// What the thread was waiting for when it was looked at. It holds for the blocked stretch around time_ns.
struct WaitRecord {
  RecordHeader header;  // flags: WaitKind
  uint32_t track;
  uint64_t time_ns;
};
static_assert(sizeof(WaitRecord) == 16);

/// A file of code that the stacks of waits lead through, as /proc/PID/maps names it. After this:
/// build_id_size bytes, path NUL.
struct WaitModuleRecord {
  RecordHeader header;
  uint32_t module;  // index within the file; told before the first stack that has it
  uint16_t build_id_size;
  uint16_t reserved;
};
static_assert(sizeof(WaitModuleRecord) == 12);

/// A blocked thread as a look from outside saw it: the system call it was in, and its stack. It holds for the
/// blocked stretch around time_ns. After this, for each frame from the leaf to the root, two varints: 1 + the
/// index of its module, or 0 for code of no file; its ELF virtual address there, or its address.
struct WaitStackRecord {
  RecordHeader header;  // flags as of kSample: low 4 bits StackEnd, kSampleFramePointer; kLookNamed
  uint32_t track;
  uint64_t time_ns;
  int32_t system_call;  // its number on x86-64
  uint32_t frames;
  uint64_t arguments[2];  // of the call, the first ones
};
static_assert(sizeof(WaitStackRecord) == 40);
inline constexpr uint8_t kLookNamed = 0x40;  // the descriptor is what the last WaitFileRecord of it says

/// What a descriptor is that a look sees a thread wait for, told before the look where it is another than the
/// last of this number in the process. Looks say by kLookNamed that it is still so. After this: its name NUL,
/// as the kernel has it; of a pipe its flow NUL, as DescriptorRecord has it, else NUL.
struct WaitFileRecord {
  RecordHeader header;
  uint32_t track;  // of a thread of the process
  uint64_t time_ns;
  int32_t fd;
  uint32_t reserved;
};
static_assert(sizeof(WaitFileRecord) == 24);

/// So many switch records did not fit into the kernel's ring before this time: what each thread did is not
/// known from here until its next event.
struct SwitchesLostRecord {
  RecordHeader header;
  uint32_t reserved;
  uint64_t time_ns;
  uint64_t count;
};
static_assert(sizeof(SwitchesLostRecord) == 24);

// kSwitches: exact run states. Body: events in the order of time until the end of the record, LEB128 varints:
//   time delta in ns to the event before in this chunk (the first: to first_time_ns)
//   track << 2 | SwitchKind
//   processor, only for SwitchKind::kIn
enum class SwitchKind : uint8_t {
  kIn = 0,          // runs from now on
  kOutBlocked = 1,  // gave its processor up to wait
  kOutReady = 2,    // was preempted, or yielded: still runnable
};

// kSweep: one look at all threads. Body, all LEB128 varints:
//   begin: of the stretch of time it tells about, ns since the chunk's first_time_ns; the end of the sweep
//   before length of that stretch in ns then, for each thread that ran or was ready meanwhile, until the end
//   of the record:
//     track; ns it ran; ns it was ready; how often it was switched in; processor it last ran on
// Threads that are not listed were blocked all the time, but for what a later sweep tells in excess of its
// length: the kernel adds to its sums when a thread stops, or at a tick. A sweep that does not fit is told in
// several records of the same begin and length.
inline constexpr uint32_t kUnknownProcessor = UINT32_MAX;  // nobody looked where the thread ran

inline constexpr uint32_t kRunStatesChunkBytes = 64 * 1024;

}  // namespace varve::format
