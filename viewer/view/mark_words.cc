// SPDX-License-Identifier: MIT
// Marks and pauses as views show them. See mark_words.h.
// Context: viewer.
#include "viewer/view/mark_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/units.h"

namespace varve::view {
namespace {

constexpr size_t kMostListed = 10;

/// The first ten, and how many there are beyond them.
std::string listed(std::vector<std::string> items) {
  const size_t all = items.size();
  if (all <= kMostListed) return fmt::format("{}", fmt::join(items, ", "));
  items.resize(kMostListed);
  return fmt::format("{} and {} more", fmt::join(items, ", "), all - kMostListed);
}

uint64_t pid_of(const load::Profile& profile, ProcessId process) {
  return uint64_t(uint32_t(profile.processes[process.index()].pid));
}

/// Slices that a stretch of time touches; none where it lies outside.
struct Slices {
  size_t first = 0, end = 0;
};
Slices slices_of(const analyze::Timeline& line, uint64_t begin, uint64_t end) {
  if (end < line.range.begin || begin >= line.range.end) return {};
  const auto slice_at = [&line](uint64_t time) {
    size_t low = 0, high = line.slices;
    while (high - low > 1) {
      const size_t middle = low + (high - low) / 2;
      (line.begin_of(middle) <= time ? low : high) = middle;
    }
    return low;
  };
  return {slice_at(begin), slice_at(std::min(end, line.range.end)) + 1};
}

}  // namespace

std::vector<std::string> pause_sentences(const load::Profile& profile) {
  std::vector<std::string> run, processes;
  for (const load::Pause& pause : profile.pauses) {
    std::string words = fmt::format("from {:.3f} s to {:.3f} s", in_seconds(profile.since_start(pause.begin)),
                                    in_seconds(profile.since_start(pause.end)));
    if (pause.process.valid())
      processes.push_back(fmt::format("{} {}", pid_of(profile, pause.process), words));
    else
      run.push_back(std::move(words));
  }
  std::vector<std::string> sentences;
  if (!run.empty()) sentences.push_back(fmt::format("Paused: {}.", listed(std::move(run))));
  if (!processes.empty())
    sentences.push_back(fmt::format("Processes that paused themselves: {}.", listed(std::move(processes))));
  return sentences;
}

Marks marks_that_pass(const load::Profile& profile, const analyze::Filter& filter) {
  Marks marks;
  for (const load::Mark& mark : profile.marks) {
    const Nanos time = profile.since_start(mark.time);
    // The mark at which the range ends stands at its edge.
    if (time >= filter.from && time <= filter.to && analyze::process_passes(profile, mark.process, filter))
      marks.push_back(&mark);
  }
  return marks;
}

std::string mark_sentence(const load::Profile& profile, const Marks& marks) {
  if (marks.empty()) return {};
  std::vector<std::string> items;
  for (const load::Mark* mark : marks)
    items.push_back(fmt::format("{} at {:.3f} s", mark->name, in_seconds(profile.since_start(mark->time))));
  return fmt::format("Marks: {}.", listed(std::move(items)));
}

std::string mark_strip(const analyze::Timeline& line, const Marks& marks) {
  std::string strip(line.slices, ' ');
  for (const load::Mark* mark : marks) {
    const Slices at = slices_of(line, mark->time.count, mark->time.count);
    if (at.first < at.end) strip[at.first] = strip[at.first] == ' ' ? '|' : '+';
  }
  return strip;
}

std::string pause_strip(const analyze::Timeline& line, const load::Profile& profile) {
  std::string strip(line.slices, ' ');
  for (const load::Pause& pause : profile.pauses) {
    const Slices at = slices_of(line, pause.begin.count, pause.end.count);
    for (size_t i = at.first; i < at.end; ++i) strip[i] = '=';
  }
  return strip;
}

Table mark_table(const load::Profile& profile, const Marks& marks) {
  Table table;
  table.id = "marks";
  table.only_data = true;
  table.columns = {{"name", "", Unit::kText},
                   {"time_ns", "", Unit::kTime},
                   {"pid", "", Unit::kNumber},
                   {"tid", "", Unit::kNumber}};
  for (const load::Mark* mark : marks) {
    const Cell tid =
        mark->thread.valid() ? Cell(uint64_t(uint32_t(profile.threads[mark->thread.index()].tid))) : Cell();
    table.add({}, {std::string_view(mark->name), profile.since_start(mark->time).count,
                   pid_of(profile, mark->process), tid});
  }
  return table;
}

Table pause_table(const load::Profile& profile) {
  Table table;
  table.id = "pauses";
  table.only_data = true;
  table.columns = {{"pid", "", Unit::kNumber}, {"begin_ns", "", Unit::kTime}, {"end_ns", "", Unit::kTime}};
  for (const load::Pause& pause : profile.pauses) {
    const Cell pid = pause.process.valid() ? Cell(pid_of(profile, pause.process)) : Cell();
    table.add({}, {pid, profile.since_start(pause.begin).count, profile.since_start(pause.end).count});
  }
  return table;
}

}  // namespace varve::view
