// SPDX-License-Identifier: MIT
// Thread level parallelism as the table of the paper that defined it: the run in one row and a row for each
// process. Context: viewer.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "viewer/analyze/thread_states.h"
#include "viewer/analyze/tlp.h"
#include "viewer/view/band_words.h"
#include "viewer/view/make.h"
#include "viewer/view/rows.h"

namespace varve::view {
namespace {

/// Shares of more levels than this are in CSV and JSON only.
constexpr size_t kShownLevels = 8;

/// The threads of a row of the table, added up.
struct Tasks {
  uint64_t created = 0;  // begun within the run, or the part of it that is looked at
  uint64_t active = 0;   // that ran at all
  std::set<uint32_t> tracks, active_tracks;
  uint64_t lifetime_ns = 0;
  uint64_t same_processor = 0, compared = 0;

  /// `range`: of the row, which is within `counts`.
  void add(const load::RunStates& run, const load::Thread& thread, const analyze::ThreadStates& states,
           analyze::TimeRange range, analyze::TimeRange counts) {
    const load::Track& track = run.tracks[thread.track.index()];
    const uint64_t end = thread.end_time.count ? thread.end_time.count : UINT64_MAX;
    if (end < counts.begin || thread.start_time.count >= counts.end) return;
    // An exec makes a thread a row more, and no new one.
    if (tracks.insert(thread.track.value).second)
      created += (track.start_seen || track.start > run.begin) && track.start.count >= counts.begin;
    if (states.running_ns > 0 && active_tracks.insert(thread.track.value).second) ++active;
    same_processor += states.same_processor;
    compared += states.compared;
    lifetime_ns += analyze::TimeRange{thread.start_time.count, end}.within(range).length();
  }
};

class TlpTable {
 public:
  TlpTable(const Source& source, const Request& request)
      : source_(source),
        request_(request),
        processors_(size_t(source.concurrency->machine.processors)),
        states_(analyze::settled_states(source.profile, source.concurrency->levels.range())) {
    add_columns();
  }

  Table make() {
    const load::Profile& profile = source_.profile;
    const analyze::Levels& levels = source_.concurrency->levels;
    std::map<int32_t, std::vector<uint32_t>> by_pid;
    std::vector<uint32_t> all;
    for (uint32_t i = 0; i < profile.threads.size(); ++i) {
      const TrackId track = profile.threads[i].track;
      if (!track.valid() || !source_.concurrency->tracks[track.index()]) continue;
      by_pid[profile.run_states.tracks[track.index()].pid].push_back(i);
      all.push_back(i);
    }
    add_row({"the run", {}, levels.range(), all}, analyze::time_by_level(levels, &analyze::Level::running));
    if (by_pid.size() > 1) add_processes(by_pid);
    return std::move(table_);
  }

  /// Processes that the limit left out.
  size_t cut() const { return cut_; }

 private:
  struct Row {
    std::string_view name;
    Cell pid;
    analyze::TimeRange range;
    std::span<const uint32_t> threads;
  };

  void add_columns() {
    table_.id = "rows";
    table_.columns = {{"elapsed_ns", "Elapsed", Unit::kTime, false, -1, 7}, {"mu", "MU%", Unit::kShare}};
    for (size_t i = 0; i <= processors_; ++i) {
      std::string name = fmt::format("c{}", i);
      table_.columns.push_back({name, i <= kShownLevels ? name + "%" : "", Unit::kShare, false, -1, 8});
    }
    table_.columns.push_back({"tlp", fmt::format("TLP{}", processors_), Unit::kRatio});
    table_.columns.push_back({"tlp_2", processors_ > 2 ? "TLP2" : "", Unit::kRatio, false, -1, 5});
    table_.columns.push_back({"threads_created", "Created", Unit::kCount, false, -1, 3});
    table_.columns.push_back({"threads_active", "Active", Unit::kCount, false, -1, 4});
    table_.columns.push_back({"lifetime_share", "Life%", Unit::kShare, false, -1, 1});
    table_.columns.push_back({"affinity", "Affinity%", Unit::kShare, false, -1, 2});
    table_.columns.push_back({"pid", "PID", Unit::kNumber, false, -1, 6});
    table_.columns.push_back({"process", "Process", Unit::kText});
  }

  /// Each over the process's own life, as the run's row is over the run.
  void add_processes(const std::map<int32_t, std::vector<uint32_t>>& by_pid) {
    const load::Profile& profile = source_.profile;
    std::vector<Row> rows;
    std::vector<analyze::TimeRange> ranges;
    std::vector<uint32_t> group_of(profile.run_states.tracks.size(), analyze::kNoGroup);
    for (const auto& [pid, threads] : by_pid) {
      analyze::TimeRange life{UINT64_MAX, 0};
      std::string_view name;
      for (const uint32_t i : threads) {
        const load::Thread& thread = profile.threads[i];
        life.begin = std::min(life.begin, thread.start_time.count);
        life.end = std::max(life.end, thread.end_time.count ? thread.end_time.count : UINT64_MAX);
        name = analyze::program_name(profile.processes[thread.process.index()]);
        group_of[thread.track.index()] = uint32_t(rows.size());
      }
      ranges.push_back(life.within(source_.concurrency->levels.range()));
      rows.push_back({name, uint64_t(uint32_t(pid)), ranges.back(), threads});
    }
    const auto time = analyze::running_time_by_group(profile.run_states, ranges, group_of,
                                                     source_.concurrency->levels.counted());
    const size_t most = request_.limit ? size_t(request_.limit) : rows.size();
    for (size_t i = 0; i < rows.size(); ++i) {
      if (ranges[i].length() == 0) continue;
      if (table_.rows.size() <= most)
        add_row(rows[i], time[i]);
      else
        ++cut_;
    }
  }

  void add_row(const Row& row, std::span<const uint64_t> time_by_level) {
    const std::vector<double> shares = analyze::level_shares(time_by_level, processors_);
    Tasks tasks;
    for (const uint32_t i : row.threads) {
      const load::Thread& thread = source_.profile.threads[i];
      tasks.add(source_.profile.run_states, thread, states_[i], row.range,
                source_.concurrency->levels.range());
    }
    table_.rows.push_back({});
    const auto cell = [&](Cell value) { table_.cells.push_back(value); };
    cell(source_.concurrency->levels.counted().in(row.range));
    cell(analyze::machine_utilization(shares));
    for (const double each : shares) cell(each);
    cell(analyze::thread_level_parallelism(shares));
    cell(processors_ > 2 ? Cell(analyze::thread_level_parallelism(shares, 2)) : Cell());
    cell(tasks.created);
    cell(tasks.active);
    const double whole = double(row.range.length()) * double(tasks.tracks.size());
    cell(whole > 0 ? std::min(1.0, double(tasks.lifetime_ns) / whole) : 0.0);
    cell(tasks.compared ? Cell(double(tasks.same_processor) / double(tasks.compared)) : Cell());
    cell(row.pid);
    cell(row.name);
  }

  const Source& source_;
  const Request& request_;
  size_t cut_ = 0;
  size_t processors_;
  std::vector<analyze::ThreadStates> states_;
  Table table_;
};

}  // namespace

Made make_tlp(const Source& source, const Request& request, const analyze::Selection&) {
  View view;
  const analyze::Concurrency& concurrency = *source.concurrency;
  view.notes.push_back(source_words(source.profile));
  if (!concurrency.known()) return view;
  TlpTable table(source, request);
  view.tables.push_back(table.make());
  if (table.cut())
    view.notes.push_back(fmt::format("{} more processes are not shown; --limit 0 shows all.", table.cut()));
  add_scope_note(view, request);
  const analyze::PairShares pairs =
      analyze::pair_shares(source.profile.run_states, concurrency.levels.range(), concurrency.passes(),
                           concurrency.levels.counted());
  view.facts.push_back({"within_process_share", "", Unit::kShare, pairs.within_process});
  view.facts.push_back({"between_processes_share", "", Unit::kShare, pairs.between_processes});
  if (view.tables.front().rows.size() > 1 && pairs.within_process + pairs.between_processes > 0)
    view.notes.push_back(
        fmt::format("Of the time that threads ran together, {:.1f}% was within one process and {:.1f}% "
                    "between processes.",
                    100 * pairs.within_process, 100 * pairs.between_processes));
  if (view.tables.front().rows.size() > 1)
    view.notes.push_back(
        "For comparison, make -j of a Linux kernel by the paper that defined TLP (2000, four processors): "
        "MU 82.2%, c0 to c4 4.5, 13.2, 3.3, 7.1, 71.9%, TLP4 3.44, TLP2 1.92.");
  return view;
}

}  // namespace varve::view
