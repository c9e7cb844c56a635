// SPDX-License-Identifier: MIT
// The quality view: can the profile be trusted, and what would make it better. Whole stacks, why and where
// the others stopped, modules without names, losses, threads not sampled, damages; each with its remedy.
// Context: viewer.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "common/session_keys.h"
#include "viewer/analyze/quality.h"
#include "viewer/view/counter_words.h"
#include "viewer/view/make.h"
#include "viewer/view/rows.h"

namespace varve::view {
namespace {

using analyze::kCpu;
using analyze::kSamples;
using load::SpecialSite;

constexpr size_t kMostNamed = 10;     // modules, unsampled threads and damages named one by one
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
  table.empty = "All stacks are whole.";
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

const symbol::ModuleQuality* names_of(const symbol::SymbolTable& symbols, ModuleId module) {
  for (const symbol::ModuleQuality& each : symbols.modules) {
    if (each.module == module) return &each;
  }
  return nullptr;
}

/// Modules some of whose names come from a symbol table, which may be .dynsym alone.
std::set<ModuleId> with_exported_names(const symbol::SymbolTable& symbols) {
  std::set<ModuleId> modules;
  for (const symbol::Function& function : symbols.functions) {
    if (function.source == symbol::NameSource::kSymbolTable) modules.insert(function.module);
  }
  return modules;
}

std::string_view symbols_words(const symbol::ModuleQuality* names, const std::set<ModuleId>& exporting) {
  if (names == nullptr) return "";
  if (names->has_symtab) return "yes";
  return exporting.contains(names->module) ? "dynamic only" : "no";
}

constexpr std::string_view kNoSymbols = "no symbols";

/// What is missing of a module's names. More symbols help nobody where all functions with time have names.
std::string_view names_note(const symbol::ModuleQuality& names, const analyze::ModuleTime& time) {
  const bool symbols = names.note.starts_with(kNoSymbols);
  return symbols && time.unnamed_ns == 0 ? std::string_view() : names.note;
}

/// The note as the table of modules has it: a library's names of what it exports are symbols, too.
std::string note_words(const symbol::ModuleQuality& names, const std::set<ModuleId>& exporting) {
  const bool dynamic = names.note.starts_with(kNoSymbols) && exporting.contains(names.module);
  return dynamic ? "only dynamic symbols" + names.note.substr(kNoSymbols.size()) : names.note;
}

Table module_table(const Source& source, const analyze::Quality& quality, const Request& request,
                   View& view) {
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
  const std::set<ModuleId> exporting = with_exported_names(source.symbols);
  size_t rows = 0;
  for (const analyze::ModuleTime& each : quality.modules) {
    if (request.limit != 0 && rows++ == request.limit) break;
    const symbol::ModuleQuality* names = names_of(source.symbols, each.module);
    const auto flag = [&](bool symbol::ModuleQuality::*what) {
      return names == nullptr ? Cell() : Cell(uint64_t(names->*what));
    };
    table.add({}, {each.self[kCpu], share(each.unnamed_ns, each.self[kCpu]), symbols_words(names, exporting),
                   flag(&symbol::ModuleQuality::has_symtab), flag(&symbol::ModuleQuality::has_dwarf),
                   analyze::module_name(source.profile, each.module),
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
void note_remedies(const load::Profile& profile, const symbol::SymbolTable& symbols,
                   const analyze::Quality& quality, View& view) {
  std::set<SpecialSite> said;
  for (const analyze::StoppedStacks& each : quality.stopped) {
    if (!said.insert(each.reason).second) continue;
    const Reason& reason = reason_of(each.reason);
    view.notes.push_back(fmt::format("Stacks: {}: {}.", reason.words, reason.remedy));
  }
  size_t shown = 0;
  const std::set<ModuleId> exporting = with_exported_names(symbols);
  for (const analyze::ModuleTime& each : quality.modules) {
    const symbol::ModuleQuality* names = names_of(symbols, each.module);
    if (names == nullptr || names_note(*names, each).empty() || shown++ >= kMostNamed) continue;
    view.notes.push_back(fmt::format("Names: {}: {}.", analyze::module_name(profile, each.module),
                                     note_words(*names, exporting)));
  }
}

/// Functions of Python are data to its interpreter, unless that was asked to make code for each.
void note_python(const symbol::SymbolTable& symbols, const analyze::Flat& flat, uint64_t whole_ns,
                 View& view) {
  constexpr double kWorthSaying = 0.05;
  constexpr std::string_view kLoop = "_PyEval_EvalFrameDefault", kOwn = "py::";
  uint64_t total = 0;
  for (uint32_t i = 0; i < symbols.functions.size(); ++i) {
    const std::string_view name = symbols.strings.text(symbols.functions[i].name);
    if (name.starts_with(kOwn)) return;
    if (name == kLoop) total = std::max(total, flat.total.at(i, kCpu));
  }
  if (share(total, whole_ns) < kWorthSaying) return;
  view.notes.push_back(
      fmt::format("Functions of Python are not shown: the time in and below them stands below {}. From "
                  "version 3.12 on, python3 -X perf names them.",
                  kLoop));
}

/// Modules with names and without lines, where that is worth a download.
void note_lines(const load::Profile& profile, const symbol::SymbolTable& symbols,
                const analyze::Quality& quality, View& view) {
  uint64_t cpu = 0;
  for (const analyze::ModuleTime& each : quality.modules) cpu += each.self[kCpu];
  std::vector<std::string_view> modules;
  for (const analyze::ModuleTime& each : quality.modules) {
    const symbol::ModuleQuality* names = names_of(symbols, each.module);
    const bool file = profile.modules[each.module.index()].path.starts_with('/');
    if (!file || names == nullptr || names->has_dwarf || !names_note(*names, each).empty()) continue;
    if (share(each.self[kCpu], cpu) >= kWorthLines && modules.size() < kMostNamed)
      modules.push_back(analyze::module_name(profile, each.module));
  }
  if (!modules.empty())
    view.notes.push_back(
        fmt::format("Source lines, which annotate shows, are not known in {}: compile with -g, or for a "
                    "distribution's files install the -dbgsym package or use --debuginfod.",
                    fmt::join(modules, ", ")));
}

/// "make (12), cc1 (14), and 3 more"
std::string threads_named(const load::Profile& profile, const std::vector<ThreadId>& threads) {
  std::vector<std::string> names;
  for (const ThreadId thread : threads) {
    if (names.size() == kMostNamed) {
      names.push_back(fmt::format("and {} more", threads.size() - kMostNamed));
      break;
    }
    const load::Thread& row = profile.threads[thread.index()];
    names.push_back(fmt::format("{} ({})", row.name.empty() ? "?" : row.name, row.tid));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Of threads without a timer: what the kernel said.
std::string refused_timers(const load::Profile& profile, const std::vector<ThreadId>& threads) {
  std::map<uint32_t, size_t> timers;  // by errno
  for (const ThreadId thread : threads)
    if (profile.threads[thread.index()].no_timer) ++timers[profile.threads[thread.index()].timer_errno];
  std::string words;
  for (const auto& [error, count] : timers)
    words +=
        fmt::format(" {} a timer: {}.", count == 1 ? "1 was refused" : fmt::format("{} were refused", count),
                    std::strerror(int(error)));
  return words;
}

void note_unsampled(const load::Profile& profile, const analyze::Quality& quality, View& view) {
  if (!quality.held_back.empty())
    view.notes.push_back(
        fmt::format("Threads that ran without a tick: {}. They block SIGPROF past the C library's functions, "
                    "or a sanitizer holds it back; their time is [residual].",
                    threads_named(profile, quality.held_back)));
  if (quality.unsampled_threads.empty()) return;
  const bool seen_only = std::ranges::any_of(
      quality.unsampled_threads, [&](ThreadId thread) { return profile.threads[thread.index()].seen_only; });
  view.notes.push_back(
      fmt::format("Threads not sampled: {}.{}{}", threads_named(profile, quality.unsampled_threads),
                  refused_timers(profile, quality.unsampled_threads),
                  seen_only ? " Static and set-user-id programs, threads that no library made, and processes "
                              "forked where the profile cannot be reached (another user or root directory) "
                              "run without the agent; their time is [not sampled]."
                            : ""));
}

/// Why there is no agent in a process.
void note_refusals(const load::Profile& profile, View& view) {
  size_t shown = 0;
  for (const load::Refusal& refusal : profile.refusals) {
    if (shown++ == kMostNamed) {
      view.notes.push_back(fmt::format("And {} more processes.", profile.refusals.size() - kMostNamed));
      return;
    }
    view.notes.push_back(
        fmt::format("Process {} was not recorded: {}.", refusal.pid, load::refusal_words(refusal)));
  }
}

void note_damages(const load::Profile& profile, View& view) {
  size_t shown = 0;
  for (const load::Damage& damage : profile.damages) {
    if (shown++ == kMostNamed) {
      view.notes.push_back(fmt::format("And {} more damages.", profile.damages.size() - kMostNamed));
      return;
    }
    std::string note = fmt::format("Damaged: {}: {}", damage.file, damage.sentence);
    if (damage.bytes != 0) note += fmt::format(" ({} bytes not read)", damage.bytes);
    view.notes.push_back(note + ".");
  }
}

/// The kernel passes the time of children on when they are waited for, and nobody waits for those of a
/// process that ignores SIGCHLD. A little more is the clocks' own difference.
void note_uncharged(const load::Profile& profile, View& view) {
  constexpr uint64_t kSlack = 10'000'000;
  const uint64_t seen = profile.sampled.count + profile.residual.count, charged = profile.kernel_cpu.count;
  if (!profile.session.finished || seen <= charged + charged / 1000 + kSlack) return;
  view.notes.push_back(
      fmt::format("The kernel charged {:.2f} s less than the agents saw: children of a process that ignores "
                  "SIGCHLD are in its sum for no one. The CPU time is what the agents saw.",
                  double(seen - charged) / 1e9));
}

/// Looks at blocked threads need the right to trace their process.
void note_looks(const load::Session& session, View& view) {
  const uint64_t refused = session.number(session_key::kObserverRefusedProcesses);
  if (refused == 0) return;
  view.notes.push_back(
      fmt::format("{} not be looked at from outside (not dumpable, set-user-id, or by "
                  "kernel.yama.ptrace_scope): waits there that no hook saw stay [other waits].",
                  refused == 1 ? "1 process could" : fmt::format("{} processes could", refused)));
}

std::string whole_words(const analyze::Quality& quality) {
  if (quality.samples == 0) return "no samples";
  std::string words = fmt::format("{}, {} of {} samples", percent_down(quality.whole_share(), 2),
                                  quality.whole_samples, quality.samples);
  if (quality.whole_deep_samples != 0)
    words += fmt::format(
        "; {} of these are whole at both ends and without their middle: record with a larger --stack-depth",
        quality.whole_deep_samples);
  return words;
}

uint64_t longest_interval_ns(const load::Profile& profile, const analyze::Quality& quality) {
  return profile.session.interval.count << quality.interval_doublings;
}

std::string interval_words(const load::Profile& profile, const analyze::Quality& quality) {
  return fmt::format("{:g} ms, of {} up to {:g} ms: samples took more than 2% of the CPU time there",
                     double(profile.session.interval.count) / 1e6,
                     plural(quality.slowed_threads, "thread", "threads"),
                     double(longest_interval_ns(profile, quality)) / 1e6);
}

void add_facts(View& view, const load::Profile& profile, const analyze::Quality& quality) {
  uint64_t cpu = 0, unnamed = 0;
  for (const analyze::ModuleTime& module : quality.modules)
    cpu += module.self[kCpu], unnamed += module.unnamed_ns;
  const auto text = [&](const char* label, std::string words) {
    view.facts.push_back({"", label, Unit::kText, view.own(std::move(words))});
  };
  const auto value = [&](const char* id, Unit unit, Cell cell) {
    view.facts.push_back({id, "", unit, cell});
  };
  text("Whole stacks", whole_words(quality));
  text("Named", fmt::format("{} of the time in code is in functions with a name",
                            percent_down(1 - share(unnamed, cpu), 2)));
  text("Lost", fmt::format("{} samples", profile.lost_samples));
  if (quality.ticks != 0) {
    std::string ticks = fmt::format("{} signals", quality.ticks);
    if (quality.overruns != 0) {
      ticks += fmt::format(" for {} expirations of timers: some came merged, with all of their time",
                           quality.ticks + quality.overruns);
    }
    text("Ticks", ticks);
    const Nanos all = profile.sampled + profile.residual + profile.unsampled;
    text("Handler", fmt::format("{:.1f} us a tick, {:.2f}% of the CPU time",
                                double(quality.handler.count) / 1e3 / double(quality.ticks),
                                100 * share(quality.handler.count, all.count)));
  }
  if (quality.slowed_threads != 0) text("Interval", interval_words(profile, quality));
  value("samples", Unit::kCount, quality.samples);
  value("whole_samples", Unit::kCount, quality.whole_samples);
  value("deep_samples", Unit::kCount, quality.deep_samples);
  value("whole_stack_share", Unit::kShare, quality.whole_share());
  value("named_share", Unit::kShare, 1 - share(unnamed, cpu));
  value("lost", Unit::kCount, profile.lost_samples);
  value("ticks", Unit::kCount, quality.ticks);
  value("overruns", Unit::kCount, quality.overruns);
  value("handler_ns", Unit::kTime, quality.handler.count);
  value("slowed_threads", Unit::kCount, uint64_t(quality.slowed_threads));
  value("longest_interval_ns", Unit::kTime, longest_interval_ns(profile, quality));
  value("threads_not_sampled", Unit::kCount, uint64_t(quality.unsampled_threads.size()));
  value("damages", Unit::kCount, uint64_t(profile.damages.size()));
}

}  // namespace

Made make_quality(const Source& source, const Request& request, const analyze::Selection& selection) {
  const analyze::Quality quality = analyze::quality(source.profile, source.symbols, selection);
  View view;
  add_facts(view, source.profile, quality);
  Table stopped = stopped_table(source, quality, request);
  Table modules = module_table(source, quality, request, view);
  view.tables.push_back(csv_table(stopped, modules));
  view.tables.push_back(std::move(stopped));
  view.tables.push_back(std::move(modules));
  note_remedies(source.profile, source.symbols, quality, view);
  note_lines(source.profile, source.symbols, quality, view);
  note_python(source.symbols, selection.functions(source.profile, source.symbols, request.inlines),
              whole(selection)[kCpu], view);
  note_unsampled(source.profile, quality, view);
  note_looks(source.profile.session, view);
  if (request.cuts())
    view.notes.push_back(
        "Stacks and names are those that pass the filter; lost samples, ticks, the handler, threads not "
        "sampled and damages are of the whole run.");
  if (source.profile.sample_count == 0) return view;  // why_empty() says the rest, as under every view
  note_refusals(source.profile, view);
  for (CounterSentence& sentence : counter_sentences(source.profile))
    view.notes.push_back(std::move(sentence.text));
  note_damages(source.profile, view);
  note_uncharged(source.profile, view);
  if (!source.profile.session.finished) {
    view.notes.push_back(
        "The recorder did not see the end of the run: its CPU time is the last that each thread noted.");
  }
  return view;
}

}  // namespace varve::view
