// SPDX-License-Identifier: MIT
// The on-disk format, version 2: what all files have in common, and the structures of session and agent
// files, with their sizes asserted; other files have headers of their own beside this. The prose, with a hex
// dump, is FORMAT.md. All integers are little endian. A file is one FileHeader, then chunks; a chunk is one
// ChunkHeader, then records (each with a RecordHeader) or, for array chunks, plain rows of one struct. Not a
// reader and not a writer: those are viewer/load and agent/signal/sample_writer. Not the records of samples:
// those are sample_format.h. Context: any; nothing here allocates.
#pragma once

#include <cstddef>
#include <cstdint>

namespace varve::format {

/// The least multiple of `unit`, a power of two, that holds `bytes`.
constexpr uint32_t round_up(uint32_t bytes, uint32_t unit) { return (bytes + unit - 1) & ~(unit - 1); }

/// A byte above 0x7f, CR LF, ^Z and LF: any transfer that mangles text is seen at once.
inline constexpr uint8_t kMagic[8] = {0x8b, 'V', 'R', 'V', '\r', '\n', 0x1a, '\n'};
inline constexpr uint16_t kMajor = 2;
inline constexpr uint16_t kMinor = 0;
inline constexpr uint16_t kByteOrder = 0x0102;
inline constexpr uint32_t kPageSize = 4096;
/// Chunks begin at multiples of this and have a multiple of it as capacity: a chunk header never crosses a
/// page, and the chunks of two threads share no cache line.
inline constexpr uint32_t kChunkUnit = 64;
inline constexpr uint32_t kNoThread = UINT32_MAX;

/// Names of the files in a profile directory. Agent files are HOST-PID-IMAGE.agent.
inline constexpr char kSessionFile[] = "session";
inline constexpr char kSymbolsFile[] = "symbols";
inline constexpr char kCodeFile[] = "code";
inline constexpr char kObserverFile[] = "observer";
inline constexpr char kDecodedFile[] = "decoded";
inline constexpr char kViewsFile[] = "views";
inline constexpr const char* kFilesOfRun[] = {kSessionFile,  kSymbolsFile, kCodeFile,
                                              kObserverFile, kDecodedFile, kViewsFile};
inline constexpr char kAgentSuffix[] = ".agent";
/// HOST-PID-WORD-ERRNO.refused: an empty file of a process whose agent could not begin; WORD says what for.
inline constexpr char kRefusedSuffix[] = ".refused";
enum class Refused : uint32_t { kSession, kHandler, kFile, kMemory, kValgrind, kCount };
inline constexpr const char* kRefusedWords[] = {"session", "handler", "file", "memory", "valgrind"};
static_assert(sizeof kRefusedWords / sizeof *kRefusedWords == uint32_t(Refused::kCount));

enum class FileKind : uint16_t {
  kSession = 1,
  kAgent = 2,
  kSymbols = 3,
  kObserver = 4,
  kDecoded = 5,
  kViews = 6
};

struct FileHeader {
  uint8_t magic[8];
  uint16_t major;
  uint16_t minor;
  uint16_t byte_order;
  uint16_t kind;  // FileKind
  uint8_t session_id[16];
  int32_t pid;        // agent files: the process; others: the recorder
  int32_t ppid;       // its parent when the file was begun
  uint32_t image;     // agent files: 0 for the first program image of this pid, 1 after its first exec, ...
  uint32_t checksum;  // header_checksum()
  uint64_t start_realtime_ns;
  uint64_t start_monotonic_ns;
};
static_assert(sizeof(FileHeader) == kChunkUnit);
static_assert(offsetof(FileHeader, checksum) == 44);

/// FNV-1a, 32 bits, over the header with its checksum field taken as zero.
constexpr uint32_t fnv1a(const uint8_t* bytes, size_t size, uint32_t hash = 2166136261u) {
  for (size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 16777619u;
  return hash;
}
inline uint32_t header_checksum(FileHeader header) {
  header.checksum = 0;
  return fnv1a(reinterpret_cast<const uint8_t*>(&header), sizeof header);
}

constexpr uint32_t fourcc(const char (&name)[5]) {
  return uint32_t(uint8_t(name[0])) | uint32_t(uint8_t(name[1])) << 8 | uint32_t(uint8_t(name[2])) << 16 |
         uint32_t(uint8_t(name[3])) << 24;
}

enum class ChunkType : uint32_t {
  kEnd = 0,                     // sixty-four zero bytes: no chunk was begun here
  kFree = fourcc("FREE"),       // space that no chunk needed
  kSchema = fourcc("SCHM"),     // text: records and their fields
  kControl = fourcc("CTRL"),    // session: one ControlBlock, mapped by every agent
  kSession = fourcc("SESS"),    // session: kText and kProcessExit records
  kProcess = fourcc("PROC"),    // agent: kProcess, kCounters, kText records
  kModules = fourcc("MODS"),    // agent: kModuleLoad, kModuleUnload records
  kThreads = fourcc("THRD"),    // agent: kThread records of exactly sizeof(ThreadRecord)
  kSamples = fourcc("SAMP"),    // agent: kThreadSwitch, kSample, kWaitEvent, kRelease, kCreation records
  kMarks = fourcc("MARK"),      // agent: kMark, kProcessExit, kDescriptor records
  kRunStates = fourcc("RUNS"),  // observer: kTrack, kTrackEnd, kSwitches, kSweep, kWait, ...
  kStrings = fourcc("STRG"),    // symbols: array chunk, see symbol_format.h
};

/// Of the records of a type. 2 of samples: kSampleWeightByDelta, which readers of 1 would not see.
constexpr uint16_t chunk_version(ChunkType type) { return type == ChunkType::kSamples ? 2 : 1; }

inline constexpr uint16_t kChunkSealed = 1;  // `checksum` holds; the chunk will not change any more
inline constexpr uint16_t kChunkArray = 2;   // rows without RecordHeader

/// A reader steps to the next chunk by `capacity`, whatever the type, and trusts no byte beyond `used`. The
/// last chunk may be longer than the file: once all processes have ended, the recorder cuts the unused tail
/// off.
struct ChunkHeader {
  uint32_t type;     // ChunkType
  uint16_t version;  // of the records of this type
  uint16_t flags;
  uint32_t capacity;       // bytes of the whole chunk with this header; a multiple of kChunkUnit
  uint32_t used;           // bytes of records after this header; release-stored after each record
  uint32_t thread;         // kSamples: index of the first thread that wrote here; else kNoThread
  uint32_t sequence;       // order in which chunks of this file were begun
  uint64_t first_time_ns;  // CLOCK_MONOTONIC; kSamples: the base of the first time delta
  uint64_t last_time_ns;
  uint64_t lost;      // records that had to be dropped after this chunk was full
  uint64_t checksum;  // XXH64, seed 0, of the `used` bytes, once sealed
  uint64_t reserved;
};
static_assert(sizeof(ChunkHeader) == kChunkUnit);

enum class RecordKind : uint8_t {
  kText = 1,           // key NUL value NUL
  kProcessExit = 2,    // ProcessExitRecord
  kProcess = 3,        // ProcessRecord, then exe NUL, cwd NUL, then argv joined by NUL, all NUL-terminated
  kCounters = 4,       // CountersRecord
  kModuleLoad = 5,     // ModuleLoadRecord, ranges, build id, path NUL
  kModuleUnload = 6,   // ModuleUnloadRecord
  kThread = 7,         // ThreadRecord
  kThreadSwitch = 8,   // a varint, the thread to which the samples that follow belong
  kSample = 9,         // varints, see kSample below
  kTrack = 10,         // TrackRecord
  kTrackEnd = 11,      // TrackEndRecord
  kSwitches = 12,      // varints, see kSwitches below
  kSweep = 13,         // varints, see kSweep below
  kWait = 14,          // WaitRecord
  kSwitchesLost = 15,  // SwitchesLostRecord
  kMark = 16,          // MarkRecord, name NUL
  kWaitEvent = 17,     // varints, see wait_format.h
  kRelease = 18,       // likewise
  kDescriptor = 19,    // DescriptorRecord, name NUL
  kWaitModule = 20,    // WaitModuleRecord, build id, path NUL
  kWaitStack = 21,     // WaitStackRecord, frames
  kCreation = 22,      // varints, see wait_format.h
  kWaitFile = 23,      // WaitFileRecord, name NUL, flow NUL
};

/// `size` covers this header and the body, so a reader skips kinds it does not know.
struct RecordHeader {
  uint16_t size;
  uint8_t kind;   // RecordKind
  uint8_t flags;  // meaning depends on the kind
};
static_assert(sizeof(RecordHeader) == 4);

// --- session file
// -------------------------------------------------------------------------------------------

enum class ControlState : uint32_t {
  kRecording = 1,
  kPaused = 2,   // by varve pause
  kStopped = 3,  // for good
  kDelayed = 4,  // paused until --delay is over, unless varve pause or resume comes first
};

inline constexpr uint32_t kControlFollow = 1;   // follow fork and exec
inline constexpr uint32_t kControlWaits = 2;    // record waits
inline constexpr uint32_t kControlEvents = 4;   // ticks come from events (tick_event.h), not from CPU timers
inline constexpr uint32_t kControlAtOnce = 8;   // ... from each thread's start on
inline constexpr uint32_t kControlInStep = 16;  // ... only of threads that may be in step with the scheduler

/// Written by the recorder, mapped shared by every agent of the run. It is the agent's only configuration.
/// varve pause and resume change the state with an atomic exchange, and note the change behind the block.
struct ControlBlock {
  uint32_t state;  // ControlState; the one word the handler loads at each tick
  uint32_t flags;  // kControlFollow and so on
  uint64_t interval_ns;
  uint32_t stack_depth;  // frames
  uint32_t changes;      // of the state so far, the first one too; those beyond kMostChanges are not noted
  uint64_t wait_min_ns;  // waits as long as this have a stack
  /// Filters of system calls that the recorder was started with, if they let agents do all that they want; 0:
  /// none, or they are not known to.
  uint32_t tried_filters;
  uint32_t reserved[7];
};
static_assert(sizeof(ControlBlock) == 64);
/// The control chunk is the first of the session file: header page, chunk header, this block.
inline constexpr uint64_t kControlOffset = kPageSize + sizeof(ChunkHeader);

/// After the block, in the same chunk: kMostChanges of these, the first `changes` of them in use. An entry
/// belongs to who counted `changes` up to it, and counts once its time is not 0.
struct ControlChange {
  uint32_t state;  // ControlState from then on
  uint32_t reserved;
  uint64_t time_ns;  // CLOCK_MONOTONIC; stored last, with release order
};
static_assert(sizeof(ControlChange) == 16);
inline constexpr uint32_t kMostChanges = 240;
inline constexpr uint32_t kControlBytes = sizeof(ControlBlock) + kMostChanges * sizeof(ControlChange);
static_assert(sizeof(ChunkHeader) + kControlBytes <= kPageSize);

inline constexpr int32_t kStatusRunning = -1;  // no wait status: recording stopped while the process went on

/// One process that the recorder reaped, or that lived when it stopped recording; in an agent file, a child
/// that the process reaped. Times are the kernel's, with waited-for children, at that moment.
struct ProcessExitRecord {
  RecordHeader header;
  int32_t pid;
  int32_t status;  // as of wait4, or kStatusRunning
  uint32_t reserved;
  uint64_t user_ns;
  uint64_t system_ns;
  uint64_t max_rss_bytes;
  uint64_t time_ns;  // CLOCK_MONOTONIC
};
static_assert(sizeof(ProcessExitRecord) == 48);

// --- agent file
// ---------------------------------------------------------------------------------------------

/// A CPU time that the kernel refused to tell, as a filter of system calls may have it.
inline constexpr uint64_t kUnknownCpu = UINT64_MAX;

struct ProcessRecord {
  RecordHeader header;
  uint32_t argc;
  uint64_t end_time_ns;      // 0 until the image ended in an orderly way (exit or exec)
  uint64_t end_cpu_ns;       // CLOCK_PROCESS_CPUTIME_ID then
  uint64_t start_cpu_ns;     // CLOCK_PROCESS_CPUTIME_ID when the agent began: kernel exec and dynamic loader
  uint64_t children_cpu_ns;  // with end_cpu_ns: the kernel's count for all children reaped until then; or
                             // kUnknownCpu
  uint32_t end_kind;         // ImageEnd
  uint32_t end_gap_ns;       // CPU time of the process from end_cpu_ns on until all ends of threads were read
};
static_assert(sizeof(ProcessRecord) == 48);

enum class ImageEnd : uint32_t { kUnknown = 0, kExit = 1, kExec = 2 };

/// What went wrong or was noticed, counted in place by the agent. New counters go to the end.
enum class Counter : uint32_t {
  kFileGrowFailed,     // no space, file size limit: recording ended
  kGrowRefused,        // 1: for a while the file could not grow, as at a limit of descriptors
  kTimerCreateFailed,  // a thread without a timer: not sampled
  kThreadsUnsampled,   // threads that could not be given a block or a timer
  kForeignSignals,     // SIGPROF that was not ours, passed on
  kReserved5,          // 0
  kTicksPaused,        // ticks while the control page said paused or stopped
  kSamplesLost,        // samples with no room to write them
  kLostCpuNs,          // their CPU time
  kRuleCacheMisses,
  kRuleCacheHits,
  kExecFailed,     // exec returned; recording went on
  kModulesLost,    // module records with no room
  kLastErrno,      // errno of the last failure above (a value, not a count)
  kChildrenLost,   // reaped children with no room to note what they used
  kMarksLost,      // marks, pauses and resumptions of the program with no room
  kWaitsLost,      // waits with no room to write them, or within a signal handler that interrupted this
  kClockRefused,   // ticks without a CPU clock to read: what they stand for is not sampled
  kFiltered,       // 1: the program forbade itself system calls that the agent needs; recording ended
  kEventsRefused,  // threads whose ticks came from a CPU timer, as an event was refused
  kEventsInStep,   // times a thread got an event as it might work in step with the scheduler's tick
  kSmallStacks,    // times a thread went without ticks, as its alternate stack had no room for their frames
  kTicksWithoutRoom,  // ticks that left at once, as an alternate stack had no room for more
  kCount
};
inline constexpr uint32_t kCounterSlots = 31;
static_assert(uint32_t(Counter::kCount) <= kCounterSlots);

struct CountersRecord {
  RecordHeader header;
  uint32_t count;  // slots that mean something, so that an older reader and a newer one agree
  uint64_t values[kCounterSlots];
};
static_assert(sizeof(CountersRecord) == 256);

/// After this: range_count pairs of uint64 (start, end) of executable mappings, build_id_size bytes, path
/// NUL, padding to 8. `time_ns` is since when the addresses may mean this module, which may be met
/// later than it was loaded: where two modules claim an address at one time, the one with the earlier
/// unloading is meant.
struct ModuleLoadRecord {
  RecordHeader header;
  uint32_t module;  // index within the file, from 0
  uint64_t time_ns;
  uint64_t bias;   // runtime address - ELF virtual address
  uint64_t start;  // lowest and highest runtime address of the PT_LOAD segments
  uint64_t end;
  uint32_t range_count;
  uint16_t build_id_size;
  uint16_t reserved;
};
static_assert(sizeof(ModuleLoadRecord) == 48);

struct ModuleUnloadRecord {
  RecordHeader header;
  uint32_t module;
  uint64_t time_ns;
};
static_assert(sizeof(ModuleUnloadRecord) == 16);

inline constexpr uint8_t kThreadMain = 1;          // RecordHeader::flags of a ThreadRecord
inline constexpr uint8_t kThreadNoTimer = 2;       // no ticks at its end; why, in `timer_errno`
inline constexpr uint8_t kThreadEndEstimated = 4;  // end written by another thread (process exit, exec)

inline constexpr uint32_t kMostIntervalDoublings = 14;  // 16 s of CPU time where 1 ms was asked for

/// One thread of a process image, updated in place. residual = end_cpu - start_cpu - sum of its sample
/// weights.
struct ThreadRecord {
  RecordHeader header;
  uint32_t index;  // within the file, from 0
  int32_t tid;
  uint32_t creator;  // index of the creating thread, or kNoThread
  uint64_t start_time_ns;
  uint64_t end_time_ns;         // 0 while alive, and for ever if the process was killed
  uint64_t start_cpu_ns;        // the thread's CPU clock when sampling of it began
  uint64_t end_cpu_ns;          // and when it ended; 0 = not known
  uint64_t start_routine;       // address; 0 for the main thread
  uint64_t handler_ns;          // time inside our handler, by its own accounting: CPU time of long ticks
  uint64_t ticks;               // signals delivered
  uint64_t overruns;            // timer expirations merged into those signals
  uint64_t last_cpu_ns;         // the thread's CPU clock at its last tick
  uint64_t paused_ns;           // CPU time between ticks that came while paused: in no sample
  uint16_t timer_errno;         // 0: its alternate stack has no room for ticks
  uint16_t interval_doublings;  // how often its interval was doubled because the handler took too much
  uint32_t created_ago_ns;      // from the call that created it to start_time_ns; at most UINT32_MAX
  char name[16];                // as of prctl(PR_GET_NAME) at its end, else at its last sample
};
static_assert(sizeof(ThreadRecord) == 120);

/// RecordHeader::flags of a MarkRecord.
enum class MarkKind : uint8_t {
  kMark = 0,    // varve_mark(name)
  kPause = 1,   // varve_pause(), or the begin of a forked child that was paused
  kResume = 2,  // varve_resume()
};

/// What the program said with varve.h. After this: name NUL (empty but for kMark), padding to 8.
struct MarkRecord {
  RecordHeader header;  // flags: MarkKind
  uint32_t thread;      // index of the thread that said it, or kNoThread
  uint64_t time_ns;
};
static_assert(sizeof(MarkRecord) == 16);
inline constexpr uint32_t kMostMarkNameBytes = 120;  // longer names are cut

/// What a descriptor that a thread waited for was since `time_ns`. After this: name NUL ("socket
/// 127.0.0.1:80", or as in /proc/PID/fd), the flow that comes in NUL, that which goes out NUL, padding to 8.
struct DescriptorRecord {
  RecordHeader header;
  int32_t fd;
  uint64_t time_ns;  // of the end of the wait
};
static_assert(sizeof(DescriptorRecord) == 16);

}  // namespace varve::format
