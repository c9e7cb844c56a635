// SPDX-License-Identifier: MIT
// What the loader added to the samples, the rows of the ledger and waits that the observer saw, it will add
// again: rows without a tick, and the sites and paths that only they have, which come last. See
// common/decoded_format.h. Context: viewer.
#include "viewer/record/decoded_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "common/decoded_format.h"
#include "viewer/load/chunk_reader.h"
#include "viewer/load/file_source.h"
#include "viewer/load/replaced_file.h"
#include "viewer/record/chunk_writer.h"

namespace varve::record {
namespace {

using format::DecodedChunk;

/// Decoding takes some 0.3 s from here on. The file adds 20 bytes a sample, and 8 a path.
constexpr uint64_t kWorthSamples = 250'000;
constexpr size_t kChunkBytes = size_t{1} << 20;  // of rows

/// The next chunks of one type.
class Rows {
 public:
  Rows(load::ReplacedFile& file, DecodedChunk type) : file_(file), type_(type) {}

  template <typename Row>
  void add(const Row& row) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&row);
    rows_.insert(rows_.end(), bytes, bytes + sizeof row);
    if (rows_.size() + sizeof row > kChunkBytes) finish();
  }

  void finish() {
    file_.write_chunk(uint32_t(type_), rows_);
    rows_.clear();
  }

 private:
  load::ReplacedFile& file_;
  const DecodedChunk type_;
  std::vector<uint8_t> rows_;
};

class Writer {
 public:
  Writer(const load::Profile& profile, load::ReplacedFile& file) : profile_(profile), file_(file) {}

  void write(const format::FileHeader& header) {
    file_.write_header(header);
    count();
    put(DecodedChunk::kKey, [&](auto add) { add(key_); });
    put(DecodedChunk::kOwners, [&](auto add) {
      for (const load::Module& module : profile_.modules)
        if (is_owner(module)) add(module.process.value);
    });
    put(DecodedChunk::kSites, [&](auto add) {
      for (const load::Site& site : std::span(profile_.sites).first(key_.sites))
        add(format::DecodedSite{site.module.value, 0, site.vaddr.value});
    });
    put(DecodedChunk::kPaths, [&](auto add) {
      for (const load::Path& path : std::span(profile_.paths).first(key_.paths))
        add(format::DecodedPath{path.parent.value, path.site.value});
    });
    put(DecodedChunk::kRuns, [&](auto add) {
      for (const format::DecodedRun& run : runs_) add(run);
    });
    put_samples(DecodedChunk::kTimes, profile_.samples.time_ns);
    put_samples(DecodedChunk::kWeights, profile_.samples.weight_ns);
    put_samples(DecodedChunk::kLeaves, profile_.samples.path);
    put(DecodedChunk::kWaits, [&](auto add) {
      for (const load::Wait& each : profile_.waits.waits)
        if (!each.observed)
          add(format::DecodedWait{each.end_ns, each.duration_ns, each.object, each.thread.value,
                                  told_path(each).value, each.count, kind_of(each)});
      for (const load::Release& each : profile_.waits.releases)
        add(format::DecodedWait{each.time_ns, each.waited_ns, each.object, each.thread.value, each.path.value,
                                each.waiters, uint32_t(each.kind)});
      for (const load::Creation& each : profile_.waits.creations)
        add(format::DecodedWait{each.time_ns, 0, each.object, each.thread.value, each.path.value, each.made,
                                uint32_t(each.kind)});
    });
    Rows(file_, DecodedChunk::kEnd).finish();
  }

 private:
  /// Only what agents saw is decoded; what the observer saw the loader adds again.
  bool is_owner(const load::Module& module) const {
    return module.anonymous && !profile_.processes[module.process.index()].seen_only;
  }

  static uint32_t kind_of(const load::Wait& wait) {
    return uint32_t(wait.kind) | (wait.timed_out ? format::kDecodedTimedOut : 0);
  }

  /// As the agent told it: a wait whose stack only the observer saw has none.
  PathId told_path(const load::Wait& wait) const { return wait.observed_stack ? not_taken_ : wait.path; }

  PathId find_not_taken() const {
    const auto at = std::ranges::find_if(profile_.paths, [this](const load::Path& path) {
      return path.parent == PathId{0} && path.site.valid() &&
             profile_.sites[path.site.index()] ==
                 load::Site{ModuleId::none(), {uint64_t(load::SpecialSite::kNotTaken)}};
    });
    return at == profile_.paths.end() ? PathId{0} : PathId{uint32_t(at - profile_.paths.begin())};
  }

  void count() {
    const load::Samples& samples = profile_.samples;
    uint32_t last_path = 0, last_site = 0;
    for (size_t row = 0; row < samples.size(); ++row) {
      if (samples.ticks[row] == 0) continue;
      last_path = std::max(last_path, samples.path[row].value);
      const uint32_t thread = samples.thread[row].value;
      if (runs_.empty() || runs_.back().thread != thread) runs_.push_back({thread, 0, 0});
      ++runs_.back().samples;
    }
    for (const load::Wait& each : profile_.waits.waits)
      if (!each.observed) last_path = std::max(last_path, told_path(each).value);
    for (const load::Release& each : profile_.waits.releases)
      last_path = std::max(last_path, each.path.value);
    for (const load::Creation& each : profile_.waits.creations)
      last_path = std::max(last_path, each.path.value);
    key_.waits = uint64_t(std::ranges::count(profile_.waits.waits, false, &load::Wait::observed));
    key_.releases = profile_.waits.releases.size();
    key_.creations = profile_.waits.creations.size();
    key_.paths = last_path + uint64_t{1};
    for (const load::Path& path : std::span(profile_.paths).subspan(1, last_path))
      last_site = std::max(last_site, path.site.value);
    key_.sites = last_path == 0 ? 0 : last_site + uint64_t{1};
    key_.inputs = profile_.sample_inputs;
    key_.owners = uint64_t(
        std::ranges::count_if(profile_.modules, [this](const auto& module) { return is_owner(module); }));
    key_.runs = runs_.size();
    key_.samples = profile_.sample_count;
  }

  template <typename Fill>
  void put(DecodedChunk type, Fill fill) {
    Rows rows(file_, type);
    fill([&rows](const auto& row) { rows.add(row); });
    rows.finish();
  }

  template <typename Value>
  void put_samples(DecodedChunk type, const std::vector<Value>& column) {
    put(type, [&](auto add) {
      for (size_t row = 0; row < column.size(); ++row)
        if (profile_.samples.ticks[row] != 0) add(column[row]);
    });
  }

  const load::Profile& profile_;
  load::ReplacedFile& file_;
  format::DecodedKey key_{};
  std::vector<format::DecodedRun> runs_;
  const PathId not_taken_ = find_not_taken();
};

}  // namespace

bool worth_decoding(const load::Profile& profile) {
  return profile.sample_count >= kWorthSamples && profile.sample_inputs != 0;
}

tl::expected<void, std::string> write_decoded_file(const load::Profile& profile) {
  const std::string session_path = fmt::format("{}/{}", profile.directory, format::kSessionFile);
  const auto session = load::open_file(session_path);
  if (!session) return tl::unexpected(fmt::format("{} {}", session_path, session.error()));
  const auto header = load::read_file_header(**session, format::FileKind::kSession);
  if (!header) return tl::unexpected(fmt::format("{} {}", session_path, header.error()));
  load::ReplacedFile file(fmt::format("{}/{}", profile.directory, format::kDecodedFile));
  Writer(profile, file).write(make_file_header(format::FileKind::kDecoded, *header));
  return file.finish();
}

}  // namespace varve::record
