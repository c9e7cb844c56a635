// SPDX-License-Identifier: MIT
// CPU time by thread and by process.
// Context: viewer.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "viewer/view/band_columns.h"
#include "viewer/view/fill_rows.h"
#include "viewer/view/make.h"
#include "viewer/view/shown_part.h"
#include "viewer/view/state_columns.h"

namespace varve::view {
namespace {

using analyze::kCpu;
using analyze::kSamples;

/// Empty where the end is not known.
Cell lifetime(Nanos start, Nanos end) {
  return end.count == 0 ? Cell() : Cell(saturating_sub(end, start).count);
}

/// Of rows without CPU time that show a run all the same, where that time is worth a word.
void note_threads_without(View& view, const load::Profile& profile) {
  const bool much = 100 * profile.unsampled.count > profile.kernel_cpu.count;
  if (much && std::ranges::any_of(profile.threads, &load::Thread::seen_only))
    view.notes.push_back(
        "The CPU time of programs without the agent is in no row of theirs but in [not sampled]: varve "
        "report "
        "quality names them.");
}

void add_note(View& view, std::string words) {
  if (!words.empty()) view.notes.push_back(std::move(words));
}

/// Those that are left, and those that only waited or were ready then, unless CPU time of functions is asked.
std::vector<bool> thread_rows(const load::Profile& profile, const analyze::MetricTable& metrics,
                              const Request& request, const StateColumns& states) {
  std::vector<bool> has = rows_left(metrics, profile.threads.size(), request);
  const analyze::Filter& filter = request.filter;
  if (filter.module.given() || filter.function.given() || request.metric != kCpu) return has;
  for (uint32_t i = 0; i < has.size(); ++i)
    has[i] = has[i] || (states.any({i}) && analyze::thread_passes(profile, {i}, filter));
  return has;
}

Table thread_table(const Source& source, const StateColumns& states, const BandColumns& bands) {
  Table table;
  table.id = "threads";
  table.empty = "No thread was seen.";
  table.columns = {
      {"", source.of_waits ? "Wait" : "CPU", Unit::kTime},
      {"", source.of_waits ? "Wait%" : "CPU%", Unit::kShare},
  };
  states.add_text_columns(table);
  table.columns.insert(table.columns.end(), {
                                                {"", "Start", Unit::kTime, false, -1, 3},
                                                {"", "Lifetime", Unit::kTime, false, -1, 2},
                                                {"", "Samples", Unit::kCount, false, -1, 1},
                                            });
  bands.add_text_columns(table);
  table.columns.insert(table.columns.end(), {
                                                {"pid", "PID", Unit::kNumber, false, -1, 4},
                                                {"tid", "TID", Unit::kNumber},
                                                {"", "Program", Unit::kText, false, -1, 5},
                                                {"name", "Thread", Unit::kText},
                                                {"start_ns", "", Unit::kTime},
                                                {"lifetime_ns", "", Unit::kTime},
                                                {"cpu_ns", "", Unit::kTime},
                                                {"samples", "", Unit::kCount},
                                            });
  states.add_data_columns(table);
  bands.add_data_columns(table);
  return table;
}

}  // namespace

Made make_threads(const Source& source, const Request& request, const analyze::Selection& selection) {
  const load::Profile& profile = source.profile;
  const uint64_t all = whole(selection)[kCpu];
  const StateColumns states(source);
  const BandColumns bands(source, largest_cpu(selection.by_thread));
  View view;
  Table table = thread_table(source, states, bands);
  const auto add = [&](RowKind kind, std::span<const uint64_t> sum, ThreadId id, std::string_view name) {
    Cell start, life, pid, tid;
    std::string_view program;
    if (id.valid()) {
      const load::Thread& thread = profile.threads[id.index()];
      const load::Process& process = profile.processes[thread.process.index()];
      start = profile.since_start(thread.start_time).count;
      life = lifetime(thread.start_time, thread.end_time);
      pid = uint64_t(uint32_t(process.pid));
      tid = uint64_t(uint32_t(thread.tid));
      program = analyze::program_name(process);
    }
    table.begin({0, kind, false});
    table.put({sum[kCpu], share(sum[kCpu], all)});
    states.put_text(table, id);
    table.put({start, life, sum[kSamples]});
    bands.put_text(table, sum);
    table.put({pid, tid, program, name, start, life, sum[kCpu], sum[kSamples]});
    states.put_data(table, id);
    bands.put_data(table, sum);
  };
  const std::vector<bool> rows = thread_rows(profile, selection.by_thread, request, states);
  fill_rows(
      selection.by_thread, rows, selection, request,
      [&](uint32_t i) { add(RowKind::kOrdinary, selection.by_thread.row(i), {i}, profile.threads[i].name); },
      [&](RowKind kind, std::string label, const std::vector<uint64_t>& sum) {
        add(kind, sum, ThreadId::none(), view.own(std::move(label)));
      });
  view.tables.push_back(std::move(table));
  note_threads_without(view, profile);
  add_note(view, more_rows_words(profile, rows));
  return view;
}

namespace {

/// The threads of each process, added up; the last row is time of no thread.
struct ByProcess {
  analyze::MetricTable metrics;
  std::vector<uint64_t> threads;
};
ByProcess by_process(const load::Profile& profile, const analyze::MetricTable& by_thread) {
  std::vector<uint32_t> rows(profile.processes.size());
  std::iota(rows.begin(), rows.end(), 0u);
  ByProcess sums{add_up_threads(profile, by_thread, rows, rows.size()), std::vector<uint64_t>(rows.size())};
  for (const load::Thread& thread : profile.threads) ++sums.threads[thread.process.index()];
  return sums;
}

/// The command without the folders of its program: what tells programs apart comes first.
std::string shown_command(const load::Process& process) {
  std::string words(analyze::program_name(process));
  for (size_t i = 1; i < process.argv.size(); ++i) words += " " + process.argv[i];
  return words;
}

Table process_table(const Source& source, const BandColumns& bands) {
  Table table;
  table.id = "processes";
  table.empty = "No process was seen.";
  table.columns = {
      {"", source.of_waits ? "Wait" : "CPU", Unit::kTime},
      {"", source.of_waits ? "Wait%" : "CPU%", Unit::kShare},
      {"", "Start", Unit::kTime, false, -1, 3},
      {"", "Lifetime", Unit::kTime, false, -1, 2},
      {"", "Samples", Unit::kCount, false, -1, 1},
      {"", "Threads", Unit::kCount, false, -1, 4},
  };
  bands.add_text_columns(table);
  const std::vector<Column> rest = {
      {"pid", "PID", Unit::kNumber}, {"ppid", "PPID", Unit::kNumber, false, -1, 5},
      {"", "Command", Unit::kText},  {"image", "", Unit::kNumber},
      {"program", "", Unit::kText},  {"command", "", Unit::kText},
      {"start_ns", "", Unit::kTime}, {"lifetime_ns", "", Unit::kTime},
      {"cpu_ns", "", Unit::kTime},   {"samples", "", Unit::kCount},
      {"threads", "", Unit::kCount},
  };
  table.columns.insert(table.columns.end(), rest.begin(), rest.end());
  bands.add_data_columns(table);
  return table;
}

}  // namespace

Made make_processes(const Source& source, const Request& request, const analyze::Selection& selection) {
  const load::Profile& profile = source.profile;
  const uint64_t all = whole(selection)[kCpu];
  const ByProcess sums = by_process(profile, selection.by_thread);
  View view;
  const BandColumns bands(source, largest_cpu(sums.metrics));
  Table table = process_table(source, bands);
  const auto add = [&](RowKind kind, std::span<const uint64_t> sum, const load::Process* process,
                       std::string_view shown, std::string_view command, Cell threads) {
    Cell start, life, pid, ppid, image;
    std::string_view program;
    if (process != nullptr) {
      start = profile.since_start(process->start_time).count;
      life = lifetime(process->start_time, process->end_time);
      pid = uint64_t(uint32_t(process->pid));
      ppid = uint64_t(uint32_t(process->ppid));
      image = uint64_t(process->image);
      program = process->exe;
    }
    table.begin({0, kind, false});
    table.put({sum[kCpu], share(sum[kCpu], all), start, life, sum[kSamples], threads});
    bands.put_text(table, sum);
    table.put({pid, ppid, shown, image, program, command, start, life, sum[kCpu], sum[kSamples], threads});
    bands.put_data(table, sum);
  };
  const std::vector<bool> images = rows_left(sums.metrics, profile.processes.size(), request);
  fill_rows(
      sums.metrics, images, selection, request,
      [&](uint32_t i) {
        const load::Process& process = profile.processes[i];
        const std::string_view command = view.own(fmt::format("{}", fmt::join(process.argv, " ")));
        add(RowKind::kOrdinary, sums.metrics.row(i), &process, view.own(shown_command(process)), command,
            sums.threads[i]);
      },
      [&](RowKind kind, std::string text, const std::vector<uint64_t>& sum) {
        const std::string_view label = view.own(std::move(text));
        add(kind, sum, nullptr, label, label, {});
      });
  view.tables.push_back(std::move(table));
  note_threads_without(view, profile);
  add_note(view, more_rows_words(uint64_t(std::ranges::count(images, true)),
                                 count_processes_of(profile, images), "process", "processes"));
  return view;
}

}  // namespace varve::view
