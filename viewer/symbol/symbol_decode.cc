// SPDX-License-Identifier: MIT
// The bytes of a symbols file to a SymbolTable for the sites of a profile. Chunks are checked and collected
// first, then every row, and only then is anything built from them. Context: viewer.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "common/bytes.h"
#include "common/symbol_format.h"
#include "viewer/symbol/symbol_file.h"

namespace varve::symbol {
namespace {

void require(bool holds, const char* clause) {
  if (!holds) throw ParseError(clause);
}

/// The file's tables, each number in them checked.
class Decoded {
 public:
  Decoded(std::span<const uint8_t> bytes, const load::SessionId& session) {
    ByteView view(bytes);
    check_header(view.take(format::kPageSize).read<format::FileHeader>(), session);
    while (!view.empty()) read_chunk(view);
    require(whole_, "was not finished");
    check_rows();
  }

  std::vector<std::string_view> strings;
  std::vector<format::SymbolModuleRow> modules;
  std::vector<format::SymbolFunctionRow> functions;
  std::vector<format::SymbolSiteRow> sites;
  std::vector<format::SymbolFrameRow> frames;
  std::vector<std::pair<format::SymbolCodeRow, std::span<const uint8_t>>> code;
  std::vector<uint64_t> first_frame;  // of each site, and the end
  std::vector<uint64_t> first_site;   // of each module, and the end

 private:
  bool whole_ = false;

  static void check_header(const format::FileHeader& header, const load::SessionId& session) {
    require(std::equal(std::begin(format::kMagic), std::end(format::kMagic), header.magic),
            "is no varve file");
    require(header.checksum == format::header_checksum(header), "has a damaged header");
    require(header.byte_order == format::kByteOrder, "is of a machine with the other byte order");
    require(header.major == format::kMajor, "is of another version of the format");
    require(header.kind == uint16_t(format::FileKind::kSymbols), "is no symbols file");
    require(std::equal(session.begin(), session.end(), header.session_id), "belongs to another run");
  }

  void read_chunk(ByteView& view) {
    auto header = view.peek<format::ChunkHeader>();
    require(header.capacity >= sizeof header && header.used <= header.capacity - sizeof header,
            "has a damaged chunk");
    ByteView chunk = view.take(header.capacity);
    chunk.skip(sizeof header);
    ByteView content = chunk.take(header.used);
    require(header.flags & format::kChunkSealed, "has a chunk that was not finished");
    require(XXH64(content.rest().data(), content.size(), 0) == header.checksum, "fails a checksum");
    switch (format::SymbolChunk(header.type)) {
      case format::SymbolChunk::kStrings:
        return read_strings(content);
      case format::SymbolChunk::kModules:
        return read_rows(content, modules);
      case format::SymbolChunk::kFunctions:
        return read_rows(content, functions);
      case format::SymbolChunk::kSites:
        return read_rows(content, sites);
      case format::SymbolChunk::kFrames:
        return read_rows(content, frames);
      case format::SymbolChunk::kCode:
        return read_code(content);
      case format::SymbolChunk::kEnd:
        whole_ = true;
        return;
    }
    // A chunk of a later version: nothing here depends on it.
  }

  void read_strings(ByteView content) {
    while (!content.empty()) {
      auto text = content.take(size_t(content.read_varint())).rest();
      strings.emplace_back(reinterpret_cast<const char*>(text.data()), text.size());
    }
  }

  void read_code(ByteView content) {
    while (!content.empty()) {
      const auto row = content.read<format::SymbolCodeRow>();
      code.emplace_back(row, content.take(row.size).rest());
    }
  }

  template <typename Row>
  static void read_rows(ByteView content, std::vector<Row>& rows) {
    require(content.size() % sizeof(Row) == 0, "has a row cut in two");
    size_t count = content.size() / sizeof(Row);
    size_t had = rows.size();
    rows.resize(had + count);
    if (count) std::memcpy(rows.data() + had, content.rest().data(), content.size());
  }

  bool text(uint32_t id) const { return id < strings.size(); }
  /// One that modules are told by, which the record of a module has room for.
  bool key(uint32_t id) const { return text(id) && strings[id].size() <= UINT16_MAX; }

  void check_rows() {
    constexpr char kReference[] = "refers to a row that it does not have";
    constexpr size_t kMaxRows = UINT32_MAX - 1;
    require(!strings.empty() && strings[0].empty(), "has no strings");
    require(std::max({strings.size(), functions.size(), sites.size(), frames.size()}) < kMaxRows,
            "is too large");
    first_site.push_back(0);
    for (const auto& row : modules) {
      require(key(row.path) && key(row.build_id) && key(row.host) && text(row.note), kReference);
      first_site.push_back(first_site.back() + row.site_count);
    }
    require(first_site.back() == sites.size(), "has sites without a module");
    for (const auto& row : functions) {
      require(text(row.name) && text(row.short_name) && text(row.linkage_name) && text(row.file), kReference);
      require(row.module < modules.size() && row.source <= uint32_t(NameSource::kSpecial), kReference);
    }
    first_frame.push_back(0);
    for (const auto& row : sites) {
      require(row.frame_count > 0, "has a site without frames");
      first_frame.push_back(first_frame.back() + row.frame_count);
    }
    require(first_frame.back() == frames.size(), "has frames without a site");
    for (const auto& row : frames) require(row.function < functions.size() && text(row.file), kReference);
    for (size_t m = 0; m < modules.size(); ++m)
      for (uint64_t row = first_frame[first_site[m]]; row < first_frame[first_site[m + 1]]; ++row)
        require(functions[frames[row].function].module == m, "names a function of another module");
    for (size_t m = 0; m < modules.size(); ++m)
      require(std::is_sorted(sites.begin() + ptrdiff_t(first_site[m]),
                             sites.begin() + ptrdiff_t(first_site[m + 1]),
                             [](auto& a, auto& b) { return a.vaddr < b.vaddr; }),
              "has sites out of order");
    check_code();
  }

  void check_code() const {
    for (size_t i = 0; i < code.size(); ++i) {
      const format::SymbolCodeRow& row = code[i].first;
      require(row.module < modules.size() && row.size > 0 && row.vaddr <= UINT64_MAX - row.size,
              "has code at no address");
      if (i == 0) continue;
      const format::SymbolCodeRow& before = code[i - 1].first;
      require(
          before.module == row.module ? before.vaddr + before.size <= row.vaddr : before.module < row.module,
          "has code out of order");
    }
  }
};

/// What makes two modules the same: path, build id, and for anonymous ones the process image.
using ModuleKey = std::tuple<std::string_view, std::string_view, bool, std::string_view, int32_t, uint32_t>;

ModuleKey key_of(const Decoded& file, const format::SymbolModuleRow& row) {
  return {file.strings[row.path],
          file.strings[row.build_id],
          row.flags & format::kModuleAnonymous,
          file.strings[row.host],
          row.pid,
          row.image};
}

ModuleKey key_of(const load::Profile& profile, const load::Module& module) {
  std::string_view build_id(reinterpret_cast<const char*>(module.build_id.data()), module.build_id.size());
  bool owned = module.anonymous && module.process.index() < profile.processes.size();
  if (!owned) return {module.path, build_id, module.anonymous, "", 0, 0};
  const load::Process& process = profile.processes[module.process.index()];
  return {module.path, build_id, true, process.host, process.pid, process.image};
}

class Joiner {
 public:
  Joiner(const Decoded& file, const load::Profile& profile) : file_(file), profile_(profile) {
    match_modules();
  }

  PartialSymbols run(std::span<const load::Site> sites) {
    for (std::string_view text : file_.strings) strings_.push_back(out_.table.strings.intern(text));
    for (const auto& row : file_.functions) add_function(row);
    add_sites(sites);
    return std::move(out_);
  }

  CodeTable code() {
    CodeTable result;
    for (const auto& [row, bytes] : file_.code)
      if (const ModuleId module = module_of_row_[row.module]; module.valid())
        result.pieces.push_back({module, row.vaddr, {bytes.begin(), bytes.end()}});
    for (size_t m = 0; m < file_.modules.size(); ++m)
      for (uint64_t i = file_.first_site[m]; module_of_row_[m].valid() && i < file_.first_site[m + 1]; ++i)
        result.places.push_back({module_of_row_[m], {file_.sites[i].vaddr}});
    std::ranges::sort(result.pieces, {}, [](const CodePiece& p) { return std::pair(p.module, p.low); });
    std::ranges::sort(result.places);
    result.names = run(result.places).table;
    return result;
  }

 private:
  void match_modules() {
    std::map<ModuleKey, uint32_t> rows;
    for (uint32_t i = 0; i < file_.modules.size(); ++i) rows.try_emplace(key_of(file_, file_.modules[i]), i);
    row_of_module_.assign(profile_.modules.size(), format::kNoRow);
    module_of_row_.assign(file_.modules.size(), ModuleId::none());
    for (uint32_t m = 0; m < profile_.modules.size(); ++m) {
      auto row = rows.find(key_of(profile_, profile_.modules[m]));
      if (row == rows.end()) continue;
      row_of_module_[m] = row->second;
      module_of_row_[row->second] = {m};
    }
    for (size_t i = 0; i < file_.modules.size(); ++i) {
      const auto& row = file_.modules[i];
      if (!module_of_row_[i].valid() || !(row.flags & format::kModuleHasQuality)) continue;
      out_.table.modules.push_back({module_of_row_[i], bool(row.flags & format::kModuleHasSymtab),
                                    bool(row.flags & format::kModuleHasDwarf),
                                    std::string(file_.strings[row.note])});
    }
  }

  void add_function(const format::SymbolFunctionRow& row) {
    Function function;
    function.name = strings_[row.name];
    function.short_name = strings_[row.short_name];
    function.linkage_name = strings_[row.linkage_name];
    function.module = module_of_row_[row.module];
    function.file = strings_[row.file];
    function.line = row.line;
    function.low = {row.low};
    function.size = row.size;
    function.source = NameSource(row.source);
    out_.table.functions.push_back(function);
  }

  void add_sites(std::span<const load::Site> sites) {
    SymbolTable& table = out_.table;
    out_.missing.resize(sites.size());
    table.frame_rows.reserve(file_.frames.size());
    table.site_first.reserve(sites.size() + 1);
    table.site_first.push_back(0);
    for (size_t i = 0; i < sites.size(); ++i) {
      size_t site = find(sites[i]);
      out_.missing[i] = site == SIZE_MAX;
      if (site != SIZE_MAX) add_frames(file_.first_frame[site], file_.first_frame[site + 1]);
      table.site_first.push_back(uint32_t(table.frame_rows.size()));
    }
  }

  void add_frames(uint64_t first, uint64_t end) {
    for (uint64_t row = first; row < end; ++row) {
      const auto& frame = file_.frames[row];
      out_.table.frame_rows.push_back({{frame.function}, strings_[frame.file], frame.line, row + 1 < end});
    }
  }

  size_t find(const load::Site& site) const {
    if (site.special() || site.module.index() >= row_of_module_.size()) return SIZE_MAX;
    uint32_t module = row_of_module_[site.module.index()];
    if (module == format::kNoRow) return SIZE_MAX;
    auto begin = file_.sites.begin() + ptrdiff_t(file_.first_site[module]);
    auto end = file_.sites.begin() + ptrdiff_t(file_.first_site[module + 1]);
    auto at = std::lower_bound(begin, end, site.vaddr.value,
                               [](auto& row, uint64_t vaddr) { return row.vaddr < vaddr; });
    return at == end || at->vaddr != site.vaddr.value ? SIZE_MAX : size_t(at - file_.sites.begin());
  }

  const Decoded& file_;
  const load::Profile& profile_;
  PartialSymbols out_;
  std::vector<StringId> strings_;
  std::vector<uint32_t> row_of_module_;
  std::vector<ModuleId> module_of_row_;
};

}  // namespace

tl::expected<PartialSymbols, std::string> decode_symbols(std::span<const uint8_t> bytes,
                                                         const load::Profile& profile,
                                                         const load::SessionId& session) {
  try {
    Decoded file(bytes, session);
    return Joiner(file, profile).run(profile.sites);
  } catch (const ParseError& error) {
    return tl::unexpected<std::string>(error.what());
  }
}

tl::expected<CodeTable, std::string> decode_code(std::span<const uint8_t> bytes, const load::Profile& profile,
                                                 const load::SessionId& session) {
  try {
    Decoded file(bytes, session);
    return Joiner(file, profile).code();
  } catch (const ParseError& error) {
    return tl::unexpected<std::string>(error.what());
  }
}

}  // namespace varve::symbol
