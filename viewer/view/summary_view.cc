// SPDX-License-Identifier: MIT
// The summary: the run in numbers, its hottest functions, one line on the quality of the data, and what to
// type next. Its named facts are an interface for scripts. Context: viewer.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstring>
#include <set>

#include "common/session_keys.h"
#include "viewer/load/load.h"
#include "viewer/load/thread_count.h"
#include "viewer/view/band_words.h"
#include "viewer/view/concurrency_words.h"
#include "viewer/view/make.h"
#include "viewer/view/mark_words.h"
#include "viewer/view/rows.h"
#include "viewer/view/summary_words.h"
#include "viewer/view/waits_words.h"

namespace varve::view {
namespace {

using analyze::kCpu;

constexpr size_t kTopHotspots = 7;   // with them the summary fits into 80x24, the prompt included
constexpr size_t kWordsInLine = 66;  // of 80 columns, beside the labels

/// As a shell has it: 128 + signal for a death by signal. Empty if the end was not seen.
Cell exit_cell(const load::Session& session) {
  if (!session.finished) return {};
  const int status = session.exit_status;
  return uint64_t(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

std::string exit_words(const load::Session& session) {
  const int status = session.exit_status;
  if (!WIFSIGNALED(status)) return fmt::format("exit code {}", WEXITSTATUS(status));
  const char* name = sigabbrev_np(WTERMSIG(status));
  return fmt::format("killed by SIG{}", name != nullptr ? name : std::to_string(WTERMSIG(status)).c_str());
}

std::string end_words(const load::Session& session, bool still_recording) {
  const bool stopped = !session.text(session_key::kStopReason).empty();
  const std::string after = session.elapsed.count == 0 ? ""
                            : stopped ? fmt::format("; recorded for {}", seconds_words(session.elapsed))
                                      : fmt::format(" after {}", seconds_words(session.elapsed));
  if (session.finished) return exit_words(session) + after;
  if (still_recording) return "not yet: it is still being recorded";
  return "not seen: the recorder itself was killed, or had no room to write it";
}

std::string when_words(const load::Session& session) {
  std::string words;
  if (session.start_realtime.count != 0) {
    const auto time = time_t(session.start_realtime.count / kNanosPerSecond.count);
    words = fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(time));
  }
  if (!session.host.empty()) words += fmt::format("{}on {}", words.empty() ? "" : " ", session.host);
  if (!session.kernel.empty()) words += fmt::format(", Linux {}", session.kernel);
  if (session.processors != 0) {
    words += fmt::format(", {}{} {}", session.processors_seen ? "at least " : "", session.processors,
                         session.processors == 1 ? "processor" : "processors");
  }
  return words;
}

void add_facts(View& view, const Source& source, const Request& request, const ShownPart& part,
               const analyze::Quality& quality) {
  const load::Profile& profile = source.profile;
  const load::Session& session = profile.session;
  const Nanos cpu = view.ledger.cpu;
  const ShownPart* shown = request.cuts() ? &part : nullptr;
  const auto text = [&](const char* label, std::string words, bool one_line = false) {
    if (!words.empty()) view.facts.push_back({"", label, Unit::kText, view.own(std::move(words)), one_line});
  };
  const auto value = [&](const char* id, Unit unit, Cell cell) {
    view.facts.push_back({id, "", unit, cell});
  };

  text("Command", session.command, true);
  text("When", when_words(session));
  text("End", end_words(session, request.still_recording));
  text("CPU time", cpu_words(session, cpu, shown));
  text("Samples", samples_words(profile, shown));
  text("Quality", quality_words(profile, quality, cpu, shown != nullptr));

  value("command", Unit::kText, std::string_view(session.command));
  value("exit", Unit::kCount, exit_cell(session));
  value("elapsed_ns", Unit::kTime, session.elapsed.count);
  value("cpu_ns", Unit::kTime, cpu.count);
  value("sampled_ns", Unit::kTime, profile.sampled.count);
  value("residual_ns", Unit::kTime, profile.residual.count);
  value("residual_placed_ns", Unit::kTime, profile.residual_placed.count);
  value("unsampled_ns", Unit::kTime, profile.unsampled.count);
  value("samples", Unit::kCount, profile.sample_count);
  value("lost", Unit::kCount, profile.lost_samples);
  value("interval_ns", Unit::kTime, session.interval.count);
  value("timer", Unit::kText, session.text(session_key::kTimer));
  value("threads", Unit::kCount, uint64_t(load::count_threads(profile)));
  value("processes", Unit::kCount, count_processes(profile));
  value("whole_stack_share", Unit::kShare, quality.whole_share());
  value("handler_ns", Unit::kTime, quality.handler.count);
  value("profile_bytes", Unit::kBytes, profile.bytes);
  value("host", Unit::kText, std::string_view(session.host));
  value("kernel", Unit::kText, std::string_view(session.kernel));
  value("processors", Unit::kCount, uint64_t(session.processors));
  value("start_realtime_ns", Unit::kTime, session.start_realtime.count);
  value("user_ns", Unit::kTime, session.user_cpu.count);
  value("system_ns", Unit::kTime, session.system_cpu.count);
  value("ticks", Unit::kCount, quality.ticks);
  value("overruns", Unit::kCount, quality.overruns);
  value("damages", Unit::kCount, uint64_t(profile.damages.size()));
}

/// What passes the filter; the fields without "shown_" are of the whole run.
void add_shown(View& view, const ShownPart& part) {
  const auto value = [&](const char* id, Unit unit, uint64_t number) {
    view.facts.push_back({id, "", unit, number});
  };
  value("shown_elapsed_ns", Unit::kTime, part.elapsed.count);
  value("shown_ns", Unit::kTime, part.cpu.count);
  value("shown_samples", Unit::kCount, part.samples);
  value("shown_threads", Unit::kCount, part.threads);
  value("shown_processes", Unit::kCount, part.processes);
}

/// Of which threads the levels are; empty where they are those of all that is shown.
std::string levels_words(const load::Profile& profile, const Request& request) {
  if (profile.session.text(session_key::kFollow) == "0") return "Of the command's own process: ";
  const bool all = levels_are_of_all(request), process = request.filter.process.given();
  if (all) return process ? "Of all threads of these processes: " : "Of all threads: ";
  return process ? "Of these processes: " : "";
}

/// How busy the processors were meanwhile.
std::string cores_words(const Source& source, const Request& request, const analyze::Selection& selection,
                        const analyze::BandMoments& moments) {
  std::string words;
  for (const std::string& sentence : concurrency_sentences(source, request, selection, moments))
    words += (words.empty() ? levels_words(source.profile, request) : ". ") + sentence;
  if (const std::string end = states_end_words(source.profile); !words.empty() && !end.empty())
    words += ". Run states end after " + end;
  return words;
}

/// After the CPU time.
void add_concurrency(View& view, const Source& source, std::string cores, std::string waits) {
  const analyze::Concurrency& concurrency = *source.concurrency;
  auto after = std::ranges::find(view.facts, "CPU time", &Fact::label);
  if (after != view.facts.end()) ++after;
  for (auto& [label, words] : {std::pair("Waits", std::move(waits)), std::pair("Cores", std::move(cores))})
    if (!words.empty()) after = view.facts.insert(after, {"", label, Unit::kText, view.own(words)});
  const auto bands = analyze::time_by_band(concurrency.levels, concurrency.rule);
  for (size_t i = 0; i < bands.size(); ++i) {
    const Cell ns = concurrency.known() ? Cell(bands[i]) : Cell();
    view.facts.push_back({lower_case(band_name(analyze::Band(i))) + "_ns", "", Unit::kTime, ns});
  }
  view.facts.push_back({"target", "", Unit::kNumber, concurrency.rule.target});
  view.facts.push_back({"run_states", "", Unit::kText, source_name(source.profile.run_states.source)});
  view.facts.push_back(
      {"observer_cpu_ns", "", Unit::kTime, source.profile.session.number(session_key::kObserverCpuNs)});
}

/// The hottest function as an argument for a shell; empty if the hottest row is none.
std::string hottest_function(const Table& hotspots) {
  const auto name = std::ranges::find(hotspots.columns, "function", &Column::id) - hotspots.columns.begin();
  if (hotspots.rows.empty() || hotspots.rows[0].kind != RowKind::kOrdinary) return "";
  const auto text = std::get<std::string_view>(hotspots.row(0)[size_t(name) + 1]);
  const bool plain =
      std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == ':'; });
  if (plain) return std::string(text);
  return text.find('\'') == std::string_view::npos ? fmt::format("'{}'", text) : "";
}

/// Whether several threads left processors idle for most of the time: then what they wait for is the
/// question, and not what is hot.
bool mostly_idle(const load::Profile& profile, const analyze::BandMoments& moments) {
  return load::count_threads(profile) > 1 && moments.chosen_ns() * 4 >= moments.elapsed_ns * 3 &&
         moments.chosen_ns() > 0;
}

/// Whether which program took the time is the first question: of a make, or a script.
bool of_several_programs(const load::Profile& profile) {
  constexpr size_t kSeveral = 3;
  std::set<std::string_view> names;
  for (const load::Process& process : profile.processes) names.insert(analyze::program_name(process));
  return names.size() >= kSeveral;
}

/// Three at most: the summary fits into 80x24.
std::vector<std::string> next_commands(const Request& request, const analyze::Quality& quality,
                                       const std::string& hottest, bool programs, bool waits, bool idle) {
  const std::string profile =
      request.cut_words + (request.profile_words.empty() ? "" : " " + request.profile_words);
  std::vector<std::string> commands;
  const auto add = [&](std::string_view what) {
    commands.push_back(fmt::format("varve {}{}", what, profile));
  };
  if (programs) add("report programs");
  if (waits || idle) {
    add(idle ? "report idle" : "report waits");
    add("report critical-path");
  } else {
    add("report hotspots");
  }
  if (!hottest.empty() && hottest.find("unknown code") == std::string::npos) add("annotate " + hottest);
  const bool weak = quality.whole_share() < 0.99 || unnamed_share(quality) > 0.05;
  constexpr size_t kMost = 3;
  if (programs && weak) commands.resize(std::min(commands.size(), kMost - 1));
  add(weak ? "report quality" : "report top-down");
  commands.resize(std::min(commands.size(), kMost));
  return commands;
}

}  // namespace

Made make_summary(const Source& source, const Request& request, const analyze::Selection& selection) {
  const analyze::Quality quality = analyze::quality(source.profile, source.symbols, selection);
  View facts;
  facts.ledger = analyze::ledger(source.profile, selection);
  const analyze::BandMoments moments = analyze::band_moments(source.profile, source.symbols, request.filter,
                                                             *source.concurrency, analyze::kIdleAndPoor);
  std::string cores = cores_words(source, request, selection, moments);
  std::string waits = waits_words(source, moments, " while processors idled");
  const bool any_waits = !waits.empty();
  Request top = request;
  // On a small terminal each line of words takes the place of a row.
  const size_t lines =
      (cores.size() + kWordsInLine - 1) / kWordsInLine + (waits.size() + kWordsInLine - 1) / kWordsInLine;
  const size_t most = kTopHotspots - std::min(lines, kTopHotspots - 2);
  if (!request.limit_given) top.limit = most;
  Made view = make_hotspots(source, top, selection);
  if (!view) return view;
  view->csv_is_facts = true;
  view->ledger = facts.ledger;
  view->tables.front().narrow_names = true;
  const ShownPart part = shown_part(source.profile, request, selection);
  add_facts(*view, source, request, part, quality);
  add_concurrency(*view, source, std::move(cores), std::move(waits));
  add_shown(*view, part);
  for (std::string& sentence : pause_sentences(source.profile)) view->notes.push_back(std::move(sentence));
  view->next = next_commands(request, quality, hottest_function(view->tables.front()),
                             !request.cuts() && of_several_programs(source.profile), any_waits,
                             mostly_idle(source.profile, moments));
  return view;
}

}  // namespace varve::view
