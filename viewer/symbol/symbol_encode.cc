// SPDX-License-Identifier: MIT
// A SymbolTable to the bytes of a symbols file. Strings are written once, and only those that are used.
// Context: viewer.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <unordered_map>

#include "common/symbol_format.h"
#include "common/varint.h"
#include "viewer/symbol/symbol_file.h"

namespace varve::symbol {
namespace {

// Far below what ChunkHeader::capacity can say, so that a reader may check a chunk at a time.
constexpr size_t kChunkTarget = 16 << 20;

class Output {
 public:
  explicit Output(const load::SessionId& session) : bytes_(format::kPageSize) {
    format::FileHeader header{};
    std::copy(std::begin(format::kMagic), std::end(format::kMagic), header.magic);
    header.major = format::kMajor;
    header.minor = format::kMinor;
    header.byte_order = format::kByteOrder;
    header.kind = uint16_t(format::FileKind::kSymbols);
    std::copy(session.begin(), session.end(), header.session_id);
    header.start_realtime_ns = now(CLOCK_REALTIME);
    header.start_monotonic_ns = now(CLOCK_MONOTONIC);
    header.checksum = format::header_checksum(header);
    std::memcpy(bytes_.data(), &header, sizeof header);
  }

  void chunk(format::SymbolChunk type, std::span<const uint8_t> content) {
    format::ChunkHeader header{};
    header.type = uint32_t(type);
    header.version = 1;
    header.flags = format::kChunkSealed | format::kChunkArray;
    header.thread = format::kNoThread;
    header.sequence = sequence_++;
    header.used = uint32_t(content.size());
    size_t whole =
        (sizeof header + content.size() + format::kPageSize - 1) / format::kPageSize * format::kPageSize;
    header.capacity = uint32_t(whole);
    header.checksum = XXH64(content.data(), content.size(), 0);
    size_t at = bytes_.size();
    bytes_.resize(at + whole);
    std::memcpy(bytes_.data() + at, &header, sizeof header);
    if (!content.empty()) std::memcpy(bytes_.data() + at + sizeof header, content.data(), content.size());
  }

  template <typename Row>
  void rows(format::SymbolChunk type, const std::vector<Row>& rows) {
    constexpr size_t kRows = kChunkTarget / sizeof(Row);
    for (size_t at = 0; at < rows.size(); at += kRows) {
      size_t count = std::min(kRows, rows.size() - at);
      chunk(type, {reinterpret_cast<const uint8_t*>(rows.data() + at), count * sizeof(Row)});
    }
  }

  std::vector<uint8_t> take() { return std::move(bytes_); }

 private:
  static uint64_t now(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return uint64_t(time.tv_sec) * kNanosPerSecond.count + uint64_t(time.tv_nsec);
  }

  std::vector<uint8_t> bytes_;
  uint32_t sequence_ = 0;
};

class Strings {
 public:
  Strings() { put(""); }

  uint32_t put(std::string_view text) {
    auto [known, fresh] = ids_.try_emplace(std::string(text), uint32_t(ids_.size()));
    if (fresh) append(text);
    return known->second;
  }

  void write(Output& out) {
    size_t from = 0;
    for (size_t cut : cuts_)
      out.chunk(format::SymbolChunk::kStrings, std::span(bytes_).subspan(from, cut - from)), from = cut;
    out.chunk(format::SymbolChunk::kStrings, std::span(bytes_).subspan(from));
  }

 private:
  void append(std::string_view text) {
    size_t last = cuts_.empty() ? 0 : cuts_.back();
    if (bytes_.size() > last && bytes_.size() - last + text.size() > kChunkTarget)
      cuts_.push_back(bytes_.size());
    uint8_t length[10];
    bytes_.insert(bytes_.end(), length, put_varint(length, text.size()));
    bytes_.insert(bytes_.end(), text.begin(), text.end());
  }

  std::unordered_map<std::string, uint32_t> ids_;
  std::vector<uint8_t> bytes_;
  std::vector<size_t> cuts_;
};

class Encoder {
 public:
  Encoder(const load::Profile& profile, const SymbolTable& table) : profile_(profile), table_(table) {}

  std::vector<uint8_t> run(const load::SessionId& session, std::span<const CodePiece> code) {
    add_modules();
    add_functions();
    add_sites();
    Output out(session);
    strings_.write(out);
    out.rows(format::SymbolChunk::kModules, modules_);
    out.rows(format::SymbolChunk::kFunctions, functions_);
    out.rows(format::SymbolChunk::kSites, sites_);
    out.rows(format::SymbolChunk::kFrames, frames_);
    write_code(out, code);
    out.chunk(format::SymbolChunk::kEnd, {});
    return out.take();
  }

 private:
  void add_modules() {
    by_module_.resize(profile_.modules.size());
    for (uint32_t i = 0; i < profile_.sites.size(); ++i) {
      const load::Site& site = profile_.sites[i];
      // Special sites need no file to have a name.
      if (!site.special() && site.module.index() < by_module_.size())
        by_module_[site.module.index()].push_back({i});
    }
    row_of_module_.assign(profile_.modules.size(), format::kNoRow);
    for (uint32_t m = 0; m < by_module_.size(); ++m) {
      if (by_module_[m].empty()) continue;
      row_of_module_[m] = uint32_t(modules_.size());
      modules_.push_back(module_row(profile_.modules[m], by_module_[m].size()));
      order_.push_back(m);
    }
    for (const ModuleQuality& quality : table_.modules) {
      uint32_t row = quality.module.index() < row_of_module_.size() ? row_of_module_[quality.module.index()]
                                                                    : format::kNoRow;
      if (row == format::kNoRow) continue;
      modules_[row].flags |= format::kModuleHasQuality | (quality.has_symtab ? format::kModuleHasSymtab : 0) |
                             (quality.has_dwarf ? format::kModuleHasDwarf : 0);
      modules_[row].note = strings_.put(quality.note);
    }
  }

  format::SymbolModuleRow module_row(const load::Module& module, size_t sites) {
    format::SymbolModuleRow row{};
    row.path = strings_.put(module.path);
    row.build_id =
        strings_.put({reinterpret_cast<const char*>(module.build_id.data()), module.build_id.size()});
    row.site_count = uint32_t(sites);
    if (!module.anonymous) return row;
    row.flags = format::kModuleAnonymous;
    if (!module.process.valid() || module.process.index() >= profile_.processes.size()) return row;
    const load::Process& process = profile_.processes[module.process.index()];
    row.host = strings_.put(process.host);
    row.pid = process.pid;
    row.image = process.image;
    return row;
  }

  void add_functions() {
    row_of_function_.assign(table_.functions.size(), format::kNoRow);
    for (size_t i = 0; i < table_.functions.size(); ++i) {
      const Function& function = table_.functions[i];
      bool stored = function.module.index() < row_of_module_.size() &&
                    row_of_module_[function.module.index()] != format::kNoRow;
      if (!stored) continue;
      row_of_function_[i] = uint32_t(functions_.size());
      functions_.push_back({text(function.name), text(function.short_name), text(function.linkage_name),
                            text(function.file), function.line, row_of_module_[function.module.index()],
                            uint32_t(function.source), 0, function.low.value, function.size});
    }
  }

  void add_sites() {
    for (uint32_t m : order_) {
      std::vector<SiteId>& sites = by_module_[m];
      std::sort(sites.begin(), sites.end(), [&](SiteId a, SiteId b) {
        return profile_.sites[a.index()].vaddr < profile_.sites[b.index()].vaddr;
      });
      uint32_t kept = 0;
      for (SiteId site : sites) kept += add_site(site);
      modules_[row_of_module_[m]].site_count = kept;
    }
  }

  bool add_site(SiteId site) {
    auto frames = table_.frames(site);
    for (const Frame& frame : frames)
      if (row_of_function_[frame.function.index()] == format::kNoRow) return false;
    if (frames.empty()) return false;
    for (const Frame& frame : frames)
      frames_.push_back({row_of_function_[frame.function.index()], text(frame.file), frame.line, 0});
    sites_.push_back({profile_.sites[site.index()].vaddr.value, uint32_t(frames.size()), 0});
    return true;
  }

  /// Each has a site at its begin, so its module has a row.
  void write_code(Output& out, std::span<const CodePiece> code) const {
    std::vector<uint8_t> chunk;
    for (const CodePiece& piece : code) {
      const format::SymbolCodeRow row{piece.low, row_of_module_[piece.module.index()],
                                      uint32_t(piece.bytes.size())};
      const auto* head = reinterpret_cast<const uint8_t*>(&row);
      chunk.insert(chunk.end(), head, head + sizeof row);
      chunk.insert(chunk.end(), piece.bytes.begin(), piece.bytes.end());
      if (chunk.size() < kChunkTarget && &piece != &code.back()) continue;
      out.chunk(format::SymbolChunk::kCode, chunk);
      chunk.clear();
    }
  }

  uint32_t text(StringId id) { return strings_.put(table_.strings.text(id)); }

  const load::Profile& profile_;
  const SymbolTable& table_;
  Strings strings_;
  std::vector<std::vector<SiteId>> by_module_;
  std::vector<uint32_t> order_;  // modules that have a row, by row
  std::vector<uint32_t> row_of_module_, row_of_function_;
  std::vector<format::SymbolModuleRow> modules_;
  std::vector<format::SymbolFunctionRow> functions_;
  std::vector<format::SymbolSiteRow> sites_;
  std::vector<format::SymbolFrameRow> frames_;
};

}  // namespace

std::vector<uint8_t> encode_symbols(const load::Profile& profile, const SymbolTable& table,
                                    const load::SessionId& session) {
  return Encoder(profile, table).run(session, {});
}

std::vector<uint8_t> encode_code(const load::Profile& profile, const CodeTable& code,
                                 const load::SessionId& session) {
  load::Profile places;
  places.modules = profile.modules;
  places.processes = profile.processes;
  places.sites = code.places;
  return Encoder(places, code.names).run(session, code.pieces);
}

}  // namespace varve::symbol
