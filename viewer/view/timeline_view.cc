// SPDX-License-Identifier: MIT
// Threads by time, one letter a slice for what covered most of it, below strips of the levels.
// Context: viewer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "viewer/analyze/timeline.h"
#include "viewer/view/band_words.h"
#include "viewer/view/make.h"
#include "viewer/view/mark_words.h"
#include "viewer/view/rows.h"

namespace varve::view {
namespace {

using analyze::kCpu;

/// Threads that pass the filter and were observed, most CPU time first.
std::vector<ThreadId> threads_by_cpu(const Source& source, const Request& request,
                                     const analyze::Selection& selection) {
  const load::Profile& profile = source.profile;
  std::vector<ThreadId> threads;
  for (uint32_t i = 0; i < profile.threads.size(); ++i) {
    if (!profile.threads[i].track.valid()) continue;
    if (analyze::thread_passes(profile, {i}, request.filter)) threads.push_back({i});
  }
  std::stable_sort(threads.begin(), threads.end(), [&](ThreadId a, ThreadId b) {
    return selection.by_thread.at(a.index(), kCpu) > selection.by_thread.at(b.index(), kCpu);
  });
  return threads;
}

/// A mean level as one letter: its nearest digit, "+" from ten on, "." for hardly any.
char level_letter(double level) {
  if (level < 0.05) return ' ';
  const double rounded = std::round(level);
  return rounded < 1 ? '.' : rounded > 9 ? '+' : char('0' + int(rounded));
}

std::string level_strip(const std::vector<double>& levels) {
  std::string strip;
  for (const double level : levels) strip += level_letter(level);
  return strip;
}

std::string state_strip(const analyze::Timeline& line, size_t row) {
  std::string strip;
  for (size_t i = 0; i < line.slices; ++i) strip += state_letter(line.states[row * line.slices + i]);
  return strip;
}

/// What the program and the user said of its time.
void add_marks(View& view, const load::Profile& profile, const Marks& marks) {
  for (std::string& sentence : pause_sentences(profile)) view.notes.push_back(std::move(sentence));
  if (std::string words = mark_sentence(profile, marks); !words.empty())
    view.notes.push_back(std::move(words));
  view.tables.push_back(mark_table(profile, marks));
  view.tables.push_back(pause_table(profile));
}

}  // namespace

size_t slices_for(size_t width) {
  constexpr size_t kBeside = 36, kLeast = 8;
  return width > kBeside + kLeast ? width - kBeside : kLeast;
}

Made make_timeline(const Source& source, const Request& request, analyze::Selection selection) {
  View view;
  view.notes.push_back(source_words(source.profile));
  const analyze::Concurrency& concurrency = *source.concurrency;
  const load::Profile& profile = source.profile;
  const Marks marks = marks_that_pass(profile, request.filter);
  if (!concurrency.known()) {
    view.csv_is_facts = true;
    add_marks(view, profile, marks);
    return view;
  }
  std::vector<ThreadId> threads = threads_by_cpu(source, request, selection);
  const size_t all = threads.size();
  if (request.limit != 0 && threads.size() > request.limit) threads.resize(size_t(request.limit));
  const analyze::Timeline line = analyze::timeline(profile, concurrency.levels, concurrency.levels.range(),
                                                   std::max<size_t>(request.slices, 1), std::move(threads));

  Table table;
  table.id = "threads";
  table.empty = "No thread was observed.";
  table.columns = {{"", "CPU", Unit::kTime, false, -1, 1},
                   {"pid", "", Unit::kNumber},
                   {"tid", "TID", Unit::kNumber, false, -1, 2},
                   {"name", "Thread", Unit::kText},
                   {"cpu_ns", "", Unit::kTime},
                   {"states", "", Unit::kText},
                   {"", "Time", Unit::kStrip}};
  std::set<char> letters;
  const auto strip_row = [&](std::string_view name, std::string strip) {
    const Cell cell = view.own(std::move(strip));
    table.add({0, RowKind::kSpecial, false}, {{}, {}, {}, name, {}, cell, cell});
  };
  if (!marks.empty()) strip_row("[marks]", mark_strip(line, marks));
  if (!profile.pauses.empty()) strip_row("[paused]", pause_strip(line, profile));
  strip_row("[running]", level_strip(line.running));
  strip_row("[or ready]", level_strip(line.active));
  for (size_t i = 0; i < line.threads.size(); ++i) {
    const load::Thread& thread = profile.threads[line.threads[i].index()];
    const load::Process& process = profile.processes[thread.process.index()];
    const uint64_t cpu = selection.by_thread.at(line.threads[i].index(), kCpu);
    std::string strip = state_strip(line, i);
    letters.insert(strip.begin(), strip.end());
    const Cell states = view.own(std::move(strip));
    table.add({}, {cpu, uint64_t(uint32_t(process.pid)), uint64_t(uint32_t(thread.tid)),
                   std::string_view(thread.name), cpu, states, states});
  }
  const uint64_t start = profile.session.start_time.count;
  const auto since = [start](uint64_t time) { return double(time - std::min(time, start)) / 1e9; };
  table.title =
      fmt::format("{:.3f} s to {:.3f} s, {:.2f} ms a letter", since(line.range.begin), since(line.range.end),
                  double(line.range.length()) / 1e6 / double(std::max<size_t>(line.slices, 1)));
  view.facts.push_back({"begin_ns", "", Unit::kTime, line.range.begin - std::min(line.range.begin, start)});
  view.facts.push_back({"end_ns", "", Unit::kTime, line.range.end - std::min(line.range.end, start)});
  view.facts.push_back({"slices", "", Unit::kCount, uint64_t(line.slices)});
  view.tables.push_back(std::move(table));
  add_marks(view, profile, marks);
  if (all > line.threads.size())
    view.notes.push_back(
        fmt::format("{} more threads are not shown; --limit 0 shows all.", all - line.threads.size()));
  for (const char letter : letters)
    if (const std::string_view meaning = letter_meaning(letter); !meaning.empty())
      view.legend.emplace_back(letter, meaning);
  return view;
}

}  // namespace varve::view
