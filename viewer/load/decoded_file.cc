// SPDX-License-Identifier: MIT
// Chunks are read straight into the columns they belong to. See decoded_file.h.
// Context: viewer.
#include "viewer/load/decoded_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "common/bytes.h"
#include "viewer/load/chunk_reader.h"
#include "viewer/load/first_ticks.h"
#include "viewer/load/ledger.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace varve::load {
namespace {

/// Grows with every change of what the same samples decode to.
constexpr uint64_t kDecoding = 3;

// Rows of paths and leaves have the same bytes in the file and here.
static_assert(sizeof(Path) == sizeof(format::DecodedPath) && offsetof(Path, site) == 4);
static_assert(sizeof(PathId) == 4);

void require(bool holds) {
  if (!holds) throw ParseError("makes no sense");
}

class Hash {
 public:
  Hash() { XXH64_reset(&state_, kDecoding); }
  void add(const void* bytes, size_t size) { XXH64_update(&state_, bytes, size); }
  void add(uint64_t number) { add(&number, sizeof number); }
  uint64_t value() const { return std::max<uint64_t>(XXH64_digest(&state_), 1); }

 private:
  XXH64_state_t state_;
};

/// Rows of one type, and how many bytes of them were read.
struct Column {
  format::DecodedChunk type;
  std::span<uint8_t> bytes;
  size_t filled = 0;
};

template <typename Row>
Column column(format::DecodedChunk type, std::vector<Row>& rows, uint64_t count) {
  rows.resize(count);
  return {type, {reinterpret_cast<uint8_t*>(rows.data()), count * sizeof(Row)}};
}

class Reader {
 public:
  Reader(const File& file, uint64_t inputs) : file_(file) {
    read_key(inputs);
    std::vector<uint32_t> owners;
    std::vector<format::DecodedSite> sites;
    read_columns(owners, sites);
    for (const uint32_t owner : owners) rows_.owners.push_back({owner});
    for (const auto& row : sites) rows_.sites.push_back({{row.module}, {row.vaddr}});
  }

  DecodedSamples rows() && { return std::move(rows_); }

 private:
  format::ChunkHeader next_chunk() {
    format::ChunkHeader header;
    const std::span<uint8_t> bytes(reinterpret_cast<uint8_t*>(&header), sizeof header);
    require(file_.read(offset_, bytes) == sizeof header);
    require(header.flags & format::kChunkSealed && header.capacity >= sizeof header &&
            header.capacity % format::kChunkUnit == 0 && header.used <= header.capacity - sizeof header);
    return header;
  }

  void read_into(const format::ChunkHeader& header, std::span<uint8_t> bytes) {
    require(file_.read(offset_ + sizeof header, bytes) == bytes.size());
    require(XXH64(bytes.data(), bytes.size(), 0) == header.checksum);
    offset_ += header.capacity;
  }

  void read_key(uint64_t inputs) {
    const format::ChunkHeader header = next_chunk();
    require(header.type == uint32_t(format::DecodedChunk::kKey) && header.used == sizeof key_);
    read_into(header, {reinterpret_cast<uint8_t*>(&key_), sizeof key_});
    require(key_.inputs == inputs);
    // Memory is bounded by the size of the file.
    const std::array<std::pair<uint64_t, size_t>, 8> rows = {{{key_.owners, sizeof(uint32_t)},
                                                              {key_.sites, sizeof(format::DecodedSite)},
                                                              {key_.paths, sizeof(format::DecodedPath)},
                                                              {key_.runs, sizeof(format::DecodedRun)},
                                                              {key_.samples, 2 * sizeof(uint64_t) + 4},
                                                              {key_.waits, sizeof(format::DecodedWait)},
                                                              {key_.releases, sizeof(format::DecodedWait)},
                                                              {key_.creations, sizeof(format::DecodedWait)}}};
    uint64_t bytes_left = file_.size();
    for (const auto& [count, size] : rows) {
      require(count <= bytes_left / size);
      bytes_left -= count * size;
    }
    require(std::max({key_.sites, key_.paths, key_.samples}) < UINT32_MAX);
  }

  void read_columns(std::vector<uint32_t>& owners, std::vector<format::DecodedSite>& sites) {
    rows_.releases = key_.releases;
    rows_.creations = key_.creations;
    std::array<Column, 8> columns = {
        column(format::DecodedChunk::kOwners, owners, key_.owners),
        column(format::DecodedChunk::kSites, sites, key_.sites),
        column(format::DecodedChunk::kPaths, rows_.paths, key_.paths),
        column(format::DecodedChunk::kRuns, rows_.runs, key_.runs),
        column(format::DecodedChunk::kTimes, rows_.time_ns, key_.samples),
        column(format::DecodedChunk::kWeights, rows_.weight_ns, key_.samples),
        column(format::DecodedChunk::kLeaves, rows_.leaf, key_.samples),
        column(format::DecodedChunk::kWaits, rows_.waits, key_.waits + key_.releases + key_.creations)};
    for (;;) {
      const format::ChunkHeader header = next_chunk();
      if (header.type == uint32_t(format::DecodedChunk::kEnd)) break;
      const auto into = std::ranges::find(columns, format::DecodedChunk(header.type), &Column::type);
      require(into != columns.end() && header.used <= into->bytes.size() - into->filled);
      read_into(header, into->bytes.subspan(into->filled, header.used));
      into->filled += header.used;
    }
    for (const Column& each : columns) require(each.filled == each.bytes.size());
  }

  const File& file_;
  uint64_t offset_ = format::kPageSize;
  format::DecodedKey key_;
  DecodedSamples rows_;
};

void check_sites(const DecodedSamples& rows, const Profile& profile) {
  for (const ProcessId owner : rows.owners) require(owner.index() < profile.processes.size());
  std::vector<ProcessId> owners = rows.owners;
  std::ranges::sort(owners);
  require(std::ranges::adjacent_find(owners) == owners.end());
  const size_t modules = profile.modules.size() + rows.owners.size();
  for (const Site& site : rows.sites)
    require(site.special() ? site.vaddr.value < uint64_t(SpecialSite::kCount)
                           : site.module.index() < modules);
}

void check_paths(const DecodedSamples& rows) {
  require(!rows.paths.empty() && rows.paths[0] == Path{});
  // No agent writes deeper stacks; what walks up and down a tree takes as long as it is deep. One more for
  // why a stack ended.
  constexpr uint16_t kDeepest = format::kMaxStackDepth + 1;
  std::vector<uint16_t> depth(rows.paths.size());
  for (size_t i = 1; i < rows.paths.size(); ++i) {
    require(rows.paths[i].parent.index() < i && rows.paths[i].site.index() < rows.sites.size());
    depth[i] = uint16_t(depth[rows.paths[i].parent.index()] + 1);
    require(depth[i] <= kDeepest);
  }
  for (const PathId leaf : rows.leaf) require(leaf.index() < rows.paths.size());
}

void check_runs(const DecodedSamples& rows, const Profile& profile) {
  size_t first = 0;
  uint64_t sum = 0;
  ThreadId before;
  for (const format::DecodedRun& run : rows.runs) {
    require(run.thread < profile.threads.size() && run.samples > 0);
    require(!before.valid() || before.value < run.thread);
    before = {run.thread};
    require(run.samples <= rows.time_ns.size() - first);
    const auto times = std::span(rows.time_ns).subspan(first, run.samples);
    require(std::ranges::is_sorted(times));
    for (const uint64_t weight : std::span(rows.weight_ns).subspan(first, run.samples)) {
      require(weight <= kMostCpuNs - sum);
      sum += weight;
    }
    first += run.samples;
  }
  require(first == rows.time_ns.size());
}

/// Each part by thread, then by time.
void check_waits(const DecodedSamples& rows, const Profile& profile) {
  const auto key = [](const format::DecodedWait& row) { return std::pair(row.thread, row.time_ns); };
  const auto first_creation = rows.waits.end() - ptrdiff_t(rows.creations);
  const auto first_release = first_creation - ptrdiff_t(rows.releases);
  require(std::ranges::is_sorted(rows.waits.begin(), first_release, {}, key) &&
          std::ranges::is_sorted(first_release, first_creation, {}, key) &&
          std::ranges::is_sorted(first_creation, rows.waits.end(), {}, key));
  for (const format::DecodedWait& row : rows.waits) {
    const uint32_t kind = row.kind & ~format::kDecodedTimedOut;
    require(row.thread < profile.threads.size() && row.path < rows.paths.size() && kind != 0 &&
            kind < uint32_t(format::ObjectKind::kCount) && row.duration_ns <= row.time_ns);
  }
}

}  // namespace

uint64_t hash_inputs(std::span<const SampleSource> sources, const Profile& profile) {
  Hash hash;
  const EarlyTicks early = early_ticks(profile.session);
  for (const Nanos time : {early.from, early.until, profile.session.interval}) hash.add(time.count);
  for (const SampleSource& source : sources) {
    hash.add(source.file->session_id.data(), source.file->session_id.size());
    hash.add(uint64_t(uint32_t(source.file->process.pid)) << 32 | source.file->process.image);
    for (const Chunk& chunk : source.file->sample_chunks) {
      hash.add(&chunk.header, sizeof chunk.header);
      hash.add(chunk.readable);
    }
    for (const format::ThreadRecord& thread : source.file->threads) hash.add(thread.index);
  }
  for (const Mapping& mapping : profile.mappings) {
    const Module& module = profile.modules[mapping.module.index()];
    hash.add(uint64_t(mapping.process.value) << 32 | mapping.module.value);
    hash.add(module.path.data(), module.path.size());
    hash.add(module.build_id.data(), module.build_id.size());
    for (const uint64_t number : {mapping.bias, mapping.span.begin.value, mapping.span.end.value,
                                  mapping.load_time.count, mapping.unload_time.count})
      hash.add(number);
    for (const AddressRange& range : mapping.code) hash.add(range.begin.value), hash.add(range.end.value);
  }
  return hash.value();
}

std::optional<DecodedSamples> read_decoded_file(const FileSource& source, const Profile& profile,
                                                uint64_t inputs) {
  const auto file = source.open(format::kDecodedFile);
  if (!file || !read_file_header(**file, format::FileKind::kDecoded)) return std::nullopt;
  try {
    DecodedSamples rows = Reader(**file, inputs).rows();
    check_sites(rows, profile);
    check_paths(rows);
    check_runs(rows, profile);
    check_waits(rows, profile);
    return rows;
  } catch (const ParseError&) {
    return std::nullopt;
  }
}

}  // namespace varve::load
