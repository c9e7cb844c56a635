// SPDX-License-Identifier: MIT
// Reading, resolving the rest, and joining the two.
// Context: viewer.
#include "viewer/symbol/symbols_for.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "viewer/symbol/resolver.h"
#include "viewer/symbol/symbol_file.h"

namespace varve::symbol {
namespace {

/// What other files and servers may know of modules that lacked symbols or lines when the file was written.
void want_better(const load::Profile& profile, bool lines, PartialSymbols& symbols) {
  std::vector<bool> poor(profile.modules.size());
  for (const ModuleQuality& quality : symbols.table.modules)
    if (quality.module.index() < poor.size() && !profile.modules[quality.module.index()].anonymous)
      poor[quality.module.index()] = !quality.has_symtab || (lines && !quality.has_dwarf);
  for (size_t i = 0; i < profile.sites.size(); ++i) {
    const load::Site& site = profile.sites[i];
    if (!site.special() && site.module.index() < poor.size() && poor[site.module.index()])
      symbols.missing[i] = true;
  }
}

int sources(const ModuleQuality& quality) { return int(quality.has_symtab) + int(quality.has_dwarf); }

/// How much a table says of its sites. Larger is more.
class Worth {
 public:
  explicit Worth(const SymbolTable& table) : table_(table) {
    for (const ModuleQuality& quality : table.modules) sources_[quality.module] = sources(quality);
  }

  /// Whether there is a name, whether a line, and from how much it was made: a local function is not known
  /// to the dynamic symbols, a part of a variable not to a symbol table.
  std::tuple<bool, bool, int> of(std::span<const Frame> frames) const {
    if (frames.empty()) return {false, false, -1};
    const Function& outermost = table_.functions[frames.back().function.index()];
    const bool placed = std::ranges::any_of(frames, [](const Frame& frame) { return frame.line != 0; });
    const auto known = sources_.find(outermost.module);
    return {outermost.source != NameSource::kAddress, placed, known == sources_.end() ? 0 : known->second};
  }

 private:
  const SymbolTable& table_;
  std::map<ModuleId, int> sources_;
};

class Merger {
 public:
  Merger(SymbolTable& base, const SymbolTable& more)
      : base_(base), more_(more), old_worth_(base), new_worth_(more) {}

  void run() {
    for (uint32_t i = 0; i < base_.functions.size(); ++i)
      rows_.try_emplace(key(base_, base_.functions[i]), FunctionId{i});
    functions_.resize(more_.functions.size());
    std::vector<Frame> frames;
    std::vector<uint32_t> first{0};
    for (uint32_t site = 0; site + 1 < base_.site_first.size(); ++site) {
      auto old = base_.frames({site});
      auto fresh = site + 1 < more_.site_first.size() ? more_.frames({site}) : std::span<const Frame>();
      const bool better = new_worth_.of(fresh) > old_worth_.of(old);
      if (better)
        for (const Frame& frame : fresh) frames.push_back(adopt(frame));
      else
        frames.insert(frames.end(), old.begin(), old.end());
      replaced_ |= better && !old.empty();
      first.push_back(uint32_t(frames.size()));
    }
    base_.frame_rows = std::move(frames);
    base_.site_first = std::move(first);
    if (replaced_) drop_unused_functions();
    for (size_t i = 0; i < base_.modules.size(); ++i) modules_.try_emplace(base_.modules[i].module, i);
    for (const ModuleQuality& quality : more_.modules) take(quality);
  }

 private:
  using Key = std::tuple<uint32_t, NameSource, std::string_view, std::string_view, std::string_view, uint32_t,
                         uint64_t>;

  /// Rows without a source file are told apart by their place.
  static Key key(const SymbolTable& table, const Function& row) {
    bool placed = row.source != NameSource::kDwarf && row.source != NameSource::kJit;
    return {row.module.value,
            row.source,
            table.strings.text(row.linkage_name),
            table.strings.text(row.name),
            table.strings.text(row.file),
            row.line,
            placed ? row.low.value : 0};
  }

  /// A row that was replaced would be another function of the same name.
  void drop_unused_functions() {
    std::vector<bool> used(base_.functions.size());
    for (const Frame& frame : base_.frame_rows) used[frame.function.index()] = true;
    std::vector<FunctionId> now(used.size());
    std::vector<Function> kept;
    for (size_t i = 0; i < used.size(); ++i) {
      if (!used[i]) continue;
      now[i] = {uint32_t(kept.size())};
      kept.push_back(base_.functions[i]);
    }
    for (Frame& frame : base_.frame_rows) frame.function = now[frame.function.index()];
    base_.functions = std::move(kept);
  }

  Frame adopt(const Frame& frame) {
    return {function(frame.function), intern(frame.file), frame.line, frame.inlined};
  }

  FunctionId function(FunctionId id) {
    FunctionId& known = functions_[id.index()];
    if (known.valid()) return known;
    Function row = more_.functions[id.index()];
    auto [same, fresh] = rows_.try_emplace(key(more_, row), FunctionId{uint32_t(base_.functions.size())});
    if (fresh) {
      for (StringId* text : {&row.name, &row.short_name, &row.linkage_name, &row.file}) *text = intern(*text);
      base_.functions.push_back(row);
    }
    return known = same->second;
  }

  StringId intern(StringId id) { return base_.strings.intern(more_.strings.text(id)); }

  void take(const ModuleQuality& quality) {
    const auto [known, fresh] = modules_.try_emplace(quality.module, base_.modules.size());
    if (fresh)
      base_.modules.push_back(quality);
    else if (ModuleQuality& old = base_.modules[known->second]; sources(quality) >= sources(old))
      old = quality;  // of the two notes the one about where was looked last
  }

  SymbolTable& base_;
  const SymbolTable& more_;
  const Worth old_worth_, new_worth_;
  bool replaced_ = false;
  std::map<Key, FunctionId> rows_;  // views into strings of both tables, which do not move
  std::vector<FunctionId> functions_;
  std::map<ModuleId, size_t> modules_;  // rows of the base's
};

}  // namespace

SymbolTable merge_symbols(SymbolTable base, const SymbolTable& more) {
  Merger(base, more).run();
  return base;
}

FoundSymbols symbols_for(const load::Profile& profile, const ResolveOptions& options,
                         const ProgressCallback& progress) {
  auto stored = read_symbol_file(profile);
  if (!stored) return {resolve(profile, options, progress), true, stored.error()};
  if (options.look_further()) want_better(profile, options.lines, *stored);
  FoundSymbols found;
  bool all = true;
  for (size_t i = 0; i < profile.sites.size(); ++i) {
    all &= !stored->missing[i];
    // What stands for no code has its name from us, and nobody stores it.
    found.looked_up |= stored->missing[i] && !profile.sites[i].special();
  }
  found.table = std::move(stored->table);
  if (!all)
    found.table =
        merge_symbols(std::move(found.table), resolve_some(profile, stored->missing, options, progress));
  return found;
}

}  // namespace varve::symbol
