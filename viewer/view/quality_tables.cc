// SPDX-License-Identifier: MIT
// See quality_tables.h.
// Context: viewer.
#include "viewer/view/quality_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "viewer/view/rows.h"

namespace varve::view {
namespace {

using analyze::kCpu;
using analyze::kSamples;
using load::SpecialSite;

constexpr size_t kMostModules = 10;   // modules named one by one
constexpr double kWorthLines = 0.01;  // share of the time in code from which a module's lines are missed

/// What stopped a stack, without the brackets of its row in other views, and what the user can do.
struct Reason {
  SpecialSite kind;
  const char* words;
  const char* remedy;
};
constexpr Reason kReasons[] = {
    {SpecialSite::kTruncated, "too deep to follow",
     "stacks are followed for a thirtieth of the interval: record with a larger --interval"},
    {SpecialSite::kNoUnwindInfo, "no unwind information",
     "compile with -fasynchronous-unwind-tables; generated code: with frame pointers"},
    {SpecialSite::kBadMemory, "stack memory not readable",
     "code that switches stacks: nothing to do from outside"},
    {SpecialSite::kNoProgress, "caller's frame not above", "hand-written assembly: add CFI directives"},
    {SpecialSite::kBadCfi, "damaged unwind information",
     "rebuild the module; some packers and linkers damage it"},
    {SpecialSite::kBadReturn, "return address is no code",
     "hand-written assembly or generated code: add CFI directives"},
    {SpecialSite::kUnsupported, "unwind rule not followed",
     "hand-written assembly: use simpler CFI directives"},
    {SpecialSite::kNoRoom, "stack larger than a record", "record with a smaller --stack-depth"},
};

const Reason& reason_of(SpecialSite kind) {
  for (const Reason& reason : kReasons) {
    if (reason.kind == kind) return reason;
  }
  return kReasons[1];
}

Table stopped_table(const Source& source, const analyze::Quality& quality, const Request& request) {
  Table table;
  table.id = "broken_stacks";
  table.title = "Stacks that are not whole, by reason and by the outermost module that is known";
  table.empty = quality.samples == 0 ? "There are no stacks." : "All stacks are whole.";
  table.columns = {
      {"", "Samples", Unit::kCount},
      {"", "of all%", Unit::kShare},
      {"", "CPU", Unit::kTime, false, -1, 2},
      {"module", "Module", Unit::kText},
      {"reason", "Reason", Unit::kText},
      {"remedy", "", Unit::kText},
      {"samples", "", Unit::kCount},
      {"share", "", Unit::kShare},
      {"cpu_ns", "", Unit::kTime},
  };
  size_t rows = 0;
  for (const analyze::StoppedStacks& each : quality.stopped) {
    if (request.limit != 0 && rows++ == request.limit) break;
    const Reason& reason = reason_of(each.reason);
    const double part = share(each.metrics[kSamples], quality.samples);
    const std::string_view module =
        each.module.valid() ? analyze::module_name(source.profile, each.module) : "[no frame known]";
    table.add({}, {each.metrics[kSamples], part, each.metrics[kCpu], module, std::string_view(reason.words),
                   std::string_view(reason.remedy), each.metrics[kSamples], part, each.metrics[kCpu]});
  }
  return table;
}

/// What is known of the names of each module.
class Names {
 public:
  explicit Names(const Source& source) : rows_(source.profile.modules.size()), exports_(rows_.size()) {
    for (const symbol::ModuleQuality& each : source.symbols.modules)
      if (each.module.value < rows_.size() && rows_[each.module.index()] == nullptr)
        rows_[each.module.index()] = &each;
    for (const symbol::Function& each : source.symbols.functions)
      if (each.source == symbol::NameSource::kSymbolTable && each.module.value < exports_.size())
        exports_[each.module.index()] = true;
  }
  /// Null: nothing.
  const symbol::ModuleQuality* of(ModuleId module) const { return rows_[module.index()]; }
  /// Some of its names come from a symbol table, which may be .dynsym alone.
  bool exports(ModuleId module) const { return exports_[module.index()]; }

 private:
  std::vector<const symbol::ModuleQuality*> rows_;
  std::vector<bool> exports_;
};

std::string_view symbols_words(const Names& names, ModuleId module) {
  const symbol::ModuleQuality* row = names.of(module);
  if (row == nullptr) return "";
  if (row->has_symtab) return "yes";
  return names.exports(module) ? "dynamic only" : "no";
}

constexpr std::string_view kNoSymbols = "no symbols";

/// What is missing of a module's names. More symbols help nobody where all functions with time have names.
std::string_view names_note(const symbol::ModuleQuality& names, const analyze::ModuleTime& time) {
  const bool symbols = names.note.starts_with(kNoSymbols);
  return symbols && time.unnamed_ns == 0 ? std::string_view() : names.note;
}

/// The note as the table of modules has it: a library's names of what it exports are symbols, too.
std::string note_words(const symbol::ModuleQuality& row, const Names& names) {
  const bool dynamic = row.note.starts_with(kNoSymbols) && names.exports(row.module);
  return dynamic ? "only dynamic symbols" + row.note.substr(kNoSymbols.size()) : row.note;
}

Table module_table(const Source& source, const Names& all_names, const analyze::Quality& quality,
                   const Request& request, View& view) {
  Table table;
  table.id = "modules";
  table.title = "Names, by module";
  table.columns = {
      {"self_ns", "Self", Unit::kTime},
      {"unnamed_share", "Unnamed%", Unit::kShare},
      {"", "Symbols", Unit::kText, false, -1, 2},
      {"symbols", "", Unit::kFlag},
      {"lines", "Lines", Unit::kFlag, false, -1, 1},
      {"module", "Module", Unit::kText},
      {"note", "", Unit::kText},
  };
  size_t rows = 0;
  for (const analyze::ModuleTime& each : quality.modules) {
    if (request.limit != 0 && rows++ == request.limit) break;
    const symbol::ModuleQuality* names = all_names.of(each.module);
    const auto flag = [&](bool symbol::ModuleQuality::*what) {
      return names == nullptr ? Cell() : Cell(uint64_t(names->*what));
    };
    table.add({}, {each.self[kCpu], share(each.unnamed_ns, each.self[kCpu]),
                   symbols_words(all_names, each.module), flag(&symbol::ModuleQuality::has_symtab),
                   flag(&symbol::ModuleQuality::has_dwarf), analyze::module_name(source.profile, each.module),
                   names == nullptr ? std::string_view() : view.own(std::string(names_note(*names, each)))});
  }
  return table;
}

/// For CSV, which is one table: the rows of the other two. Those without a reason are about a module's names.
Table csv_table(const Table& stopped, const Table& modules) {
  Table table;
  table.only_data = true;
  table.columns = {{"module", "", Unit::kText},  {"reason", "", Unit::kText},
                   {"remedy", "", Unit::kText},  {"samples", "", Unit::kCount},
                   {"share", "", Unit::kShare},  {"cpu_ns", "", Unit::kTime},
                   {"self_ns", "", Unit::kTime}, {"unnamed_share", "", Unit::kShare},
                   {"symbols", "", Unit::kFlag}, {"lines", "", Unit::kFlag}};
  const auto cell = [](const Table& from, size_t row, std::string_view id) {
    const auto column = std::ranges::find(from.columns, id, &Column::id) - from.columns.begin();
    return from.row(row)[size_t(column)];
  };
  for (size_t i = 0; i < stopped.rows.size(); ++i) {
    table.begin({});
    for (const char* id : {"module", "reason", "remedy", "samples", "share", "cpu_ns"})
      table.put({cell(stopped, i, id)});
    table.put({Cell(), Cell(), Cell(), Cell()});
  }
  for (size_t i = 0; i < modules.rows.size(); ++i) {
    table.begin({});
    table.put({cell(modules, i, "module"), Cell(), cell(modules, i, "note"), Cell(), Cell(), Cell()});
    for (const char* id : {"self_ns", "unnamed_share", "symbols", "lines"}) table.put({cell(modules, i, id)});
  }
  return table;
}

/// Remedies are sentences, and sentences have no place in a column: one a reason, one a module with a note.
void note_remedies(const load::Profile& profile, const Names& all_names, const analyze::Quality& quality,
                   View& view) {
  std::set<SpecialSite> said;
  for (const analyze::StoppedStacks& each : quality.stopped) {
    if (!said.insert(each.reason).second) continue;
    const Reason& reason = reason_of(each.reason);
    view.notes.push_back(fmt::format("Stacks: {}: {}.", reason.words, reason.remedy));
  }
  size_t shown = 0;
  for (const analyze::ModuleTime& each : quality.modules) {
    const symbol::ModuleQuality* names = all_names.of(each.module);
    if (names == nullptr || names_note(*names, each).empty() || shown++ >= kMostModules) continue;
    view.notes.push_back(fmt::format("Names: {}: {}.", analyze::module_name(profile, each.module),
                                     note_words(*names, all_names)));
  }
}

/// Modules with names and without lines, where that is worth a download.
void note_lines(const load::Profile& profile, const Names& all_names, const analyze::Quality& quality,
                View& view) {
  uint64_t cpu = 0;
  for (const analyze::ModuleTime& each : quality.modules) cpu += each.self[kCpu];
  std::vector<std::string_view> modules;
  for (const analyze::ModuleTime& each : quality.modules) {
    const symbol::ModuleQuality* names = all_names.of(each.module);
    const bool file = profile.modules[each.module.index()].path.starts_with('/');
    if (!file || names == nullptr || names->has_dwarf || !names_note(*names, each).empty()) continue;
    if (share(each.self[kCpu], cpu) >= kWorthLines && modules.size() < kMostModules)
      modules.push_back(analyze::module_name(profile, each.module));
  }
  if (!modules.empty())
    view.notes.push_back(
        fmt::format("Source lines, which annotate shows, are not known in {}: compile with -g, or for a "
                    "distribution's files install the -dbgsym package and use --debug-dir /usr/lib/debug, or "
                    "use --debuginfod.",
                    fmt::join(modules, ", ")));
}

}  // namespace

void add_quality_tables(const Source& source, const analyze::Quality& quality, const Request& request,
                        View& view) {
  const Names names(source);
  Table stopped = stopped_table(source, quality, request);
  Table modules = module_table(source, names, quality, request, view);
  view.tables.push_back(csv_table(stopped, modules));
  view.tables.push_back(std::move(stopped));
  view.tables.push_back(std::move(modules));
  note_remedies(source.profile, names, quality, view);
  note_lines(source.profile, names, quality, view);
}

}  // namespace varve::view
