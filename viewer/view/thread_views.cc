// SPDX-License-Identifier: MIT
// CPU time by thread and by process.
// Context: viewer.
#include <fmt/format.h>

#include <algorithm>

#include "viewer/view/make.h"
#include "viewer/view/rows.h"

namespace varve::view {
namespace {

using analyze::kCpu;
using analyze::kSamples;

Nanos since_start(const load::Profile& profile, Nanos time) {
  return saturating_sub(time, profile.session.start_time);
}

/// Empty where the end is not known.
Cell lifetime(Nanos start, Nanos end) {
  return end.count == 0 ? Cell() : Cell(saturating_sub(end, start).count);
}

/// Rows by CPU time, the largest first, then as they were begun; all of them, but with a filter only what
/// passes it.
std::vector<uint32_t> by_size(const analyze::MetricTable& metrics, size_t rows, bool filtered) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < rows; ++i) {
    if (!filtered || !metrics.zero(i)) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return metrics.at(a, kCpu) > metrics.at(b, kCpu); });
  return order;
}

/// Adds `order`'s rows by `add_row(index)`, then sums by `add_sum(kind, label, metrics)`.
template <typename AddRow, typename AddSum>
void fill(const analyze::MetricTable& metrics, size_t count, const analyze::Selection& selection,
          const Request& request, const AddRow& add_row, const AddSum& add_sum) {
  const std::vector<uint32_t> order = by_size(metrics, count, request.filter.given());
  const CutRows cut = cut_rows(metrics, order, whole(selection)[kCpu], request);
  for (size_t i = 0; i < cut.kept; ++i) add_row(order[i]);
  if (cut.below > 0) add_sum(RowKind::kRest, cut.label, cut.rest);
  const auto threadless = metrics.row(count);
  if (threadless[kCpu] > 0 || threadless[kSamples] > 0) {
    add_sum(RowKind::kSpecial, std::string(symbol::special_name(load::SpecialSite::kNotSampled)),
            std::vector<uint64_t>(threadless.begin(), threadless.end()));
  }
  const std::vector<uint64_t>& out = selection.filtered_out;
  if (out[kCpu] > 0 || out[kSamples] > 0) add_sum(RowKind::kFilteredOut, std::string(kFilteredOut), out);
}

}  // namespace

Made make_threads(const Source& source, const Request& request, analyze::Selection selection) {
  const load::Profile& profile = source.profile;
  const uint64_t all = whole(selection)[kCpu];
  View view;
  Table table;
  table.id = "threads";
  table.empty = "No thread was seen.";
  table.columns = {
      {"", "CPU", Unit::kTime},
      {"", "CPU%", Unit::kShare},
      {"", "Start", Unit::kTime, false, -1, 3},
      {"", "Lifetime", Unit::kTime, false, -1, 2},
      {"", "Samples", Unit::kCount, false, -1, 1},
      {"pid", "PID", Unit::kNumber, false, -1, 4},
      {"tid", "TID", Unit::kNumber},
      {"", "Program", Unit::kText, false, -1, 5},
      {"name", "Thread", Unit::kText},
      {"start_ns", "", Unit::kTime},
      {"lifetime_ns", "", Unit::kTime},
      {"cpu_ns", "", Unit::kTime},
      {"samples", "", Unit::kCount},
  };
  fill(
      selection.by_thread, profile.threads.size(), selection, request,
      [&](uint32_t i) {
        const load::Thread& thread = profile.threads[i];
        const load::Process& process = profile.processes[thread.process.index()];
        const uint64_t cpu = selection.by_thread.at(i, kCpu), samples = selection.by_thread.at(i, kSamples);
        const uint64_t start = since_start(profile, thread.start_time).count;
        const Cell life = lifetime(thread.start_time, thread.end_time);
        table.add({}, {cpu, share(cpu, all), start, life, samples, uint64_t(uint32_t(process.pid)),
                       uint64_t(uint32_t(thread.tid)), analyze::program_name(process),
                       std::string_view(thread.name), start, life, cpu, samples});
      },
      [&](RowKind kind, std::string label, const std::vector<uint64_t>& sum) {
        table.add({0, kind, false}, {sum[kCpu],
                                     share(sum[kCpu], all),
                                     {},
                                     {},
                                     sum[kSamples],
                                     {},
                                     {},
                                     std::string_view(),
                                     view.own(std::move(label)),
                                     {},
                                     {},
                                     sum[kCpu],
                                     sum[kSamples]});
      });
  view.tables.push_back(std::move(table));
  return view;
}

namespace {

/// The threads of each process, added up; the last row is time of no thread.
struct ByProcess {
  analyze::MetricTable metrics;
  std::vector<uint64_t> threads;
};
ByProcess by_process(const load::Profile& profile, const analyze::MetricTable& by_thread) {
  ByProcess sums{analyze::MetricTable(profile.processes.size() + 1),
                 std::vector<uint64_t>(profile.processes.size())};
  for (size_t i = 0; i < profile.threads.size(); ++i) {
    const size_t process = profile.threads[i].process.index();
    sums.metrics.add(process, by_thread, i);
    ++sums.threads[process];
  }
  sums.metrics.add(profile.processes.size(), by_thread, profile.threads.size());
  return sums;
}

Table process_table() {
  Table table;
  table.id = "processes";
  table.empty = "No process was seen.";
  table.columns = {
      {"", "CPU", Unit::kTime},
      {"", "CPU%", Unit::kShare},
      {"", "Start", Unit::kTime, false, -1, 3},
      {"", "Lifetime", Unit::kTime, false, -1, 2},
      {"", "Samples", Unit::kCount, false, -1, 1},
      {"", "Threads", Unit::kCount, false, -1, 4},
      {"pid", "PID", Unit::kNumber},
      {"ppid", "PPID", Unit::kNumber, false, -1, 5},
      {"", "Command", Unit::kText},
      {"image", "", Unit::kNumber},
      {"program", "", Unit::kText},
      {"command", "", Unit::kText},
      {"start_ns", "", Unit::kTime},
      {"lifetime_ns", "", Unit::kTime},
      {"cpu_ns", "", Unit::kTime},
      {"samples", "", Unit::kCount},
      {"threads", "", Unit::kCount},
  };
  return table;
}

}  // namespace

Made make_processes(const Source& source, const Request& request, analyze::Selection selection) {
  const load::Profile& profile = source.profile;
  const uint64_t all = whole(selection)[kCpu];
  const ByProcess sums = by_process(profile, selection.by_thread);
  View view;
  Table table = process_table();
  const auto add = [&](RowKind kind, std::span<const uint64_t> sum, const load::Process* process,
                       std::string_view shown, std::string_view command, Cell threads) {
    Cell start, life, pid, ppid, image;
    std::string_view program;
    if (process != nullptr) {
      start = since_start(profile, process->start_time).count;
      life = lifetime(process->start_time, process->end_time);
      pid = uint64_t(uint32_t(process->pid));
      ppid = uint64_t(uint32_t(process->ppid));
      image = uint64_t(process->image);
      program = process->exe;
    }
    table.add({0, kind, false},
              {sum[kCpu], share(sum[kCpu], all), start, life, sum[kSamples], threads, pid, ppid, shown, image,
               program, command, start, life, sum[kCpu], sum[kSamples], threads});
  };
  fill(
      sums.metrics, profile.processes.size(), selection, request,
      [&](uint32_t i) {
        const load::Process& process = profile.processes[i];
        const std::string_view command = view.own(fmt::format("{}", fmt::join(process.argv, " ")));
        add(RowKind::kOrdinary, sums.metrics.row(i), &process,
            command.empty() ? analyze::program_name(process) : command, command, sums.threads[i]);
      },
      [&](RowKind kind, std::string text, const std::vector<uint64_t>& sum) {
        const std::string_view label = view.own(std::move(text));
        add(kind, sum, nullptr, label, label, {});
      });
  view.tables.push_back(std::move(table));
  return view;
}

}  // namespace varve::view
