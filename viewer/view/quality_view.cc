// SPDX-License-Identifier: MIT
// The quality view: can the profile be trusted, and what would make it better. Its facts, and sentences about
// what is not in the profile: threads not sampled, processes not recorded, damages. What is there and could
// be better, stacks and names, is view/quality_tables. Context: viewer.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "common/session_keys.h"
#include "viewer/analyze/quality.h"
#include "viewer/load/tick_phase.h"
#include "viewer/view/counter_words.h"
#include "viewer/view/make.h"
#include "viewer/view/quality_tables.h"
#include "viewer/view/rows.h"
#include "viewer/view/summary_words.h"

namespace varve::view {
namespace {

using analyze::kCpu;

constexpr size_t kMostNamed = 10;  // unsampled threads, processes and damages named one by one

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

/// Why so many threads have no ticks: what the kernel said; 0: it was not asked.
std::string why_without_ticks(uint32_t error, size_t count) {
  if (error == 0)
    return fmt::format(" {} an alternate signal stack without room for a tick.",
                       count == 1 ? "1 has" : fmt::format("{} have", count));
  return fmt::format(" {} a timer: {}.", count == 1 ? "1 was refused" : fmt::format("{} were refused", count),
                     std::strerror(int(error)));
}

std::string refused_timers(const load::Profile& profile, const std::vector<ThreadId>& threads) {
  std::map<uint32_t, size_t> timers;  // by errno
  for (const ThreadId thread : threads)
    if (profile.threads[thread.index()].no_timer) ++timers[profile.threads[thread.index()].timer_errno];
  std::string words;
  for (const auto& [error, count] : timers) words += why_without_ticks(error, count);
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
  view.notes.push_back(fmt::format(
      "Threads not sampled: {}.{}{}", threads_named(profile, quality.unsampled_threads),
      refused_timers(profile, quality.unsampled_threads),
      seen_only
          ? " Static and set-user-id programs, those in Valgrind or that need AddressSanitizer's "
            "runtime, threads that no library made, and processes begun where the profile cannot be "
            "reached (another user or root directory, or a profile that was made read-only) run without "
            "the agent; their time is [not sampled]."
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
  // What the kernel charged beyond what agents saw is not sampled, too; where there is less there is none of
  // that.
  const Nanos all = profile.sampled + profile.residual + profile.unsampled;
  const uint64_t seen = all.count, charged = profile.kernel_cpu.count;
  if (!profile.session.finished || seen <= charged + charged / 1000 + kSlack) return;
  view.notes.push_back(
      fmt::format("The kernel charged {:.2f} s less than the agents saw: children of a process that ignores "
                  "SIGCHLD are in its sum for no one. The CPU time is what the agents saw.",
                  double(seen - charged) / 1e9));
}

/// Programs of another user, and those that may not be read, end what an ordinary user sees of their process.
void note_hidden(const load::Session& session, View& view) {
  if (const uint64_t unseen = session.number(session_key::kObserverHidden); unseen != 0)
    view.notes.push_back(fmt::format(
        "/proc does not show this user {} that began meanwhile: if the run's were among these, bands "
        "and levels are without them.",
        unseen == 1 ? "1 process" : fmt::format("{} processes", unseen)));
  std::vector<std::string_view> names;
  for (const auto& [key, value] : session.texts)
    if (key == session_key::kObserverHiddenProcess && names.size() < kMostNamed) names.push_back(value);
  if (names.empty()) return;
  view.notes.push_back(fmt::format(
      "The kernel shows nothing of {} from an exec on (set-user-id, or not readable): when it ran is not "
      "known, and bands and levels are without it.",
      fmt::join(names, ", ")));
}

/// The command alone was followed, and the kernel charged its children to it.
void note_unfollowed(const load::Profile& profile, View& view) {
  constexpr uint64_t kWorthSaying = 10'000'000;
  if (profile.session.text(session_key::kFollow) != "0" || profile.unsampled.count < kWorthSaying) return;
  view.notes.push_back(
      "Recorded with --no-follow: the CPU time of processes that the command started, if it did, is [not "
      "sampled].");
}

/// Looks at blocked threads need the right to trace their process.
void note_looks(const load::Session& session, View& view) {
  const uint64_t refused = session.number(session_key::kObserverRefusedProcesses);
  if (refused == 0) return;
  view.notes.push_back(
      fmt::format("{} not be looked at from outside (not dumpable, set-user-id, or by "
                  "kernel.yama.ptrace_scope or a filter of system calls): waits there that no hook saw stay "
                  "[other waits].",
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

/// What ticks came from, where the session says it.
std::string timer_words(const load::Profile& profile) {
  const load::Session& session = profile.session;
  const std::string_view timer = session.text(session_key::kTimer);
  if (timer == "perf") return "performance events of each thread's CPU time";
  if (timer.empty()) return "";
  std::string words = "CPU timers";
  const uint64_t tick = session.number(session_key::kKernelTickNs);
  if (std::ranges::any_of(profile.processes, [](const load::Process& process) {
        return process.counter(format::Counter::kEventsInStep) != 0;
      }))
    words += ", and performance events where threads wait often";
  if (session.interval.count >= tick) return words;
  words += fmt::format(", which the kernel looks at every {:g} ms", double(tick) / 1e6);
  if (const std::string_view why = session.text(session_key::kTimerReason); !why.empty())
    words += fmt::format("; not performance events: {}", why);
  return words;
}

/// Of how much of the CPU time samples tell what it was.
std::string covered_words(const load::Profile& profile) {
  const uint64_t all = (profile.sampled + profile.residual + profile.unsampled).count;
  const auto part = [&](Nanos time) { return fmt::format("{:.1f}%", 100 * share(time.count, all)); };
  std::string words = part(profile.sampled) + " sampled";
  if (profile.residual_placed != Nanos{})
    words += fmt::format(" and {} more that first samples of short threads stand for",
                         part(profile.residual_placed));
  return words + fmt::format(", {} without a sample, {} not sampled",
                             part(profile.residual - profile.residual_placed), part(profile.unsampled));
}

void add_quality_facts(View& view, const load::Profile& profile, const analyze::Quality& quality) {
  uint64_t cpu = 0, unnamed = 0;
  for (const analyze::ModuleTime& module : quality.modules)
    cpu += module.self[kCpu], unnamed += module.unnamed_ns;
  const auto text = [&](const char* label, std::string words) {
    view.facts.push_back({"", label, Unit::kText, view.own(std::move(words))});
  };
  const auto value = [&](const char* id, Unit unit, Cell cell) {
    view.facts.push_back({id, "", unit, cell});
  };
  text("CPU time", covered_words(profile));
  text("Whole stacks", whole_words(quality));
  text("Named", cpu == 0 ? "no time in code"
                         : fmt::format("{} of the time in code is in functions with a name",
                                       percent_down(1 - share(unnamed, cpu), 2)));
  text("Lost", lost_words(profile, "samples"));
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
  if (std::string words = timer_words(profile); !words.empty()) text("Timer", std::move(words));
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
  value("timer", Unit::kText, profile.session.text(session_key::kTimer));
  value("slowed_threads", Unit::kCount, uint64_t(quality.slowed_threads));
  value("longest_interval_ns", Unit::kTime, longest_interval_ns(profile, quality));
  value("threads_not_sampled", Unit::kCount, uint64_t(quality.unsampled_threads.size()));
  value("damages", Unit::kCount, uint64_t(profile.damages.size()));
}

}  // namespace

Made make_quality(const Source& source, const Request& request, const analyze::Selection& selection) {
  const analyze::Quality quality = analyze::quality(source.profile, source.symbols, selection);
  View view;
  add_quality_facts(view, source.profile, quality);
  add_quality_tables(source, quality, request, view);
  note_python(source.symbols, selection.functions(source.profile, source.symbols, request.inlines),
              whole(selection)[kCpu], view);
  if (load::works_in_step(source.profile))
    view.notes.push_back(fmt::format("In step: {}.", load::kInStepAdvice));
  note_unsampled(source.profile, quality, view);
  note_unfollowed(source.profile, view);
  note_hidden(source.profile.session, view);
  note_looks(source.profile.session, view);
  if (request.cuts())
    view.notes.push_back(
        "Stacks and names are those that pass the filter; lost samples, ticks, the handler, threads not "
        "sampled and damages are of the whole run.");
  note_uncharged(source.profile, view);
  if (source.profile.sample_count == 0) return view;  // why_empty() says the rest, as under every view
  note_refusals(source.profile, view);
  for (CounterSentence& sentence : counter_sentences(source.profile))
    view.notes.push_back(std::move(sentence.text));
  note_damages(source.profile, view);
  if (!source.profile.session.finished) {
    view.notes.push_back(
        "The recorder did not see the end of the run, or had no room to write it: its CPU time is the last "
        "that each thread noted.");
  }
  return view;
}

}  // namespace varve::view
