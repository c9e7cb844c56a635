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
#include "viewer/analyze/quality.h"
#include "viewer/load/load.h"
#include "viewer/view/band_words.h"
#include "viewer/view/concurrency_words.h"
#include "viewer/view/make.h"
#include "viewer/view/mark_words.h"
#include "viewer/view/rows.h"

namespace varve::view {
namespace {

using analyze::kCpu;

constexpr size_t kTopHotspots = 7;   // with them the summary fits into 80x24, the prompt included
constexpr size_t kWordsInLine = 66;  // of 80 columns, beside the labels

double seconds(Nanos time) { return double(time.count) / 1e9; }

std::string seconds_words(Nanos time) {
  return fmt::format("{:.{}f} s", seconds(time), time.count < 10 * kNanosPerSecond.count ? 3 : 2);
}

double unnamed_share(const analyze::Quality& quality) {
  uint64_t self = 0, unnamed = 0;
  for (const analyze::ModuleTime& module : quality.modules)
    self += module.self[kCpu], unnamed += module.unnamed_ns;
  return share(unnamed, self);
}

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
  return "not seen: the recorder itself was killed";
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
    words += fmt::format(", {} {}", session.processors, session.processors == 1 ? "processor" : "processors");
  }
  return words;
}

std::string plural(uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

size_t count_processes(const load::Profile& profile) {
  std::set<std::pair<std::string_view, int32_t>> pids;
  for (const load::Process& process : profile.processes) pids.emplace(process.host, process.pid);
  return pids.size();
}

std::string samples_words(const load::Profile& profile) {
  std::string words = fmt::format("{} in {} of {}", profile.sample_count,
                                  plural(load::count_threads(profile), "thread", "threads"),
                                  plural(count_processes(profile), "process", "processes"));
  if (profile.session.interval.count != 0) {
    const double asked = double(profile.session.interval.count) / 1e6;
    const double got =
        profile.sample_count ? double(profile.sampled.count) / 1e6 / double(profile.sample_count) : 0;
    // The kernel's clock may be coarser than what was asked for.
    words += got > 1.5 * asked
                 ? fmt::format(", one every {:.1f} ms of CPU time ({} ms asked for)", got, asked)
                 : fmt::format(", one every {} ms of CPU time", asked);
  }
  return words + fmt::format(", {} lost", profile.lost_samples);
}

std::string quality_words(const load::Profile& profile, const analyze::Quality& quality, uint64_t cpu) {
  if (quality.samples == 0) return "no samples";
  std::string words = fmt::format("{:.1f}% of stacks whole, {:.1f}% of time named, {:.2f}% overhead",
                                  100 * quality.whole_share(), 100 * (1 - unnamed_share(quality)),
                                  100 * share(quality.handler.count, cpu));
  if (!quality.unsampled_threads.empty()) {
    words += ", " + plural(quality.unsampled_threads.size(), "thread", "threads") + " not sampled";
  }
  if (!profile.damages.empty()) words += ", " + plural(profile.damages.size(), "damage", "damages");
  return words;
}

std::string cpu_words(const load::Session& session, uint64_t cpu) {
  std::string words = seconds_words({cpu});
  if (session.elapsed.count != 0) {
    words += fmt::format(", {:.2f} processors busy on average", share(cpu, session.elapsed.count));
  }
  if (session.user_cpu.count + session.system_cpu.count != 0) {
    words += fmt::format(" ({:.2f} s user, {:.2f} s system)", seconds(session.user_cpu),
                         seconds(session.system_cpu));
  }
  return words;
}

void add_facts(View& view, const Source& source, const Request& request, const analyze::Quality& quality) {
  const load::Profile& profile = source.profile;
  const load::Session& session = profile.session;
  const uint64_t cpu = view.ledger.cpu.count;
  const auto text = [&](const char* label, std::string words, bool one_line = false) {
    if (!words.empty()) view.facts.push_back({"", label, Unit::kText, view.own(std::move(words)), one_line});
  };
  const auto value = [&](const char* id, Unit unit, Cell cell) {
    view.facts.push_back({id, "", unit, cell});
  };

  text("Command", session.command, true);
  text("When", when_words(session));
  text("End", end_words(session, request.still_recording));
  text("CPU time", cpu_words(session, cpu));
  text("Samples", samples_words(profile));
  text("Quality", quality_words(profile, quality, cpu));

  value("command", Unit::kText, std::string_view(session.command));
  value("exit", Unit::kCount, exit_cell(session));
  value("elapsed_ns", Unit::kTime, session.elapsed.count);
  value("cpu_ns", Unit::kTime, cpu);
  value("sampled_ns", Unit::kTime, profile.sampled.count);
  value("residual_ns", Unit::kTime, profile.residual.count);
  value("unsampled_ns", Unit::kTime, profile.unsampled.count);
  value("samples", Unit::kCount, profile.sample_count);
  value("lost", Unit::kCount, profile.lost_samples);
  value("interval_ns", Unit::kTime, session.interval.count);
  value("threads", Unit::kCount, uint64_t(load::count_threads(profile)));
  value("processes", Unit::kCount, uint64_t(count_processes(profile)));
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

/// How busy the processors were meanwhile.
std::string cores_words(const Source& source, const Request& request, const analyze::Selection& selection) {
  std::string words;
  for (const std::string& sentence : concurrency_sentences(source, request, selection))
    words += (words.empty() ? "" : ". ") + sentence;
  return words;
}

/// After the CPU time.
void add_concurrency(View& view, const Source& source, std::string words) {
  const analyze::Concurrency& concurrency = *source.concurrency;
  auto after = std::ranges::find(view.facts, "CPU time", &Fact::label);
  if (after != view.facts.end()) ++after;
  if (!words.empty()) view.facts.insert(after, {"", "Cores", Unit::kText, view.own(std::move(words))});
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

/// Three at most: the summary fits into 80x24.
std::vector<std::string> next_commands(const Request& request, const analyze::Quality& quality,
                                       const std::string& hottest) {
  const std::string profile = request.profile_words.empty() ? "" : " " + request.profile_words;
  std::vector<std::string> commands = {fmt::format("varve report hotspots{}", profile)};
  if (!hottest.empty()) commands.push_back(fmt::format("varve annotate {}{}", hottest, profile));
  const bool weak = quality.whole_share() < 0.99 || unnamed_share(quality) > 0.05;
  commands.push_back(fmt::format("varve report {}{}", weak ? "quality" : "top-down", profile));
  return commands;
}

}  // namespace

Made make_summary(const Source& source, const Request& request, const analyze::Selection& selection) {
  const analyze::Quality quality = analyze::quality(source.profile, source.symbols, selection);
  View facts;
  facts.ledger = analyze::ledger(source.profile, selection);
  std::string cores = cores_words(source, request, selection);
  Request top = request;
  // On a small terminal each line of words takes the place of a row.
  const size_t lines = (cores.size() + kWordsInLine - 1) / kWordsInLine;
  const size_t most = kTopHotspots - std::min(lines, kTopHotspots - 2);
  top.limit = request.limit != 0 ? std::min<uint64_t>(request.limit, most) : most;
  Made view = make_hotspots(source, top, selection);
  if (!view) return view;
  view->csv_is_facts = true;
  view->ledger = facts.ledger;
  view->tables.front().narrow_names = true;
  add_facts(*view, source, request, quality);
  add_concurrency(*view, source, std::move(cores));
  for (std::string& sentence : pause_sentences(source.profile)) view->notes.push_back(std::move(sentence));
  view->next = next_commands(request, quality, hottest_function(view->tables.front()));
  return view;
}

}  // namespace varve::view
