// SPDX-License-Identifier: MIT
// See stored_views.h.
// Context: viewer.
#include "viewer/stored_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <tuple>

#include "common/bytes.h"
#include "viewer/load/chunk_reader.h"
#include "viewer/load/file_source.h"
#include "viewer/load/replaced_file.h"
#include "viewer/record/chunk_writer.h"
#include "viewer/view/request.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace varve {
namespace {

/// First a chunk with made_from(), then one a view: its key NUL, then the view as bytes.
constexpr uint32_t kFromChunk = format::fourcc("VFRM"), kViewChunk = format::fourcc("VIEW"),
                   kEndChunk = format::fourcc("VEND");

struct Stored {
  const char* kind;
  bool fold_recursion = false;
  double min_share = 0;
  uint64_t limit = 0;
};
/// What screens ask for when they open, and what reports print as text; a view that is not here is made when
/// it is asked for.
constexpr Stored kStored[] = {
    {"summary"},
    {"concurrency"},
    {"hotspots"},
    {"threads"},
    {"processes"},
    {"programs"},
    {"modules"},
    {"lines"},
    {"quality"},
    {"tlp"},
    {"waits"},
    {"critical-path"},
    {"idle", false, view::kTextTreeShare},
    {"top-down", true, view::kTreeScreenShare},
    {"bottom-up", true, view::kTreeScreenShare},
    {"top-down", true, view::kFlameScreenShare},
    {"hotspots", true, 0, view::kTextLimit},
    {"top-down", true, view::kTextTreeShare},
    {"bottom-up", true, view::kTextTreeShare},
};

view::Request request_of(const Stored& stored) {
  view::Request request;
  request.fold_recursion = stored.fold_recursion;
  request.min_share = stored.min_share;
  request.limit = stored.limit;
  return request;
}

/// Of the bytes of views; another one makes what is stored unknown.
constexpr uint64_t kLayout = 5;

std::string file_path(const load::Profile& profile, const char* name) {
  return fmt::format("{}/{}", profile.directory, name);
}

/// All of a file; empty where it cannot be read.
std::vector<uint8_t> read_all(const std::string& path) {
  const auto file = load::open_file(path);
  std::vector<uint8_t> bytes(file ? size_t((*file)->size()) : 0);
  if (file) bytes.resize((*file)->read(0, bytes));
  return bytes;
}

/// Of what the views depend on beside the samples, too: the end of the run, run states and names.
uint64_t made_from(const load::Profile& profile) {
  uint64_t hash = profile.sample_inputs;
  for (const char* name : {format::kSessionFile, format::kObserverFile, format::kSymbolsFile}) {
    const std::vector<uint8_t> bytes = read_all(file_path(profile, name));
    hash = XXH64(bytes.data(), bytes.size(), hash);
  }
  // A process that outlives its recorder writes its end, and marks, later.
  const auto add = [&hash](std::initializer_list<uint64_t> numbers) {
    hash = XXH64(std::data(numbers), numbers.size() * sizeof(uint64_t), hash);
  };
  // Only what was told: ends are moved where samples are read.
  for (const load::Process& process : profile.processes)
    add({uint64_t(process.end), process.counter(format::Counter::kTicksPaused)});
  for (const load::Thread& thread : profile.threads) {
    add({thread.told_end.count, thread.last_cpu.count, thread.ticks});
    hash = XXH64(thread.name.data(), thread.name.size(), hash);
  }
  add({profile.damages.size(), kLayout});
  for (const load::Mark& mark : profile.marks) add({mark.time.count, mark.name.size()});
  return XXH64(VARVE_VERSION, sizeof VARVE_VERSION, hash);
}

std::vector<std::string> stored_keys() {
  std::vector<std::string> keys;
  for (const Stored& each : kStored) keys.push_back(view::stored_key(each.kind, request_of(each)));
  return keys;
}

/// The next chunk: its type and rows.
std::pair<uint32_t, std::span<const uint8_t>> take_chunk(ByteView& file) {
  const auto header = file.peek<format::ChunkHeader>();
  if (header.capacity < sizeof header || header.used > header.capacity - sizeof header)
    throw ParseError("has a damaged chunk");
  ByteView chunk = file.take(header.capacity);
  chunk.skip(sizeof header);
  const auto rows = chunk.take(header.used).rest();
  if (XXH64(rows.data(), rows.size(), 0) != header.checksum) throw ParseError("fails a checksum");
  return {header.type, rows};
}

void parse(view::StoredViews& stored, uint64_t wanted) {
  ByteView file(stored.bytes);
  file.skip(format::kPageSize);
  auto [type, rows] = take_chunk(file);
  if (type != kFromChunk || ByteView(rows).read<uint64_t>() != wanted) throw ParseError("is of other files");
  for (std::tie(type, rows) = take_chunk(file); type == kViewChunk; std::tie(type, rows) = take_chunk(file)) {
    ByteView content(rows);
    std::string key(content.read_text());
    if (!std::ranges::count(stored_keys(), key)) throw ParseError("has a view that is not stored");
    stored.views.emplace(std::move(key), view::decode_view(content.rest()));
  }
  if (type != kEndChunk) throw ParseError("has no end");
}

}  // namespace

tl::expected<void, std::string> store_views(const load::Profile& profile,
                                            const symbol::SymbolTable& symbols) {
  const std::string session_path = file_path(profile, format::kSessionFile);
  const auto session = load::open_file(session_path);
  if (!session) return tl::unexpected(fmt::format("{} {}", session_path, session.error()));
  const auto header = load::read_file_header(**session, format::FileKind::kSession);
  if (!header) return tl::unexpected(fmt::format("{} {}", session_path, header.error()));

  load::ReplacedFile file(file_path(profile, format::kViewsFile));
  file.write_header(record::make_file_header(format::FileKind::kViews, *header));
  const uint64_t from = made_from(profile);
  file.write_chunk(kFromChunk, {reinterpret_cast<const uint8_t*>(&from), sizeof from});
  const view::Source source{profile, symbols};
  const view::Prepared prepared = view::prepare(source, {});
  for (const Stored& each : kStored) {
    const view::Request request = request_of(each);
    const view::Made made = view::make(*view::find_kind(each.kind), source, request, prepared);
    if (!made) continue;
    const std::string key = view::stored_key(each.kind, request);
    std::vector<uint8_t> bytes(key.c_str(), key.c_str() + key.size() + 1);
    const std::vector<uint8_t> encoded = view::encode_view(*made);
    bytes.insert(bytes.end(), encoded.begin(), encoded.end());
    file.write_chunk(kViewChunk, bytes);
  }
  file.write_chunk(kEndChunk, {});
  return file.finish();
}

bool has_stored_views(const std::string& directory) {
  return load::open_file(fmt::format("{}/{}", directory, format::kViewsFile)).has_value();
}

std::optional<view::StoredViews> read_stored_views(const load::Profile& profile) {
  view::StoredViews stored;
  const auto file = load::open_file(file_path(profile, format::kViewsFile));
  if (!file || !load::read_file_header(**file, format::FileKind::kViews)) return std::nullopt;
  stored.bytes = read_all(file_path(profile, format::kViewsFile));
  try {
    parse(stored, made_from(profile));
  } catch (const ParseError&) {
    return std::nullopt;
  }
  return stored;
}

}  // namespace varve
