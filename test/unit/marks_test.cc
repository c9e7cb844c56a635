// SPDX-License-Identifier: MIT
// Marks and pauses: what the loader makes of their records, damaged ones included, ranges between marks, and
// changes of a recording's state from outside. Context: tests.
#include <criterion/criterion.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "test/unit/profile_builder.h"
#include "test/unit/time_units.h"
#include "viewer/analyze/mark_range.h"
#include "viewer/record/control_state.h"
#include "viewer/record/profile_directory.h"
#include "viewer/record/session_writer.h"
#include "viewer/view/mark_words.h"

using namespace varve;
using namespace varve::test;
using format::ControlState;
using format::MarkKind;

namespace {

constexpr uint64_t kFirstMoment = 1'000 * kMs;

/// Two processes: 10 marks, pauses twice and is killed paused; 20 marks with the same names, later.
ProfileBuilder two_processes() {
  ProfileBuilder builder;
  builder.add_text("start_monotonic_ns", std::to_string(kFirstMoment));
  builder.add_text("elapsed_ns", std::to_string(900 * kMs));
  size_t ten = builder.add_process(10), twenty = builder.add_process(20, "/usr/bin/other");
  builder.add_thread(ten, 10);
  builder.add_thread(ten, 11);
  builder.add_thread(twenty, 20);
  builder.process(ten).marks = {
      {MarkKind::kMark, 0, kFirstMoment + 100 * kMs, "load"},
      {MarkKind::kPause, 0, kFirstMoment + 150 * kMs, ""},
      {MarkKind::kPause, 1, kFirstMoment + 160 * kMs, ""},
      {MarkKind::kResume, 1, kFirstMoment + 200 * kMs, ""},
      {MarkKind::kResume, 1, kFirstMoment + 210 * kMs, ""},
      {MarkKind::kMark, 1, kFirstMoment + 300 * kMs, "solve"},
      {MarkKind::kMark, 7, kFirstMoment + 250 * kMs, "lost"},
      {MarkKind::kMark, 0, kFirstMoment + 400 * kMs, "load"},
      {MarkKind::kPause, 0, kFirstMoment + 800 * kMs, ""},
  };
  builder.process(twenty).marks = {{MarkKind::kMark, 0, kFirstMoment + 500 * kMs, "load"},
                                   {MarkKind::kMark, format::kNoThread, kFirstMoment + 600 * kMs, "end"}};
  return builder;
}

analyze::Filter range_of(const load::Profile& profile, const char* text, const char* process = nullptr) {
  analyze::Filter filter;
  if (process) filter.process = *analyze::Pattern::parse(process);
  auto range = analyze::parse_mark_range(text);
  cr_assert(range.has_value(), "%s", text);
  auto found = analyze::resolve_marks(profile, *range, filter);
  cr_assert(found.has_value(), "%s: %s", text, found ? "" : found.error().c_str());
  return filter;
}

void expect_range(const load::Profile& profile, const char* text, uint64_t from_ms, uint64_t to_ms,
                  const char* process = nullptr) {
  analyze::Filter filter = range_of(profile, text, process);
  cr_expect_eq(filter.from.count, from_ms * kMs, "%s: from %lu", text, filter.from.count);
  cr_expect_eq(filter.to.count, to_ms == UINT64_MAX ? to_ms : to_ms * kMs, "%s: to %lu", text,
               filter.to.count);
}

void expect_refusal(const load::Profile& profile, const char* text, const std::string& sentence) {
  analyze::Filter filter;
  auto found = analyze::resolve_marks(profile, *analyze::parse_mark_range(text), filter);
  cr_assert_not(found.has_value(), "%s", text);
  cr_expect_eq(found.error(), sentence, "%s", found.error().c_str());
}

struct MarksDirectory {
  std::string path;
  MarksDirectory() {
    char pattern[] = "/tmp/varve-marks.XXXXXX";
    path = mkdtemp(pattern);
  }
  ~MarksDirectory() { std::filesystem::remove_all(path); }
};

}  // namespace

Test(marks, are_loaded_in_the_order_of_time) {
  load::Profile profile = two_processes().load();
  cr_assert(profile.damages.empty());
  cr_assert_eq(profile.marks.size(), 6);
  const char* names[] = {"load", "lost", "solve", "load", "load", "end"};
  for (size_t i = 0; i < 6; ++i) cr_expect_str_eq(profile.marks[i].name.c_str(), names[i]);
  const load::Mark& solve = profile.marks[2];
  cr_expect_eq(profile.threads[solve.thread.index()].tid, 11);
  cr_expect_eq(profile.processes[solve.process.index()].pid, 10);
  cr_expect(!profile.marks[1].thread.valid(), "a thread that the file does not describe");
  cr_expect(!profile.marks[5].thread.valid());
}

Test(marks, pauses_do_not_nest_and_last_to_the_end) {
  ProfileBuilder builder = two_processes();
  auto change = [](ControlState state, uint64_t time) {
    return format::ControlChange{uint32_t(state), 0, time};
  };
  builder.changes = {change(ControlState::kDelayed, kFirstMoment - kMs),
                     change(ControlState::kRecording, kFirstMoment + 50 * kMs),
                     change(ControlState::kPaused, kFirstMoment + 70 * kMs),
                     change(ControlState::kStopped, kFirstMoment + 90 * kMs),
                     change(ControlState::kPaused, 0)};  // not finished: says nothing
  load::Profile profile = builder.load();
  struct Expected {
    bool run;
    uint64_t begin_ms, end_ms;
  };
  const Expected expected[] = {{true, 0, 50}, {true, 70, 90}, {false, 150, 200}, {false, 800, 900}};
  cr_assert_eq(profile.pauses.size(), 4, "%zu pauses", profile.pauses.size());
  for (size_t i = 0; i < 4; ++i) {
    const load::Pause& pause = profile.pauses[i];
    cr_expect_eq(pause.process.valid(), !expected[i].run);
    cr_expect_eq(pause.begin.count, kFirstMoment + expected[i].begin_ms * kMs, "%zu", i);
    cr_expect_eq(pause.end.count, kFirstMoment + expected[i].end_ms * kMs, "%zu", i);
  }
  auto sentences = view::pause_sentences(profile);
  cr_assert_eq(sentences.size(), 2);
  cr_expect_eq(sentences[0], "Paused: from 0.000 s to 0.050 s, from 0.070 s to 0.090 s.");
  cr_expect_eq(sentences[1],
               "Processes that paused themselves: 10 from 0.150 s to 0.200 s, 10 from 0.800 s to 0.900 s.");
}

Test(marks, damaged_ones_are_left_out_and_told) {
  ProfileBuilder builder = two_processes();
  builder.seal = false;
  Files files = builder.files();
  auto& file = files["host-10-0.agent"];
  std::string bytes(file.begin(), file.end());
  size_t solve = bytes.find("solve");
  cr_assert(solve != std::string::npos);
  std::memset(file.data() + solve, 'x', 8);  // no NUL until the end of its record
  size_t lost = bytes.find("lost");
  file[lost - sizeof(format::MarkRecord) + offsetof(format::RecordHeader, flags)] = 99;  // a kind to come
  auto profile = load::load(load::MemorySource(files), "damaged");
  cr_assert(profile.has_value());
  cr_expect_eq(profile->marks.size(), 4, "%zu", profile->marks.size());
  cr_assert_eq(profile->damages.size(), 1, "%zu", profile->damages.size());
  cr_expect(profile->damages[0].sentence.find("MARK") != std::string::npos);
}

Test(marks, parse_as_ranges) {
  auto both = analyze::parse_mark_range("a b..c");
  cr_assert(both.has_value());
  cr_expect(both->parts[0].from == "a b" && both->parts[0].to == "c");
  cr_expect(analyze::parse_mark_range("a..")->parts[0].to.empty());
  cr_expect(analyze::parse_mark_range("..b")->parts[0].from.empty());
  cr_expect(analyze::parse_mark_range("a..b..c")->parts[0].to == "b..c");
  for (const char* bad : {"", "..", "a", ".", "a.b"}) cr_expect(!analyze::parse_mark_range(bad), "%s", bad);
}

Test(marks, bound_a_range_of_time) {
  load::Profile profile = two_processes().load();
  expect_range(profile, "load..solve", 100, 300);
  expect_range(profile, "load..load", 100, 400);  // the next of the same name
  expect_range(profile, "solve..load", 300, 400);
  expect_range(profile, "solve..", 300, UINT64_MAX);
  expect_range(profile, "..solve", 0, 300);
  expect_range(profile, "load..end", 500, 600, "other");
  expect_range(profile, "load..", 500, UINT64_MAX, "20");
  expect_refusal(profile, "end..solve", "no mark 'solve' comes after the first 'end', at 0.600 s");
  expect_refusal(profile, "slove..",
                 "there is no mark 'slove', but load, lost, solve, end; did you mean 'solve'?");
  expect_refusal(profile, "..nothing", "there is no mark 'nothing', but load, lost, solve, end");
  profile.marks.clear();
  expect_refusal(profile, "a..",
                 "there is no mark 'a', and no other: programs make them with varve_mark(\"a\")");
}

Test(marks, a_pause_from_outside_is_loaded_and_never_undoes_a_stop) {
  MarksDirectory scratch;
  const std::string path = scratch.path + "/p";
  {
    auto directory = record::ProfileDirectory::prepare(path);
    cr_assert(directory.has_value());
    auto session = record::SessionWriter::create(directory->descriptor(), {.delayed = true});
    cr_assert(session.has_value() && directory->publish(false));
    auto expect = [&](bool paused, const std::string& refusal, ControlState after) {
      auto done = record::set_paused(path, paused);
      cr_expect_eq(done ? "" : done.error(), refusal, "%s", done ? "" : done.error().c_str());
      cr_expect(session->control().state() == after);
    };
    expect(true, "", ControlState::kPaused);
    expect(true, "'" + path + "' is paused already", ControlState::kPaused);
    // The end of --delay does not end the user's pause.
    session->control().change({ControlState::kDelayed}, ControlState::kRecording, session->start_time());
    cr_expect(session->control().state() == ControlState::kPaused);
    expect(false, "", ControlState::kRecording);
    expect(false, "'" + path + "' is not paused", ControlState::kRecording);
    session->control().change({ControlState::kRecording}, ControlState::kStopped, session->start_time());
    const std::string stopped =
        "'" + path + "' is not being recorded any more: recording was stopped, only the command goes on";
    expect(true, stopped, ControlState::kStopped);
    expect(false, stopped, ControlState::kStopped);
    for (uint32_t i = 0; i < 2 * format::kMostChanges; ++i)  // beyond what is kept
      session->control().note(ControlState::kStopped, session->start_time());
  }
  auto over = record::set_paused(path, true);
  cr_assert(!over.has_value());
  cr_expect_eq(over.error(), "'" + path + "' is not being recorded any more");
  auto profile = load::load(path);
  cr_assert(profile.has_value(), "%s", profile ? "" : profile.error().c_str());
  cr_expect(profile->damages.empty());
}

Test(marks, what_is_no_profile_is_not_paused) {
  MarksDirectory scratch;
  for (const std::string& path : {scratch.path, scratch.path + "/none", std::string("/etc/passwd")}) {
    auto refused = record::set_paused(path, true);
    cr_assert(!refused.has_value());
    cr_expect_eq(refused.error(), "'" + path + "' is no profile", "%s", refused.error().c_str());
  }
}

Test(marks, of_several_ranges_what_is_in_all) {
  const load::Profile profile = two_processes().load();
  const auto both = [](const char* first, const char* second) {
    return analyze::parse_mark_range(first)->and_also(*analyze::parse_mark_range(second));
  };
  analyze::Filter filter;
  filter.to = Nanos{550 * kMs};
  cr_assert(analyze::resolve_marks(profile, both("load..end", "solve.."), filter).has_value());
  cr_expect_eq(filter.from.count, 300 * kMs);
  cr_expect_eq(filter.to.count, 550 * kMs, "as --time -550ms had it");
  const auto none = analyze::resolve_marks(profile, both("..lost", "solve.."), filter);
  cr_assert_not(none.has_value());
  cr_expect_eq(none.error(), "no moment is in all ranges of --time", "%s", none.error().c_str());
}
