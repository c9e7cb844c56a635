// SPDX-License-Identifier: MIT
// Units are chosen by their ranges (.debug_aranges is optional and often incomplete); within a unit the tree
// is walked once for all its wanted addresses, passing over what holds none. Work is bounded by the size of
// the file. Context: viewer.
#include "viewer/symbol/source_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <limits.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "viewer/symbol/source_functions.h"

namespace varve::symbol {
namespace {

constexpr unsigned kMaxScopes = 256;  // one within the other; more is damage
constexpr size_t kMaxInlined = 128;   // calls inlined into one another at one address
constexpr uint32_t kNone = UINT32_MAX;

/// A function or a call inlined into one.
struct Scope {
  Dwarf_Die die;
  uint32_t parent = kNone;
};

/// Positions in the list of wanted addresses.
using Hits = std::vector<uint32_t>;

struct Unit {
  Dwarf_Die skeleton;  // has the line table
  Dwarf_Die tree;      // has the functions: the same, unless they were split into a file of their own
  Hits hits;
};

bool holds_functions(int tag) { return tag == DW_TAG_namespace || tag == DW_TAG_module; }

bool is_block(int tag) {
  return tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block ||
         tag == DW_TAG_with_stmt;
}

class Reader {
 public:
  Reader(const ElfFile& file, std::span<const uint64_t> vaddrs)
      : vaddrs_(vaddrs),
        budget_(4 * file.bytes() + 1000000),
        dwarf_(file.dwarf()),
        functions_(16 * file.bytes() + 1000000) {
    innermost_.assign(vaddrs.size(), kNone);
    lines_.resize(vaddrs.size());
  }

  SourceLines read() {
    SourceLines result;
    result.has_dwarf = dwarf_ != nullptr;
    if (dwarf_) {
      find_units();
      for (Unit& unit : units_)
        if (!unit.hits.empty()) read_unit(unit);
    }
    result.first.push_back(0);
    for (uint32_t i = 0; i < vaddrs_.size(); ++i) {
      append_frames(i, result.frames);
      result.first.push_back(uint32_t(result.frames.size()));
    }
    result.functions = std::move(functions_.functions());
    result.files = std::move(files_);
    result.incomplete = budget_ == 0;
    return result;
  }

 private:
  struct Line {
    StringId file;
    uint32_t line = 0;
    bool known = false;
  };

  /// A row of a line table.
  struct Row {
    Dwarf_Addr address = 0;
    bool ends = false;
    int line = 0;
    const char* file = nullptr;

    explicit Row(Dwarf_Line* row) {
      dwarf_lineaddr(row, &address);
      dwarf_lineendsequence(row, &ends);
      dwarf_lineno(row, &line);
      file = dwarf_linesrc(row, nullptr, nullptr);
    }
    std::pair<const char*, int> place() const { return {file, line}; }
  };

  bool spend() { return budget_ && --budget_; }

  template <typename Use>
  void each_range(Dwarf_Die* die, Use use) {
    Dwarf_Addr base = 0, low = 0, high = 0;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &low, &high)) > 0 && spend();)
      if (low < high) use(low, high);
  }

  /// Gives every address to the unit with the narrowest range around it.
  void find_units() {
    std::vector<uint64_t> width(vaddrs_.size(), UINT64_MAX);
    std::vector<uint32_t> owner(vaddrs_.size(), kNone);
    Dwarf_CU *unit = nullptr, *next = nullptr;
    uint8_t kind = 0;
    Dwarf_Die skeleton, tree;
    while (spend() && dwarf_get_units(dwarf_, unit, &next, nullptr, &kind, &skeleton, &tree) == 0) {
      unit = next;
      if (kind != DW_UT_compile && kind != DW_UT_skeleton) continue;
      units_.push_back({skeleton, tree.cu && dwarf_tag(&tree) == DW_TAG_compile_unit ? tree : skeleton, {}});
      each_range(&skeleton, [&](uint64_t low, uint64_t high) {
        auto begin = std::lower_bound(vaddrs_.begin(), vaddrs_.end(), low);
        for (auto at = begin; at != vaddrs_.end() && *at < high && spend(); ++at) {
          size_t i = size_t(at - vaddrs_.begin());
          if (high - low >= width[i]) continue;
          width[i] = high - low;
          owner[i] = uint32_t(units_.size() - 1);
        }
      });
    }
    for (uint32_t i = 0; i < owner.size(); ++i)
      if (owner[i] != kNone) units_[owner[i]].hits.push_back(i);
  }

  void read_unit(Unit& unit) {
    unit_ = &unit;
    for (uint32_t hit : unit.hits) lines_[hit] = line_at(unit.skeleton, vaddrs_[hit]);
    walk(unit.tree, 0, false);
    // Functions of local classes stand inside types and other functions: looked for only if something is
    // missing.
    bool missing =
        std::any_of(unit.hits.begin(), unit.hits.end(), [&](uint32_t i) { return innermost_[i] == kNone; });
    if (missing) walk(unit.tree, 0, true);
  }

  /// The row that covers the address. Not dwarf_getsrc_die(): where the linker dropped a section, its empty
  /// sequence can stand at the address of another function, and would win there.
  Line line_at(Dwarf_Die& unit, uint64_t vaddr) {
    Dwarf_Lines* rows = nullptr;
    size_t count = 0;
    if (dwarf_getsrclines(&unit, &rows, &count) != 0) return {};
    size_t end = rows_up_to(rows, count, vaddr);
    if (end == 0) return {};
    Row last(dwarf_onesrcline(rows, end - 1));
    if (last.ends) return {};
    size_t begin = end;
    std::set<std::pair<const char*, int>> ends;
    for (; begin > 0; --begin) {
      Row row(dwarf_onesrcline(rows, begin - 1));
      if (row.address != last.address || !spend()) break;
      if (row.ends) ends.insert(row.place());
    }
    for (size_t i = end; i > begin && !ends.empty(); --i) {
      Row row(dwarf_onesrcline(rows, i - 1));
      if (row.ends || ends.contains(row.place())) continue;
      last = row;
      break;
    }
    if (!last.file) return {};
    return {files_.intern(source_path(&unit_->skeleton, {last.file, strnlen(last.file, PATH_MAX)})),
            last.line > 0 ? uint32_t(last.line) : 0, true};
  }

  static size_t rows_up_to(Dwarf_Lines* rows, size_t count, uint64_t vaddr) {
    size_t low = 0;
    while (low < count) {
      size_t middle = low + (count - low) / 2;
      if (Row(dwarf_onesrcline(rows, middle)).address <= vaddr)
        low = middle + 1;
      else
        count = middle;
    }
    return low;
  }

  void walk(Dwarf_Die parent, unsigned depth, bool everywhere) {
    Dwarf_Die die;
    if (depth > kMaxScopes || dwarf_child(&parent, &die) != 0) return;
    do {
      int tag = dwarf_tag(&die);
      if (tag == DW_TAG_subprogram) visit_function(die, depth);
      if (everywhere ? dwarf_haschildren(&die) > 0 : holds_functions(tag)) walk(die, depth + 1, everywhere);
    } while (spend() && dwarf_siblingof(&die, &die) == 0);
  }

  void visit_function(Dwarf_Die& die, unsigned depth) {
    Hits hits = hits_in(die, unit_->hits);
    std::erase_if(hits, [&](uint32_t i) { return innermost_[i] != kNone; });
    if (hits.empty()) return;
    uint32_t scope = open_scope(die, kNone, hits);
    visit_inlined(die, scope, hits, depth + 1);
  }

  uint32_t open_scope(const Dwarf_Die& die, uint32_t parent, const Hits& hits) {
    uint32_t scope = uint32_t(scopes_.size());
    scopes_.push_back({die, parent});
    for (uint32_t hit : hits) innermost_[hit] = scope;
    return scope;
  }

  void visit_inlined(Dwarf_Die parent, uint32_t scope, const Hits& around, unsigned depth) {
    Dwarf_Die die;
    if (depth > kMaxScopes || dwarf_child(&parent, &die) != 0) return;
    do {
      int tag = dwarf_tag(&die);
      bool inlined = tag == DW_TAG_inlined_subroutine;
      if (!inlined && !is_block(tag)) continue;
      Hits hits = hits_in(die, around);
      if (hits.empty()) continue;
      visit_inlined(die, inlined ? open_scope(die, scope, hits) : scope, hits, depth + 1);
    } while (spend() && dwarf_siblingof(&die, &die) == 0);
  }

  /// Those of `around` that lie in the ranges of `die`; sorted.
  Hits hits_in(Dwarf_Die& die, const Hits& around) {
    Hits hits;
    each_range(&die, [&](uint64_t low, uint64_t high) {
      auto at = std::lower_bound(around.begin(), around.end(), low,
                                 [&](uint32_t hit, uint64_t value) { return vaddrs_[hit] < value; });
      for (; at != around.end() && vaddrs_[*at] < high && spend(); ++at) hits.push_back(*at);
    });
    if (!std::is_sorted(hits.begin(), hits.end())) std::sort(hits.begin(), hits.end());
    hits.erase(std::unique(hits.begin(), hits.end()), hits.end());
    return hits;
  }

  /// The line that called an inlined function.
  Line call_of(Dwarf_Die& die) {
    Dwarf_Attribute attribute;
    Dwarf_Word index = 0, number = 0;
    Dwarf_Die unit;
    Dwarf_Files* files = nullptr;
    size_t count = 0;
    Line line;
    if (dwarf_formudata(dwarf_attr(&die, DW_AT_call_line, &attribute), &number) == 0)
      line.line = uint32_t(std::min<Dwarf_Word>(number, UINT32_MAX));
    bool known = dwarf_formudata(dwarf_attr(&die, DW_AT_call_file, &attribute), &index) == 0 &&
                 dwarf_diecu(&die, &unit, nullptr, nullptr) && dwarf_getsrcfiles(&unit, &files, &count) == 0;
    const char* file = known && index < count ? dwarf_filesrc(files, index, nullptr, nullptr) : nullptr;
    if (file) line.file = files_.intern(source_path(&unit, {file, strnlen(file, PATH_MAX)}));
    return line;
  }

  void append_frames(uint32_t address, std::vector<SourceFrame>& frames) {
    Line line = lines_[address];
    uint32_t scope = innermost_[address];
    if (scope == kNone && line.known) frames.push_back({kNoFunction, line.file, line.line});
    for (size_t depth = 0; scope != kNone && depth < kMaxInlined; ++depth) {
      Scope& here = scopes_[scope];
      uint32_t function = functions_.of(here.die);
      frames.push_back({function, line.file, line.line});
      if (here.parent == kNone) {
        note_entry(here.die, function);
      } else {
        line = call_of(here.die);
      }
      scope = here.parent;
    }
  }

  void note_entry(Dwarf_Die& die, uint32_t index) {
    if (index == kNoFunction) return;
    SourceFunction& function = functions_.functions()[index];
    Dwarf_Addr base = 0, low = 0, high = 0;
    // The compiler writes the hot part first, and that is the one that begins at the entry.
    if (dwarf_ranges(&die, 0, &base, &low, &high) <= 0 || low >= high) return;
    if (function.size && function.low <= low) return;
    function.low = low;
    function.size = high - low;
  }

  std::span<const uint64_t> vaddrs_;
  uint64_t budget_;
  Dwarf* dwarf_;
  std::vector<Unit> units_;
  Unit* unit_ = nullptr;
  std::vector<Scope> scopes_;
  std::vector<uint32_t> innermost_;  // per address: its scope
  std::vector<Line> lines_;
  StringTable files_;
  SourceFunctions functions_;
};

}  // namespace

SourceLines read_source_lines(const ElfFile& file, std::span<const uint64_t> vaddrs) {
  return Reader(file, vaddrs).read();
}

}  // namespace varve::symbol
