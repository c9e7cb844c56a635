// SPDX-License-Identifier: MIT
// Unit tests of viewer/record/observe: events instead of the kernel's rings (perf_ring_test.cc), texts
// instead of /proc, and the file that comes out of both. Not the sources at work: test/e2e/80_run_states.sh.
// Context: test.
#include <criterion/criterion.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "test/unit/scratch.h"
#include "test/unit/sleeper.h"
#include "viewer/load/chunk_reader.h"
#include "viewer/load/file_source.h"
#include "viewer/record/observe/cpu_budget.h"
#include "viewer/record/observe/event_merge.h"
#include "viewer/record/observe/observer_writer.h"
#include "viewer/record/observe/perf_ring.h"
#include "viewer/record/observe/proc_text.h"
#include "viewer/record/observe/switch_tracks.h"
#include "viewer/record/observe/task_table.h"
#include "viewer/record/observe/wait_kind.h"
#include "viewer/record/observe/wait_look.h"

using namespace varve;
using namespace varve::record::observe;
using varve::test::nobody;
using varve::test::Scratch;
using varve::test::Sleeper;
using Kind = RingEvent::Kind;

namespace {

RingEvent event_at(uint64_t time, Kind kind = Kind::kIn, int32_t tid = 11, int32_t pid = 10) {
  RingEvent event;
  event.time = {time};
  event.kind = kind;
  event.pid = pid;
  event.tid = tid;
  return event;
}

/// What stands in an observer file, in words.
std::vector<std::string> told(const std::string& directory) {
  auto source = load::DirectorySource::make(directory);
  cr_assert(source.has_value());
  auto file = (*source)->open(format::kObserverFile);
  cr_assert(file.has_value());
  auto header = load::read_file_header(**file, format::FileKind::kObserver);
  cr_assert(header.has_value());
  std::vector<load::Damage> damages;
  std::vector<std::string> words;
  for (const load::Chunk& chunk : load::list_chunks(**file, "observer", *header, damages)) {
    cr_expect(chunk.is(format::ChunkType::kRunStates));
    uint64_t time = chunk.header.first_time_ns;
    load::read_records(**file, "observer", chunk, damages, [&](format::RecordHeader record, ByteView view) {
      auto add = [&](const char* text, auto... numbers) {
        char line[200];
        snprintf(line, sizeof line, text, static_cast<unsigned long long>(numbers)...);
        words.emplace_back(line);
      };
      switch (format::RecordKind(record.kind)) {
        case format::RecordKind::kTrack: {
          auto track = view.read<format::TrackRecord>();
          add("track %llu tid %llu", track.track, track.tid);
          words.back() += std::string(" ") + track.name;
          break;
        }
        case format::RecordKind::kTrackEnd: {
          auto end = view.read<format::TrackEndRecord>();
          add("end %llu at %llu: %llu %llu", end.track, end.time_ns, end.voluntary_switches,
              end.involuntary_switches);
          break;
        }
        case format::RecordKind::kWait: {
          auto wait = view.read<format::WaitRecord>();
          add("wait %llu at %llu kind %llu", wait.track, wait.time_ns, record.flags);
          break;
        }
        case format::RecordKind::kSwitchesLost: {
          auto lost = view.read<format::SwitchesLostRecord>();
          add("lost %llu at %llu", lost.count, lost.time_ns);
          break;
        }
        case format::RecordKind::kSwitches:
          view.skip(sizeof record);
          while (!view.empty()) {
            time += view.read_varint();
            uint64_t what = view.read_varint();
            if ((what & 3) == 0)
              add("in %llu at %llu on %llu", what >> 2, time, view.read_varint());
            else
              add((what & 3) == 1 ? "blocked %llu at %llu" : "ready %llu at %llu", what >> 2, time);
          }
          break;
        default:
          add("kind %llu", record.kind);
      }
    });
  }
  cr_expect(damages.empty());
  return words;
}

void expect_told(const std::vector<std::string>& actual, const std::vector<std::string>& expected) {
  std::string all;
  for (const std::string& line : actual) all += line + "\n";
  cr_expect(actual == expected, "%s", all.c_str());
}

const Allowance kEnough{kNanosPerSecond};
/// A clock that stands, and one that goes on by 50 ns whenever it is read.
template <uint64_t kTime>
Nanos at_ns() {
  return {kTime};
}
Nanos running_ns() {
  static uint64_t time = 900;
  return {time += 50};
}

}  // namespace

// --- rings

Test(observe, rings_are_merged_by_time) {
  EventMerge merge(3);
  for (uint64_t time : {10, 40, 70}) merge.add(0, event_at(time));
  for (uint64_t time : {20, 50, 45, 80}) merge.add(1, event_at(time));  // 45 is late: taken for 50
  for (uint64_t time : {5, 60}) merge.add(2, event_at(time));
  std::vector<uint64_t> times;
  auto use = [&](const RingEvent& event) { times.push_back(event.time.count); };
  merge.take_until({50}, use);
  cr_expect(times == (std::vector<uint64_t>{5, 10, 20, 40, 50, 50}));
  merge.add(2, event_at(65));
  merge.take_until(Nanos{UINT64_MAX}, use);
  cr_expect(times == (std::vector<uint64_t>{5, 10, 20, 40, 50, 50, 60, 65, 70, 80}));
}

// --- tracks and the file

Test(observe, events_become_records) {
  Scratch scratch;
  auto writer =
      ObserverWriter::create(scratch.descriptor, record::make_file_header(format::FileKind::kSession));
  cr_assert(writer.has_value());
  SwitchTracks tracks(**writer, {10, true});
  RingEvent fork = event_at(1000, Kind::kFork, 12);
  fork.parent_pid = 10;
  fork.parent_tid = 12;
  tracks.take(fork);
  tracks.take(event_at(1100, Kind::kIn, 12));
  RingEvent name = event_at(1150, Kind::kName, 12);
  std::strcpy(name.name, "worker");
  tracks.take(name);
  tracks.take(event_at(1200, Kind::kOutReady, 12));
  tracks.take(event_at(1300, Kind::kIn, 12));
  tracks.take(event_at(1400, Kind::kOutBlocked, 12));
  tracks.take(event_at(1450, Kind::kIn, -1));          // a thread that has ended has no id any more
  RingEvent reused = event_at(1500, Kind::kFork, 12);  // without an end of the one before
  tracks.take(reused);
  tracks.take(event_at(1600, Kind::kExit, 12));
  tracks.take(event_at(1700, Kind::kExit, 12));
  (*writer)->finish({2000});
  expect_told(told(scratch.path),
              {"track 0 tid 12 ", "ready 0 at 1000", "in 0 at 1100 on 0", "track 0 tid 12 worker",
               "ready 0 at 1200", "in 0 at 1300 on 0", "blocked 0 at 1400", "end 0 at 1500: 1 1",
               "track 1 tid 12 ", "ready 1 at 1500", "end 1 at 1600: 0 0"});
}

Test(observe, lost_events_are_told_and_make_counts_unknown) {
  Scratch scratch;
  auto writer =
      ObserverWriter::create(scratch.descriptor, record::make_file_header(format::FileKind::kSession));
  SwitchTracks tracks(**writer, {10, true});
  tracks.take(event_at(100, Kind::kFork, 12));
  RingEvent lost = event_at(150, Kind::kLost);
  lost.lost = 77;
  tracks.take(lost);
  tracks.take(event_at(200, Kind::kExit, 12));
  (*writer)->finish({300});
  cr_expect_eq(tracks.lost(), 77);
  expect_told(told(scratch.path),
              {"track 0 tid 12 ", "ready 0 at 100", "lost 77 at 150", "end 0 at 200: 4294967295 4294967295"});
}

Test(observe, the_states_of_a_thread_that_executes_and_is_not_the_first_end_under_its_own_id) {
  Scratch scratch;
  auto writer =
      ObserverWriter::create(scratch.descriptor, record::make_file_header(format::FileKind::kSession));
  SwitchTracks tracks(**writer, {10, true});
  tracks.take(event_at(100, Kind::kFork, 10));
  tracks.take(event_at(110, Kind::kFork, 12));
  tracks.take(event_at(120, Kind::kExit, 10));
  RingEvent exec = event_at(130, Kind::kExec, 10);
  std::strcpy(exec.name, "new");
  tracks.take(exec);
  tracks.take(event_at(140, Kind::kIn, 10));
  tracks.take(event_at(150, Kind::kExit, 10));
  (*writer)->finish({300});
  expect_told(told(scratch.path), {"track 0 tid 10 ", "ready 0 at 100", "track 1 tid 12 ", "ready 1 at 110",
                                   "end 0 at 120: 0 0", "track 2 tid 10 new", "in 2 at 130 on 0",
                                   "end 1 at 130: 0 0", "in 2 at 140 on 0", "end 2 at 150: 0 0"});
}

Test(observe, children_are_left_out_where_they_are_not_followed) {
  Scratch scratch;
  auto writer =
      ObserverWriter::create(scratch.descriptor, record::make_file_header(format::FileKind::kSession));
  SwitchTracks tracks(**writer, {10, false});
  tracks.take(event_at(100, Kind::kFork, 12));
  tracks.take(event_at(110, Kind::kFork, 20, 20));
  tracks.take(event_at(120, Kind::kIn, 20, 20));
  tracks.take(event_at(130, Kind::kExit, 20, 20));
  (*writer)->finish({300});
  expect_told(told(scratch.path), {"track 0 tid 12 ", "ready 0 at 100"});
}

Test(observe, a_look_holds_for_the_stretch_it_was_in) {
  Scratch scratch;
  Sleeper sleeper;
  auto writer =
      ObserverWriter::create(scratch.descriptor, record::make_file_header(format::FileKind::kSession));
  SwitchTracks tracks(**writer, {sleeper.pid, true});
  auto take = [&](uint64_t time, Kind kind) { tracks.take(event_at(time, kind, sleeper.pid, sleeper.pid)); };
  take(100, Kind::kFork);
  take(110, Kind::kIn);
  take(120, Kind::kOutBlocked);
  tracks.look_at_blocked(at_ns<200>, Allowance({0}), Allowance({0}));  // no room for a look
  tracks.look_at_blocked(at_ns<250>, kEnough, kEnough);
  tracks.look_at_blocked(at_ns<260>, kEnough, kEnough);  // known already
  tracks.settle({250});
  tracks.settle({300});
  take(310, Kind::kIn);
  take(320, Kind::kOutBlocked);
  tracks.look_at_blocked(at_ns<400>, kEnough, kEnough);
  take(390, Kind::kIn);  // it was not that stretch that the look saw
  take(395, Kind::kOutBlocked);
  tracks.settle({500});
  tracks.look_at_blocked(at_ns<600>, kEnough, kEnough);
  take(700, Kind::kIn);
  take(710, Kind::kOutBlocked);
  tracks.look_at_blocked(running_ns, kEnough, kEnough);
  take(990, Kind::kIn);  // after the pass began and before its look was over: nobody knows which it saw
  (*writer)->finish({2000});
  std::vector<std::string> waits;
  for (const std::string& line : told(scratch.path))
    if (line.starts_with("wait")) waits.push_back(line);
  expect_told(waits, {"wait 0 at 250 kind 4", "wait 0 at 600 kind 4"});
}

Test(observe, a_thread_whose_end_was_lost_ends_all_the_same) {
  Scratch scratch;
  Sleeper sleeper;
  pid_t pid = sleeper.pid;
  auto writer =
      ObserverWriter::create(scratch.descriptor, record::make_file_header(format::FileKind::kSession));
  SwitchTracks tracks(**writer, {pid, true});
  tracks.take(event_at(100, Kind::kFork, pid, pid));
  tracks.take(event_at(120, Kind::kOutBlocked, pid, pid));
  sleeper.end();
  tracks.look_at_blocked(at_ns<200>, kEnough, kEnough);
  tracks.settle({150});
  tracks.settle({300});
  (*writer)->finish({800});
  cr_expect_eq(told(scratch.path).back().substr(0, 13), "end 0 at 200:");
}

/// More than a chunk: deltas must not run across its border.
Test(observe, a_file_of_many_chunks_tells_every_time) {
  Scratch scratch;
  auto writer =
      ObserverWriter::create(scratch.descriptor, record::make_file_header(format::FileKind::kSession));
  (*writer)->track({{}, 0, 1, 1, 0, 0, 1000, "x"}, true);
  std::vector<std::string> expected = {"track 0 tid 1 x"};
  uint64_t time = 1000;
  for (unsigned i = 0; i < 60'000; ++i) {
    time += 1 + (i * 2654435761u) % 100'000;
    (*writer)->switch_event({time}, 0, format::SwitchKind::kIn, i % 7);
    expected.push_back("in 0 at " + std::to_string(time) + " on " + std::to_string(i % 7));
    if (i % 10'000 == 5000) {
      (*writer)->wait(0, {time}, WaitKind::kIo);
      expected.push_back("wait 0 at " + std::to_string(time) + " kind 3");
    }
    if (i % 7777 == 0) (*writer)->flush({time});
  }
  (*writer)->finish({time});
  cr_expect_gt(std::filesystem::file_size(scratch.path + "/observer"), 4 * format::kRunStatesChunkBytes);
  cr_expect(told(scratch.path) == expected);
}

// --- texts of /proc
