// SPDX-License-Identifier: MIT
// Extents first, of all modules, so that the hottest win; then their instructions, whose addresses and
// targets are resolved as if they were the sites of a profile; of equal neighbours the first is kept.
// Context: viewer.
#include "viewer/symbol/code_collect.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "viewer/symbol/debug_files.h"
#include "viewer/symbol/disassemble.h"
#include "viewer/symbol/opened_module.h"
#include "viewer/symbol/resolver.h"
#include "viewer/symbol/symbol_file.h"

namespace varve::symbol {
namespace {

/// Code without time of its own is read seldom, and is most of what a large program runs.
constexpr ptrdiff_t kCallSites = 200;

/// A piece, and the place of the first site in it among those wanted.
struct Candidate {
  CodePiece piece;
  size_t rank;
};

/// By module: whether its places have lines.
using HasLines = std::vector<bool>;

void add_extents(std::vector<Candidate>& found, ModuleId module,
                 const std::vector<std::pair<uint64_t, size_t>>& vaddrs, OpenedModule& code,
                 const CodeLimits& limits, HasLines& has_lines) {
  has_lines[module.index()] = code.has_lines();
  std::map<uint64_t, size_t> by_low;  // -> found
  for (const auto& [vaddr, rank] : vaddrs) {
    const auto extent = code.around({vaddr});
    if (!extent) continue;
    const auto [at, fresh] = by_low.try_emplace(extent->low, found.size());
    if (!fresh) {
      found[at->second].rank = std::min(found[at->second].rank, rank);
      continue;
    }
    const auto bytes = extent->bytes.first(std::min<size_t>(extent->bytes.size(), limits.function));
    found.push_back({{module, extent->low, {bytes.begin(), bytes.end()}}, rank});
  }
}

/// Symbols, stubs and unwind entries of an odd file need not agree about where code begins; one address has
/// one piece.
std::vector<CodePiece> without_overlaps(std::vector<CodePiece> sorted) {
  std::vector<CodePiece> apart;
  for (CodePiece& piece : sorted) {
    const bool free = apart.empty() || apart.back().module != piece.module || apart.back().end() <= piece.low;
    if (free) apart.push_back(std::move(piece));
  }
  return apart;
}

std::vector<CodePiece> choose(std::vector<Candidate> found, uint64_t room) {
  std::ranges::sort(found, {}, &Candidate::rank);
  std::vector<CodePiece> pieces;
  for (Candidate& each : found) {
    if (each.piece.bytes.size() > room) continue;
    room -= each.piece.bytes.size();
    pieces.push_back(std::move(each.piece));
  }
  std::ranges::sort(pieces, {}, [](const CodePiece& p) { return std::pair(p.module, p.low); });
  return without_overlaps(std::move(pieces));
}

/// The address of every instruction that may have a line, and of what jumps and calls lead to.
std::vector<load::Site> places_of(const std::vector<CodePiece>& pieces, const HasLines& has_lines) {
  std::vector<load::Site> places;
  for (const CodePiece& piece : pieces) {
    for (const Instruction& row : disassemble(piece.bytes, piece.low, Syntax::kAtt)) {
      if (row.address == piece.low || has_lines[piece.module.index()])
        places.push_back({piece.module, {row.address}});
      const uint64_t target = row.target != 0 ? row.target : row.is_call || row.is_jump ? row.pointer : 0;
      if (target != 0 && !piece.contains(target)) places.push_back({piece.module, {target}});
    }
  }
  std::ranges::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

bool same(std::span<const Frame> a, std::span<const Frame> b) {
  return std::ranges::equal(a, b, [](const Frame& x, const Frame& y) {
    return x.function == y.function && x.file == y.file && x.line == y.line;
  });
}

/// Drops places that say the same as the one before them in their piece.
void thin_out(CodeTable& code) {
  SymbolTable& names = code.names;
  std::vector<load::Site> kept;
  std::vector<Frame> rows;
  std::vector<uint32_t> first{0};
  std::span<const Frame> last;
  const CodePiece* in = nullptr;
  for (uint32_t i = 0; i < code.places.size(); ++i) {
    const load::Site& place = code.places[i];
    const CodePiece* piece = in && in->module == place.module && in->contains(place.vaddr.value)
                                 ? in
                                 : code.piece_at(place.module, place.vaddr.value);
    const auto frames = names.frames({i});
    if (piece && piece == in && same(frames, last)) continue;
    kept.push_back(place);
    rows.insert(rows.end(), frames.begin(), frames.end());
    first.push_back(uint32_t(rows.size()));
    in = piece;
    last = frames;
  }
  code.places = std::move(kept);
  names.frame_rows = std::move(rows);
  names.site_first = std::move(first);
}

}  // namespace

CodeTable collect_code(const load::Profile& profile, std::span<const SiteId> wanted,
                       const ResolveOptions& options, const CodeLimits& limits, OpenedModules* kept) {
  std::map<ModuleId, std::vector<std::pair<uint64_t, size_t>>> by_module;
  for (size_t rank = 0; rank < wanted.size(); ++rank) {
    const load::Site& site = profile.sites[wanted[rank].index()];
    if (site.special() || site.module.index() >= profile.modules.size()) continue;
    if (!profile.modules[site.module.index()].anonymous)
      by_module[site.module].emplace_back(site.vaddr.value, rank);
  }
  std::vector<Candidate> found;
  HasLines has_lines(profile.modules.size());
  OpenedModules none(0);
  OpenedModules& opened = kept ? *kept : none;
  Debuginfod server(options.debuginfod_budget);
  for (const auto& [module, vaddrs] : by_module) {
    auto code = opened.take(profile, module, options, options.debuginfod ? &server : nullptr);
    add_extents(found, module, vaddrs, *code, limits, has_lines);
    opened.give_back(module, std::move(code));
  }

  CodeTable code;
  code.pieces = choose(std::move(found), limits.total);
  load::Profile places;
  places.session = profile.session;
  places.modules = profile.modules;
  places.mappings = profile.mappings;
  places.sites = places_of(code.pieces, has_lines);
  code.names = resolve(places, options, {}, kept);
  code.places = std::move(places.sites);
  thin_out(code);
  return code;
}

std::vector<SiteId> sites_by_time(const load::Profile& profile) {
  std::vector<uint64_t> by_path(profile.paths.size());
  for (size_t i = 0; i < profile.samples.size(); ++i)
    by_path[profile.samples.path[i].index()] += profile.samples.weight_ns[i];
  struct Time {
    uint64_t self = 0, below = 0;
  };
  std::vector<Time> by_site(profile.sites.size());
  for (size_t i = 1; i < by_path.size(); ++i) by_site[profile.paths[i].site.index()].self += by_path[i];
  for (size_t i = by_path.size(); i-- > 1;) {
    by_site[profile.paths[i].site.index()].below += by_path[i];
    by_path[profile.paths[i].parent.index()] += by_path[i];
  }
  std::vector<SiteId> sites(profile.sites.size());
  for (uint32_t i = 0; i < sites.size(); ++i) sites[i] = {i};
  std::ranges::stable_sort(sites, std::greater(), [&](SiteId site) {
    const Time& time = by_site[site.index()];
    return std::pair(time.self, time.below);
  });
  const auto calls =
      std::ranges::find_if(sites, [&](SiteId site) { return by_site[site.index()].self == 0; });
  if (sites.end() - calls > kCallSites) sites.erase(calls + kCallSites, sites.end());
  return sites;
}

FoundCode code_for(const load::Profile& profile, std::span<const SiteId> wanted,
                   const ResolveOptions& options) {
  auto stored = read_code_file(profile);
  std::string trouble = stored ? "" : stored.error();
  if (trouble.empty()) trouble = disassembly_trouble();
  const auto covered = [&](SiteId id) {
    const load::Site& site = profile.sites[id.index()];
    const bool has_code = !site.special() && !profile.modules[site.module.index()].anonymous;
    return !has_code || stored->piece_at(site.module, site.vaddr.value) != nullptr;
  };
  const bool enough = stored && !options.look_further() && std::ranges::all_of(wanted, covered);
  if (enough) return {std::move(*stored), trouble};
  CodeTable fresh = collect_code(profile, wanted, options);
  // How much of what is wanted a table has: its code first, then lines of it.
  const auto worth = [&](const CodeTable& code) {
    std::pair<size_t, size_t> sum{};
    for (const SiteId id : wanted) {
      const load::Site& site = profile.sites[id.index()];
      if (site.special() || code.piece_at(site.module, site.vaddr.value) == nullptr) continue;
      ++sum.first;
      sum.second += std::ranges::any_of(code.frames_at(site.module, site.vaddr.value),
                                        [](const Frame& frame) { return frame.line != 0; });
    }
    return sum;
  };
  // Where other files were named, the same code may have lines now; or had some, and the other file has none.
  const bool better = !stored || (options.look_further() ? worth(fresh) > worth(*stored)
                                                         : worth(fresh).first > worth(*stored).first);
  return {better ? std::move(fresh) : std::move(*stored), trouble};
}

}  // namespace varve::symbol
