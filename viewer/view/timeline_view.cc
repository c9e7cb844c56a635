// SPDX-License-Identifier: MIT
// Threads by time, one letter a slice for what covered most of it, below strips of the levels.
// Context: viewer.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <set>

#include "viewer/analyze/object_names.h"
#include "viewer/analyze/thread_states.h"
#include "viewer/analyze/timeline.h"
#include "viewer/analyze/timeline_objects.h"
#include "viewer/analyze/timeline_path.h"
#include "viewer/view/band_words.h"
#include "viewer/view/make.h"
#include "viewer/view/mark_words.h"
#include "viewer/view/rows.h"
#include "viewer/view/shown_part.h"

namespace varve::view {
namespace {

using analyze::kCpu;

/// Threads that pass the filter and were observed in its time, most CPU time first.
std::vector<ThreadId> threads_by_cpu(const Source& source, const Request& request,
                                     const analyze::Selection& selection) {
  const load::Profile& profile = source.profile;
  std::vector<analyze::ThreadStates> states;  // every thread lived in the time of the whole run
  if (request.filter.timed()) states = analyze::thread_states(profile, source.concurrency->levels.range());
  const auto lived = [&](size_t i) {
    return states.empty() || states[i].running_ns + states[i].ready_ns + states[i].waiting_ns() > 0;
  };
  std::vector<ThreadId> threads;
  for (uint32_t i = 0; i < profile.threads.size(); ++i) {
    if (!profile.threads[i].track.valid() || !lived(i)) continue;
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

/// A wait for an object instead of the kind of the wait: letters for the objects that most slices are of, the
/// rest together.
class ObjectLetters {
 public:
  ObjectLetters(const Source& source, const analyze::Timeline& line)
      : found_(analyze::timeline_objects(source.profile, line)) {}

  static constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQSTUVWXYZabcdefghijklmnopqstuvwxyz";
  static constexpr char kOther = '*';

  void put(std::string& strip, size_t row) const {
    for (size_t i = 0; i < strip.size(); ++i) {
      const uint32_t object = found_.of[row * strip.size() + i];
      if (object != analyze::kNoObject) strip[i] = object < kLetters.size() ? kLetters[object] : kOther;
      // What nobody saw has no letter that an object could have.
      else if (std::isalpha(uint8_t(strip[i])) && strip[i] != 'R' && strip[i] != 'r')
        strip[i] = kUnseen;
    }
  }
  std::string meaning(char letter, const Source& source) const {
    if (letter == kOther) return "another object";
    if (letter == kUnseen) return "waits for what nobody saw";
    const size_t object = kLetters.find(letter);
    return object < found_.objects.size() ? analyze::object_words(source, found_.objects[object])
                                          : std::string(letter_meaning(letter));
  }

 private:
  static constexpr char kUnseen = '?';
  analyze::TimelineObjects found_;
};

/// Its computation takes a third of a second for so many, and the first timeline of a profile has to wait.
constexpr size_t kMostEvents = 1'000'000;

bool marks_path(const load::Profile& profile) {
  return profile.waits.waits.size() + profile.waits.releases.size() <= kMostEvents;
}

/// What the program and the user said of its time.
void add_marks(View& view, const load::Profile& profile, const Marks& marks) {
  for (std::string& sentence : pause_sentences(profile)) view.notes.push_back(std::move(sentence));
  if (std::string words = mark_sentence(profile, marks); !words.empty())
    view.notes.push_back(std::move(words));
  view.tables.push_back(mark_table(profile, marks));
  view.tables.push_back(pause_table(profile));
}

/// A row a thread below the strips of the run.
class TimelineTable {
 public:
  TimelineTable(View& view, const Source& source, const analyze::Timeline& line, By by)
      : view_(view), source_(source), profile_(source.profile), line_(line) {
    if (by == By::kObject) objects_.emplace(source, line);
    if (marks_path(profile_)) paths_ = analyze::path_strips(profile_, line, *source.critical_path());
    table_.id = "threads";
    table_.title =
        fmt::format("{:.3f} s to {:.3f} s, {:.2f} ms a letter", double(begin()) / 1e9, double(end()) / 1e9,
                    double(line.range.length()) / 1e6 / double(std::max<size_t>(line.slices, 1)));
    table_.empty = "No thread was observed.";
    table_.columns = {{"", "CPU", Unit::kTime, false, -1, 2},
                      {"pid", several_processes() ? "PID" : "", Unit::kNumber, false, -1, 1},
                      {"tid", "TID", Unit::kNumber, false, -1, 3},
                      {"program", "", Unit::kText},
                      {"name", "Thread", Unit::kText},
                      {"cpu_ns", "", Unit::kTime},
                      {"begin_ns", "", Unit::kTime},
                      {"end_ns", "", Unit::kTime},
                      {"states", "", Unit::kText},
                      {"path", "", Unit::kText},
                      {"", "Time", Unit::kStrip}};
  }

  /// Since the start of the run; the letters divide the time between evenly.
  uint64_t begin() const { return since_start(line_.range.begin); }
  uint64_t end() const { return since_start(line_.range.end); }

  void add_strip(std::string_view name, std::string strip) {
    const Cell cell = view_.own(std::move(strip));
    table_.add({0, RowKind::kSpecial, false}, {{}, {}, {}, {}, name, {}, begin(), end(), cell, {}, cell});
  }

  void add_threads(const analyze::MetricTable& by_thread) {
    std::set<char> letters;
    for (size_t i = 0; i < line_.threads.size(); ++i) {
      const load::Thread& thread = profile_.threads[line_.threads[i].index()];
      const load::Process& process = process_of(line_.threads[i]);
      const uint64_t cpu = by_thread.at(line_.threads[i].index(), kCpu);
      std::string strip = state_strip(line_, i);
      if (objects_) objects_->put(strip, i);
      letters.insert(strip.begin(), strip.end());
      const Cell states = view_.own(std::move(strip));
      table_.add({}, {cpu, uint64_t(uint32_t(process.pid)), uint64_t(uint32_t(thread.tid)),
                      analyze::program_name(process), std::string_view(thread.name), cpu, begin(), end(),
                      states, paths_.empty() ? Cell() : view_.own(std::move(paths_[i])), states});
    }
    for (const char letter : letters) {
      std::string meaning =
          objects_ ? objects_->meaning(letter, source_) : std::string(letter_meaning(letter));
      if (!meaning.empty()) view_.legend.emplace_back(letter, view_.own(std::move(meaning)));
    }
  }

  Table take() { return std::move(table_); }

 private:
  uint64_t since_start(uint64_t time) const {
    return time - std::min(time, profile_.session.start_time.count);
  }
  const load::Process& process_of(ThreadId thread) const {
    return profile_.processes[profile_.threads[thread.index()].process.index()];
  }
  bool several_processes() const {
    return std::ranges::any_of(line_.threads, [&](ThreadId thread) {
      return process_of(thread).pid != process_of(line_.threads.front()).pid;
    });
  }

  View& view_;
  const Source& source_;
  const load::Profile& profile_;
  const analyze::Timeline& line_;
  std::optional<ObjectLetters> objects_;
  std::vector<std::string> paths_;  // by thread; none: not known
  Table table_;
};

}  // namespace

size_t slices_for(size_t width) {
  constexpr size_t kBeside = 36, kLeast = 8;
  return width > kBeside + kLeast ? width - kBeside : kLeast;
}

Made make_timeline(const Source& source, const Request& request, const analyze::Selection& selection) {
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
  std::vector<bool> listed(profile.threads.size());
  for (const ThreadId thread : threads) listed[thread.index()] = true;
  if (request.limit != 0 && threads.size() > request.limit) threads.resize(size_t(request.limit));
  const analyze::Timeline line = analyze::timeline(profile, concurrency.levels, concurrency.levels.range(),
                                                   std::max<size_t>(request.slices, 1), std::move(threads));

  TimelineTable table(view, source, line, request.by);
  if (!marks.empty()) table.add_strip("[marks]", mark_strip(line, marks));
  if (!profile.pauses.empty()) table.add_strip("[paused]", pause_strip(line, profile));
  table.add_strip("[running]", level_strip(line.running));
  table.add_strip("[or ready]", level_strip(line.active));
  table.add_threads(selection.by_thread);
  view.facts.push_back({"begin_ns", "", Unit::kTime, table.begin()});
  view.facts.push_back({"end_ns", "", Unit::kTime, table.end()});
  view.facts.push_back({"slices", "", Unit::kCount, uint64_t(line.slices)});
  view.tables.push_back(table.take());
  add_marks(view, profile, marks);
  if (std::string words = more_rows_words(profile, listed); !words.empty())
    view.notes.push_back(std::move(words));
  if (!marks_path(profile))
    view.notes.push_back(fmt::format(
        "The critical path is not marked: there are more than {} waits. varve report critical-path has it.",
        kMostEvents));
  if (all > line.threads.size())
    view.notes.push_back(fmt::format(
        "{} not shown; --limit 0 shows all.",
        plural(all - line.threads.size(), "more row of a thread is", "more rows of threads are")));
  return view;
}

}  // namespace varve::view
