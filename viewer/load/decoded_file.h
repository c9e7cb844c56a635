// SPDX-License-Identifier: MIT
// The file "decoded" of a large profile: reading ten million samples from it takes a tenth of the time of
// decoding them. Believed only where its key says that it was made from the agent files as they are now, and
// where all of it makes sense; else it is as if it were not there. Context: viewer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/decoded_format.h"
#include "viewer/load/file_source.h"
#include "viewer/load/profile.h"
#include "viewer/load/sample_decoder.h"

namespace varve::load {

/// Of everything that decides what the samples decode to: their chunks (by headers, which have checksums or
/// say how much was written), the mappings of code, and the numbers of threads. Never 0.
uint64_t hash_inputs(std::span<const SampleSource> sources, const Profile& profile);

struct DecodedSamples {
  std::vector<ProcessId> owners;  // of anonymous modules, whose rows follow those of files
  std::vector<Site> sites;
  std::vector<Path> paths;
  std::vector<format::DecodedRun> runs;
  std::vector<uint64_t> time_ns, weight_ns;
  std::vector<PathId> leaf;
  std::vector<format::DecodedWait> waits;  // then `releases` and `creations`
  uint64_t releases = 0, creations = 0;
};

/// What the profile's file "decoded" holds, each number in it checked against the rows that `profile` has so
/// far; nothing where it cannot be used.
std::optional<DecodedSamples> read_decoded_file(const FileSource& source, const Profile& profile,
                                                uint64_t inputs);

}  // namespace varve::load
