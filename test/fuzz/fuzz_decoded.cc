// SPDX-License-Identifier: MIT
// Fuzzer of the file "decoded". The first byte of an input says whether header and checksums are set right.
// What the reader believes must be rows in which every index exists and every order holds. Context: tests.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "common/bytes.h"
#include "test/fuzz/repair.h"
#include "test/fuzz/replay_main.h"
#include "viewer/load/decoded_file.h"
#include "viewer/load/path_tree.h"

namespace {

using namespace varve;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz_decoded: not so: %s\n", what);
  std::abort();
}

/// The rows that a file may refer to.
load::Profile sample_profile() {
  load::Profile profile;
  profile.processes.resize(2);
  profile.threads.resize(3);
  profile.modules = {{"/a", {}, false, {}}, {"/b", {}, false, {}}};
  return profile;
}

/// The key that the file has, so that it is one of these inputs.
uint64_t inputs_of(const std::vector<uint8_t>& file) {
  constexpr size_t kKey = format::kPageSize + sizeof(format::ChunkHeader);
  uint64_t inputs = 0;
  if (file.size() >= kKey + sizeof inputs) std::memcpy(&inputs, file.data() + kKey, sizeof inputs);
  return inputs;
}

void check(const load::DecodedSamples& rows, load::Profile profile) {
  const size_t samples = rows.time_ns.size();
  require(rows.weight_ns.size() == samples && rows.leaf.size() == samples, "columns have one length");
  size_t sum = 0;
  for (const format::DecodedRun& run : rows.runs) {
    require(run.thread < profile.threads.size(), "a thread exists");
    const auto first = rows.time_ns.begin() + ptrdiff_t(sum);
    require(std::is_sorted(first, first + ptrdiff_t(run.samples)), "times ascend");
    sum += run.samples;
  }
  require(sum == samples, "every sample has a thread");
  for (const PathId leaf : rows.leaf) require(leaf.index() < rows.paths.size(), "a path exists");
  for (size_t i = 1; i < rows.paths.size(); ++i)
    require(rows.paths[i].parent.index() < i, "parents come first");
  load::PathTree tree(profile);
  if (!tree.adopt(rows.owners, rows.sites, rows.paths)) return;
  for (const load::Site& site : profile.sites)
    require(site.special() || site.module.index() < profile.modules.size(), "a module exists");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static const load::Profile profile = sample_profile();
  std::vector<uint8_t> file(data + 1, data + size);
  if (data[0] & 1) fuzz::repair(file, format::FileKind::kDecoded, {});
  const uint64_t inputs = inputs_of(file);
  const load::MemorySource source({{format::kDecodedFile, std::move(file)}});
  if (const auto rows = load::read_decoded_file(source, profile, inputs)) check(*rows, profile);
  return 0;
}
