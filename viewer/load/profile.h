// SPDX-License-Identifier: MIT
// Profile: everything recorded in one run, in memory, as tables. Columns for samples, a tree for call paths,
// rows for the rest. It holds addresses, never names of functions: those are symbol::SymbolTable, a table
// beside this one. Not a reader: load.h makes it. Not an analysis: analyze/ reads it and changes nothing.
// Context: viewer.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/ids.h"
#include "common/sample_format.h"
#include "common/units.h"
#include "viewer/load/refusals.h"
#include "viewer/load/run_states.h"
#include "viewer/load/waits.h"

namespace varve::load {

/// CPU time that no code address stands for, and the frames that stand in for frames not known. Each is a
/// site of its own, so every view treats them as ordinary rows and the sums hold.
enum class SpecialSite : uint32_t {
  kStartUp,       // before the agent began: kernel exec and dynamic loader
  kResidual,      // after a thread's last tick, up to its end
  kNotSampled,    // charged by the kernel, seen by no agent: static children, killed threads
  kPaused,        // CPU time while recording was paused
  kLost,          // samples that could not be written
  kTruncated,     // root side of a stack that is deeper than stacks are followed
  kNoUnwindInfo,  // root side of a stack that ended for the other reasons of format::StackEnd, one each
  kBadMemory,
  kNoProgress,
  kBadCfi,
  kBadReturn,
  kUnsupported,
  kNoRoom,
  kDeepRecursion,  // middle of a stack deeper than --stack-depth, which has both ends
  kNotTaken,       // of waits without a stack: too short, or too many
  kCount
};

/// A program image of one process: what ran between exec (or fork) and exec or exit. One agent file each.
struct Process {
  int32_t pid = 0;
  int32_t ppid = 0;
  uint32_t image = 0;
  std::string host;
  std::string exe;
  std::string cwd;
  std::vector<std::string> argv;
  Nanos start_time;    // CLOCK_MONOTONIC
  Nanos end_time;      // zero: not known (killed)
  Nanos start_cpu;     // process CPU clock when the agent began
  Nanos end_cpu;       // zero: not known
  Nanos end_gap;       // CPU time from end_cpu on until the ends of all threads were read
  Nanos children_cpu;  // of all children that it had reaped at its end; or kUnknownCpu
  Nanos reaped_time;   // when its parent reaped it; zero: not known
  Nanos reaped_cpu;    // what the kernel had charged it and its children then
  format::ImageEnd end = format::ImageEnd::kUnknown;
  std::array<uint64_t, format::kCounterSlots> counters{};
  uint64_t file_bytes = 0;
  bool seen_only = false;                                  // by the observer; no agent was in it
  std::vector<std::pair<std::string, std::string>> texts;  // every key and value of its file, in order

  uint64_t counter(format::Counter which) const { return counters[size_t(which)]; }
};

struct Thread {
  ProcessId process;
  int32_t tid = 0;
  std::string name;
  bool is_main = false;
  bool no_timer = false;     // not sampled at all
  uint32_t timer_errno = 0;  // then, why
  bool end_estimated = false;
  bool seen_only = false;  // by the observer: not sampled at all
  TrackId track;           // none: not observed
  ThreadId creator;        // none: not known, or the first one of its process
  Nanos created;           // when that made it; zero likewise
  Nanos start_time;
  Nanos end_time;              // zero: not known
  Nanos told_start, told_end;  // by its agent: in the thread itself, not in the kernel; zero: not known
  Nanos start_cpu;             // thread CPU clock
  Nanos end_cpu;               // zero: not known
  Nanos last_cpu;
  Nanos handler;   // time inside our handler; see format::ThreadRecord
  Nanos paused;    // CPU time while paused
  Nanos sampled;   // sum of the weights of its samples
  Nanos residual;  // see format::ThreadRecord
  uint64_t samples = 0;
  uint64_t ticks = 0;
  uint64_t overruns = 0;
  uint32_t interval_doublings = 0;  // because samples took too much of its CPU time
};

/// A file of code, the same row for every process that maps it (same path and build id), so that a hundred
/// compiler runs are one module. Code outside any file (JIT) has one module a process image: `anonymous`.
struct Module {
  std::string path;  // "[vdso]", "[anonymous]" for what has no file
  std::vector<uint8_t> build_id;
  bool anonymous = false;
  ProcessId process;  // anonymous only: whose
};

struct AddressRange {
  Address begin, end;  // half open
};

/// One module in one process image, for a time.
struct Mapping {
  ProcessId process;
  ModuleId module;
  uint64_t bias = 0;  // runtime address - ELF vaddr, modulo 2^64
  AddressRange span;
  std::vector<AddressRange> code;  // executable ranges
  Nanos load_time;
  Nanos unload_time{UINT64_MAX};
};

/// One code address of one module, or a SpecialSite.
struct Site {
  ModuleId module;  // none: special
  Address vaddr;    // ELF virtual address; runtime address in an anonymous module; SpecialSite if special
  bool special() const { return !module.valid(); }
  SpecialSite kind() const { return SpecialSite(vaddr.value); }
  constexpr auto operator<=>(const Site&) const = default;
};

/// A node of the tree of call paths. Path 0 is the empty path; a parent has a smaller index than its
/// children.
struct Path {
  PathId parent;
  SiteId site;
  constexpr bool operator==(const Path&) const = default;
};

/// Columns of equal length, ordered by thread, then by time. Rows of kStartUp, kResidual, kNotSampled,
/// kPaused and kLost time stand among the samples with `ticks` 0, so that sums over rows are the kernel's CPU
/// time.
struct Samples {
  std::vector<uint64_t> time_ns;    // CLOCK_MONOTONIC
  std::vector<uint64_t> weight_ns;  // CPU time
  std::vector<ThreadId> thread;     // none: belongs to no thread (kNotSampled)
  std::vector<PathId> path;         // the leaf
  std::vector<uint8_t> ticks;       // 1 for a sample, 0 for time without one

  size_t size() const { return time_ns.size(); }
};

/// A moment that a program named by varve_mark().
struct Mark {
  ProcessId process;
  ThreadId thread;  // none: one that the agent did not know
  Nanos time;       // CLOCK_MONOTONIC
  std::string name;
};

/// A time without samples. Where several were noted for the whole run or for one process, none touches
/// another.
struct Pause {
  ProcessId process;  // that paused itself by varve_pause(); none: the whole run, by --delay or varve pause
  Nanos begin, end;   // CLOCK_MONOTONIC
};

/// What the reader had to drop or could not do, for the quality view. Nothing is dropped silently.
struct Damage {
  std::string file;      // name within the profile directory
  std::string sentence;  // what was found: "chunk 3 fails its checksum"
  uint64_t bytes = 0;    // not read because of it
};

/// format::FileHeader::session_id, the same in all files of a run.
using SessionId = std::array<uint8_t, 16>;

/// From the session file, by format text keys; empty or zero where the recorder did not get to write it.
struct Session {
  SessionId id{};       // without a session file the first agent's
  std::string command;  // shell-quoted argv
  std::string host;
  std::string kernel;
  std::string version;    // of varve record
  std::string directory;  // cwd of the command
  uint32_t processors = 0;
  bool processors_seen = false;  // not said: those that threads were seen on, and all before them
  bool finished = false;         // the recorder saw the end of the run
  int32_t exit_status = 0;       // wait status of the command, if finished
  Nanos start_time;              // CLOCK_MONOTONIC
  Nanos start_realtime;          // since the epoch
  Nanos elapsed;                 // from exec to the end of the last followed process
  Nanos user_cpu, system_cpu;    // charged by the kernel to all reaped processes
  Nanos interval;
  uint32_t stack_depth = 0;
  std::vector<std::pair<std::string, std::string>> texts;  // every key and value, in order

  /// The value of a key of session_keys.h, of its last record; empty where there is none.
  std::string_view text(std::string_view key) const {
    std::string_view found;
    for (const auto& [name, value] : texts)
      if (name == key) found = value;
    return found;
  }
  /// The same as a number; 0 where it is none.
  uint64_t number(std::string_view key) const {
    const std::string_view digits = text(key);
    uint64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
  }
};

struct Profile {
  std::string directory;  // as given
  Session session;
  std::vector<Process> processes;
  std::vector<Thread> threads;
  std::vector<Module> modules;
  std::vector<Mapping> mappings;
  std::vector<Site> sites;  // unique
  std::vector<Path> paths;
  Samples samples;
  RunStates run_states;
  Waits waits;
  std::vector<Mark> marks;    // by time
  std::vector<Pause> pauses;  // by begin
  std::vector<Damage> damages;
  std::vector<Refusal> refusals;  // processes whose agent could not begin
  uint64_t bytes = 0;             // of all its files

  /// CPU time by the kernel: of reaped processes, else the sum of the agents' own last look at their clocks.
  Nanos kernel_cpu;
  Nanos sampled, residual,
      unsampled;          // the ledger: sampled + residual + unsampled == max(kernel_cpu, sampled + residual)
  Nanos residual_placed;  // part of `residual`: at the places of first ticks (place_at_first_ticks)
  uint64_t sample_count = 0;
  uint64_t lost_samples = 0;  // as the agents counted them
  Nanos lost_time;            // part of `unsampled`: of samples that were lost or cannot be read
  /// hash_inputs() of what the samples were decoded from; 0: something of it was damaged.
  uint64_t sample_inputs = 0;
  bool without_samples = false;  // as asked: there are no rows of samples and of the ledger

  /// Rows of `threads` that have a name, by process, then tid, then time: see index_threads.h.
  std::vector<uint32_t> threads_by_tid;
  /// The first thread of the process that had the number and a name; none where nobody had.
  ThreadId thread_with(ProcessId process, int32_t tid) const {
    const auto key = [this](uint32_t row) { return std::pair(threads[row].process, threads[row].tid); };
    const auto at = std::ranges::lower_bound(threads_by_tid, std::pair(process, tid), {}, key);
    return at != threads_by_tid.end() && key(*at) == std::pair(process, tid) ? ThreadId{*at}
                                                                             : ThreadId::none();
  }

  /// From the start of the run to a time.
  Nanos since_start(Nanos time) const { return saturating_sub(time, session.start_time); }

  /// Whether the path begins with a place in code, rather than with what stands for a stack that is not
  /// known.
  bool has_stack(PathId path) const {
    const SiteId leaf = paths[path.index()].site;
    return leaf.valid() && !sites[leaf.index()].special();
  }
};

}  // namespace varve::load
