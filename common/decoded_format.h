// SPDX-License-Identifier: MIT
// Rows of the file "decoded", version 1: what the sample chunks of all agent files decode to, written after
// the run where there are so many samples that decoding takes long. It says nothing that the agent files do
// not say; a reader that cannot use it decodes them. A FileHeader page, then sealed array chunks: the key,
// then columns; chunks of one type continue each other, and no row is cut in two. All integers are little
// endian. Not a reader and not a writer: those are viewer/load/decoded_file and viewer/record/decoded_writer.
// Context: any; nothing here allocates.
#pragma once

#include "common/wait_format.h"

namespace varve::format {

enum class DecodedChunk : uint32_t {
  kKey = fourcc("DKEY"),      // one DecodedKey; the first chunk
  kOwners = fourcc("DOWN"),   // uint32 an anonymous module: the row of its process
  kSites = fourcc("DSIT"),    // DecodedSite
  kPaths = fourcc("DPTH"),    // DecodedPath, of path 0 first, a parent before its children
  kRuns = fourcc("DRUN"),     // DecodedRun, by ascending thread
  kTimes = fourcc("DTIM"),    // uint64 a sample: CLOCK_MONOTONIC in ns, ascending within a run
  kWeights = fourcc("DWGT"),  // uint64 a sample: CPU time in ns
  kLeaves = fourcc("DLEF"),   // uint32 a sample: its path
  kWaits = fourcc("DWAT"),    // DecodedWait, by thread, then by time; all waits, then all releases
                              // likewise, then creations
  kEnd = fourcc("DEND"),      // empty: the file is whole
};

/// Rows of agent files are numbered as a reader meets them: processes by time of their start, pid and image,
/// then each one's modules and threads. So they mean the same only while `inputs` is the same.
struct DecodedKey {
  uint64_t inputs;                               // load::hash_inputs()
  uint64_t owners, sites, paths, runs, samples;  // rows of each
  uint64_t waits, releases, creations;           // likewise
};
static_assert(sizeof(DecodedKey) == 72);

struct DecodedSite {
  uint32_t module;  // row; those of files, then the anonymous ones; UINT32_MAX: none, a load::SpecialSite
  uint32_t reserved;
  uint64_t vaddr;
};
static_assert(sizeof(DecodedSite) == 16);

struct DecodedPath {
  uint32_t parent;  // path; UINT32_MAX for path 0 alone
  uint32_t site;    // row; likewise
};
static_assert(sizeof(DecodedPath) == 8);

/// The next `samples` rows are of this thread.
struct DecodedRun {
  uint32_t thread;  // row
  uint32_t reserved;
  uint64_t samples;
};
static_assert(sizeof(DecodedRun) == 16);

inline constexpr uint32_t kDecodedTimedOut = 0x100;

struct DecodedWait {
  uint64_t time_ns;      // CLOCK_MONOTONIC: the end of a wait; a release; a creation
  uint64_t duration_ns;  // see wait_format.h
  uint64_t object;
  uint32_t thread;  // row
  uint32_t path;
  uint32_t count;
  uint32_t kind;  // ObjectKind, and kDecodedTimedOut
};
static_assert(sizeof(DecodedWait) == 40);

}  // namespace varve::format
