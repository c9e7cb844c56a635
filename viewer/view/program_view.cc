// SPDX-License-Identifier: MIT
// CPU time by program: what a make or a script of many short processes used each of its tools for.
// Context: viewer.
#include <fmt/format.h>

#include <map>
#include <tuple>

#include "viewer/view/band_columns.h"
#include "viewer/view/fill_rows.h"
#include "viewer/view/make.h"
#include "viewer/view/shown_part.h"

namespace varve::view {
namespace {

using analyze::kCpu;
using analyze::kSamples;

/// Programs by the name and file that processes began with, in the order of the first ones.
struct Programs {
  std::vector<const load::Process*> first;
  std::vector<uint64_t> runs, threads;  // of each, with a row; a run is an image
  std::vector<uint32_t> of_process;
};

/// Counts threads that have a row, and their images; all images where nothing is cut.
void count_runs(const load::Profile& profile, const std::vector<bool>& threads, bool cuts,
                Programs& programs) {
  std::vector<bool> counted(profile.processes.size(), !cuts);
  for (size_t i = 0; i < profile.threads.size(); ++i) {
    const uint32_t process = profile.threads[i].process.index();
    if (threads[i]) counted[process] = true, ++programs.threads[programs.of_process[process]];
  }
  for (size_t i = 0; i < counted.size(); ++i) programs.runs[programs.of_process[i]] += counted[i];
}

Programs find_programs(const load::Profile& profile) {
  Programs found;
  std::map<std::tuple<std::string_view, std::string_view>, uint32_t> known;
  for (const load::Process& process : profile.processes) {
    const std::tuple key(analyze::program_name(process), std::string_view(process.exe));
    const auto [at, added] = known.try_emplace(key, uint32_t(found.first.size()));
    if (added) found.first.push_back(&process);
    found.of_process.push_back(at->second);
  }
  found.runs.resize(found.first.size());
  found.threads.resize(found.first.size());
  return found;
}

/// "awk (mawk)" where the file has another name, as its functions' module has.
std::string shown_program(const load::Process& process) {
  const std::string_view name = analyze::program_name(process), file = analyze::file_name(process.exe);
  return file.empty() || file == name ? std::string(name) : fmt::format("{} ({})", name, file);
}

Table program_table(const Source& source, const BandColumns& bands) {
  Table table;
  table.id = "programs";
  table.empty = "No process was seen.";
  table.columns = {
      {"", source.of_waits ? "Wait" : "CPU", Unit::kTime},
      {"", source.of_waits ? "Wait%" : "CPU%", Unit::kShare},
      {"", "Runs", Unit::kCount, false, -1, 4},
      {"", source.of_waits ? "Wait/run" : "CPU/run", Unit::kMean, false, -1, 3},
      {"", "Threads", Unit::kCount, false, -1, 1},
      {"", "Samples", Unit::kCount, false, -1, 2},
  };
  bands.add_text_columns(table);
  const std::vector<Column> rest = {
      {"", "Program", Unit::kText},  {"program", "", Unit::kText},  {"path", "", Unit::kText},
      {"cpu_ns", "", Unit::kTime},   {"samples", "", Unit::kCount}, {"runs", "", Unit::kCount},
      {"threads", "", Unit::kCount},
  };
  table.columns.insert(table.columns.end(), rest.begin(), rest.end());
  bands.add_data_columns(table);
  return table;
}

}  // namespace

Made make_programs(const Source& source, const Request& request, const analyze::Selection& selection) {
  Programs programs = find_programs(source.profile);
  count_runs(source.profile, rows_left(selection.by_thread, source.profile.threads.size(), request),
             request.cuts(), programs);
  const analyze::MetricTable sums =
      add_up_threads(source.profile, selection.by_thread, programs.of_process, programs.first.size());
  const uint64_t all = whole(selection)[kCpu];
  const BandColumns bands(source, largest_cpu(sums));
  View view;
  Table table = program_table(source, bands);
  const auto add = [&](RowKind kind, std::span<const uint64_t> sum, std::string_view shown,
                       std::string_view name, std::string_view path, Cell runs, Cell mean, Cell threads) {
    table.begin({0, kind, false});
    table.put({sum[kCpu], share(sum[kCpu], all), runs, mean, threads, sum[kSamples]});
    bands.put_text(table, sum);
    table.put({shown, name, path, sum[kCpu], sum[kSamples], runs, threads});
    bands.put_data(table, sum);
  };
  fill_rows(
      sums, rows_left(sums, programs.first.size(), request), selection, request,
      [&](uint32_t i) {
        const load::Process& first = *programs.first[i];
        const uint64_t runs = programs.runs[i];
        add(RowKind::kOrdinary, sums.row(i), view.own(shown_program(first)), analyze::program_name(first),
            first.exe, runs, sums.at(i, kCpu) / runs, programs.threads[i]);
      },
      [&](RowKind kind, std::string text, const std::vector<uint64_t>& sum) {
        const std::string_view label = view.own(std::move(text));
        add(kind, sum, label, label, {}, {}, {}, {});
      });
  view.tables.push_back(std::move(table));
  if (source.profile.processes.size() > count_processes(source.profile))
    view.notes.push_back("Each fork and each exec begins a run.");
  return view;
}

}  // namespace varve::view
