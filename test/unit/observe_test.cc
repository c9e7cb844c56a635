// SPDX-License-Identifier: MIT
// Unit tests of viewer/record/observe: rings in memory instead of the kernel's, texts instead of /proc, and
// the file that comes out of both. Not the sources at work: test/e2e/80_run_states.sh. Context: test.
#include <criterion/criterion.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "common/bytes.h"
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
using Kind = RingEvent::Kind;

namespace {

struct Scratch {
  std::string path;
  int descriptor = -1;

  Scratch() {
    char name[] = "/tmp/varve-unit.XXXXXX";
    path = mkdtemp(name);
    descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }
  ~Scratch() {
    close(descriptor);
    std::filesystem::remove_all(path);
  }
};

void append(std::vector<uint8_t>& bytes, const auto& value) {
  const auto* first = reinterpret_cast<const uint8_t*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof value);
}

/// A record as the kernel lays it out: header, body, sample id.
std::vector<uint8_t> ring_record(uint32_t type, uint16_t misc, std::span<const uint8_t> body, SampleId id) {
  std::vector<uint8_t> bytes;
  append(bytes, perf_event_header{type, misc, uint16_t(sizeof(perf_event_header) + body.size() + sizeof id)});
  bytes.insert(bytes.end(), body.begin(), body.end());
  append(bytes, id);
  return bytes;
}
std::vector<uint8_t> switch_record(uint64_t time, uint16_t misc, int32_t tid = 11) {
  return ring_record(PERF_RECORD_SWITCH, misc, {}, {10, tid, time, 3, 0});
}

/// A ring without a kernel.
struct FakeRing {
  perf_event_mmap_page page{};
  std::vector<uint8_t> data;

  explicit FakeRing(size_t size, uint64_t position = 0) : data(size, 0xee) {
    page.data_head = page.data_tail = position;
  }
  void put(std::span<const uint8_t> record) {
    for (uint8_t byte : record) data[page.data_head++ % data.size()] = byte;
  }
  bool drain(std::vector<RingEvent>& events) {
    PerfRing ring(&page, data.data(), data.size());
    bool sound = ring.drain([&](const RingEvent& event) { events.push_back(event); });
    cr_expect_eq(page.data_tail, page.data_head);
    return sound;
  }
};

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

bool nobody(pid_t) { return false; }

const Allowance kEnough{kNanosPerSecond};

}  // namespace

// --- rings

Test(observe, records_of_a_ring_mean_something) {
  FakeRing ring(4096);
  ring.put(switch_record(100, 0));
  ring.put(switch_record(200, PERF_RECORD_MISC_SWITCH_OUT));
  ring.put(switch_record(300, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT));
  std::vector<uint8_t> task, name, lost;
  for (int32_t number : {21, 10, 22, 11}) append(task, number);
  append(task, uint64_t(350));
  ring.put(ring_record(PERF_RECORD_FORK, 0, task, {10, 11, 400, 1, 0}));
  ring.put(ring_record(PERF_RECORD_EXIT, 0, task, {10, 11, 500, 1, 0}));
  for (int32_t number : {10, 11}) append(name, number);
  append(name, std::to_array("fifteen letters"));
  ring.put(ring_record(PERF_RECORD_COMM, 0, name, {10, 11, 600, 1, 0}));
  ring.put(ring_record(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, name, {10, 11, 700, 1, 0}));
  for (uint64_t number : {uint64_t(5), uint64_t(1234)}) append(lost, number);
  ring.put(ring_record(PERF_RECORD_LOST, 0, lost, {10, 11, 800, 1, 0}));
  ring.put(ring_record(PERF_RECORD_THROTTLE, 0, lost, {10, 11, 900, 1, 0}));

  std::vector<RingEvent> events;
  cr_assert(ring.drain(events));
  const Kind kinds[] = {Kind::kIn,   Kind::kOutBlocked, Kind::kOutReady, Kind::kFork,
                        Kind::kExit, Kind::kName,       Kind::kExec,     Kind::kLost};
  cr_assert_eq(events.size(), std::size(kinds));
  for (size_t i = 0; i < events.size(); ++i) {
    cr_expect_eq(events[i].kind, kinds[i]);
    cr_expect_eq(events[i].time.count, (i + 1) * 100);
  }
  cr_expect_eq(events[0].tid, 11);
  cr_expect_eq(events[0].processor, 3);
  cr_expect_eq(events[3].pid, 21);
  cr_expect_eq(events[3].tid, 22);
  cr_expect_eq(events[3].parent_tid, 11);
  cr_expect_str_eq(events[5].name, "fifteen letters");
  cr_expect_eq(events[7].lost, 1234);
}

/// Wherever in the ring the first record begins, and so wherever one is cut in two.
Test(observe, records_go_on_at_the_begin_of_the_ring) {
  for (uint64_t position = 0; position < 256; position += 8) {
    FakeRing ring(256, position + (uint64_t(1) << 40));
    for (uint64_t time = 1; time <= 8; ++time) ring.put(switch_record(time, 0));
    std::vector<RingEvent> events;
    cr_assert(ring.drain(events));
    cr_assert_eq(events.size(), 8);
    for (uint64_t time = 1; time <= 8; ++time) cr_expect_eq(events[time - 1].time.count, time);
  }
}

Test(observe, hostile_sizes_lose_the_ring_and_no_more) {
  struct {
    uint16_t size;
    uint64_t head;
  } const bad[] = {{0, 32}, {7, 32}, {40, 32}, {65535, 64}, {32, 4}, {32, 257}, {32, UINT64_MAX}};
  for (auto [size, head] : bad) {
    FakeRing ring(256);
    std::vector<uint8_t> record = switch_record(1, 0);
    ring.put(record);
    std::memcpy(ring.data.data() + offsetof(perf_event_header, size), &size, sizeof size);
    ring.page.data_head = head;
    std::vector<RingEvent> events;
    cr_expect(!ring.drain(events), "size %u head %llu", size, static_cast<unsigned long long>(head));
    cr_expect(events.empty());
    ring.put(record);  // and it goes on
    cr_expect(ring.drain(events) || head == UINT64_MAX);
  }
}

Test(observe, records_too_short_for_their_kind_say_nothing) {
  for (uint32_t type : {PERF_RECORD_FORK, PERF_RECORD_EXIT, PERF_RECORD_COMM, PERF_RECORD_LOST}) {
    std::vector<uint8_t> record = ring_record(type, 0, {}, {10, 11, 1, 1, 0});
    cr_expect(!parse_ring_record(record), "type %u", type);
  }
  std::vector<uint8_t> record = switch_record(1, 0);
  for (size_t size = 0; size < record.size(); ++size)
    cr_expect(!parse_ring_record(std::span(record).first(size)));
}

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

/// A child of the test that sleeps, with a look at it that is settled by what comes after.
struct Sleeper {
  pid_t pid = fork();
  Sleeper() {
    if (pid == 0) {
      sleep(60);
      _exit(0);
    }
    while (look_at_wait(pid, pid, nobody).kind != WaitKind::kSleep) usleep(1000);
  }
  ~Sleeper() {
    if (pid > 0) end();
  }
  void end() {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    pid = -1;
  }
};

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
  tracks.look_at_blocked({200}, Allowance({0}));  // no room for a look
  tracks.look_at_blocked({250}, kEnough);
  tracks.look_at_blocked({260}, kEnough);  // known already
  tracks.settle({250});
  tracks.settle({300});
  take(310, Kind::kIn);
  take(320, Kind::kOutBlocked);
  tracks.look_at_blocked({400}, kEnough);
  take(390, Kind::kIn);  // it was not that stretch that the look saw
  take(395, Kind::kOutBlocked);
  tracks.settle({500});
  tracks.look_at_blocked({600}, kEnough);
  take(700, Kind::kIn);
  (*writer)->finish({800});
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
  tracks.look_at_blocked({200}, kEnough);
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

Test(observe, sums_of_a_thread_are_three_numbers) {
  auto sums = parse_schedstat("38789519 171964214 116\n");
  cr_assert(sums.has_value());
  cr_expect_eq(sums->ran.count, 38789519);
  cr_expect_eq(sums->ready.count, 171964214);
  cr_expect_eq(sums->switched_in, 116);
  for (const char* bad : {"", "1", "1 2", "1 2 x", "-1 2 3", "99999999999999999999999 1 1"})
    cr_expect(!parse_schedstat(bad), "%s", bad);
}

Test(observe, a_name_may_hold_anything) {
  std::string tail =
      " 18902 18905 18902 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 226 1 2 18446744073709551615 0 0 0 0 0 0 0 0 "
      "0 0 0 0 ";
  std::string text = "18905 (a) S 7 (b)) R" + tail + "17 5 0 0 0\n";
  auto stat = parse_stat(text);
  cr_assert(stat.has_value());
  cr_expect(stat->name == "a) S 7 (b)");
  cr_expect_eq(stat->state, 'R');
  cr_expect_eq(stat->parent, 18902);
  cr_expect_eq(stat->processor, 5);
  cr_expect(!stat->is_thread);
  cr_expect(parse_stat("1 (x) S" + tail + "-1 5 0\n")->is_thread);
  for (const char* bad : {"", "1 x S 2", "1 (x) S 2 3", ")(", "1 (x"}) cr_expect(!parse_stat(bad), "%s", bad);
}

Test(observe, a_call_is_its_number_and_arguments) {
  auto look = parse_syscall("202 0x7f00 0x189 0x2 0x0 0x0 0xffffffff 0x7ffd 0x7f2097587aec\n");
  cr_assert(look.has_value());
  cr_expect_eq(look->number, 202);
  cr_expect_eq(look->arguments[1], 0x189);
  cr_expect_eq(look->arguments[5], 0xffffffff);
  cr_expect_eq(look->program_counter, 0x7f2097587aec);
  look = parse_syscall("-1 0x7ffd 0x7f20\n");
  cr_assert(look.has_value());
  cr_expect_eq(look->number, -1);
  for (const char* bad : {"running\n", "", "0\n", "0 0x1 0x2 0x3\n", "0 0x1 0x2 0x3 0x4 0x5 0x6 0x7 zz\n"})
    cr_expect(!parse_syscall(bad), "%s", bad);
}

Test(observe, the_ends_of_status_and_loadavg) {
  auto counts =
      parse_switch_counts("Name:\tx\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t34\n");
  cr_assert(counts.has_value());
  cr_expect_eq(counts->voluntary, 12);
  cr_expect_eq(counts->involuntary, 34);
  cr_expect(!parse_switch_counts("Name:\tx\nvoluntary_ctxt_switches:\t12\n"));
  cr_expect_eq(parse_last_pid("71.39 27.43 12.63 8/117 17573\n").value_or(0), 17573);
  cr_expect(!parse_last_pid("71.39 27.43 12.63 8/117\n"));
}

// --- kinds of waits

Test(observe, a_wait_is_judged_by_its_call) {
  constexpr uint64_t kPrivate = FUTEX_PRIVATE_FLAG, kClock = FUTEX_CLOCK_REALTIME;
  struct {
    long number;
    uint64_t first, second, third;
    WaitKind kind;
  } const calls[] = {
      {SYS_futex, 0x1000, FUTEX_WAIT | kPrivate, 2, WaitKind::kLock},
      {SYS_futex, 0x1000, FUTEX_LOCK_PI | kPrivate, 0, WaitKind::kLock},
      {SYS_futex, 0x1000, FUTEX_WAIT | kPrivate, 0, WaitKind::kCondition},
      {SYS_futex, 0x1000, FUTEX_WAIT_BITSET | kPrivate | kClock, 2, WaitKind::kCondition},
      {SYS_futex, 0x1000, FUTEX_WAIT_BITSET | kClock, 4242, WaitKind::kJoin},
      {SYS_futex, 0x1000, FUTEX_WAIT, 4242, WaitKind::kJoin},
      {SYS_futex, 0x1000, FUTEX_WAIT_BITSET | kClock, 4243, WaitKind::kCondition},  // no thread of it
      {SYS_futex, 0x1000, FUTEX_WAIT_BITSET | kPrivate, 4242, WaitKind::kCondition},
      {SYS_futex_waitv, 0, 0, 0, WaitKind::kCondition},
      {SYS_wait4, 0, 0, 0, WaitKind::kJoin},
      {SYS_clock_nanosleep, 0, 0, 0, WaitKind::kSleep},
      {SYS_pause, 0, 0, 0, WaitKind::kSleep},
      {SYS_poll, 0x1000, 1, 100, WaitKind::kIo},
      {SYS_poll, 0, 0, 100, WaitKind::kSleep},
      {SYS_select, 4, 0, 0, WaitKind::kIo},
      {SYS_select, 0, 0, 0, WaitKind::kSleep},
      {SYS_read, 0, 0, 0, WaitKind::kIo},
      {SYS_epoll_wait, 0, 0, 0, WaitKind::kIo},
      {SYS_fsync, 0, 0, 0, WaitKind::kIo},
      {SYS_getpid, 0, 0, 0, WaitKind::kOther},
      {-1, 0, 0, 0, WaitKind::kOther},
      {100'000, 0, 0, 0, WaitKind::kOther},
  };
  for (const auto& call : calls) {
    SyscallLook look{call.number, {call.first, call.second, call.third}, 0x1000};
    WaitKind kind = kind_of_wait(look, [](pid_t tid) { return tid == 4242; });
    cr_expect_eq(int(kind), int(call.kind), "call %ld (%llx, %llx, %llu) is %d", call.number,
                 static_cast<unsigned long long>(call.first), static_cast<unsigned long long>(call.second),
                 static_cast<unsigned long long>(call.third), int(kind));
  }
}

Test(observe, the_code_says_what_a_restarted_call_was) {
  using namespace std::string_view_literals;
  cr_expect_eq(syscall_number_in("\x90\x90\xb8\xca\x00\x00\x00\x0f\x05"sv), 202);
  cr_expect_eq(syscall_number_in("\xb8\xe6\x00\x00\x00\x89\xd7\x4c\x89\xc2\x0f\x05"sv), 230);
  cr_expect_eq(syscall_number_in("\xb8\x07\x00\x00\x00\x90\xb8\xff\xff\xff\xff\x0f\x05"sv), 7);
  for (std::string_view none : {""sv, "\x0f\x05"sv, "\xb8\x07\x00\x00\x00"sv, "\xb8\x07\x00\x00\x0f\x05"sv,
                                "\x90\x90\x90\x90\x90\x90\x90\x0f\x05"sv})
    cr_expect_eq(syscall_number_in(none), -1);
}

/// SIGSTOP and SIGCONT make the kernel restart a sleep, by another number.
Test(observe, a_restarted_sleep_is_still_a_sleep) {
  Sleeper sleeper;
  kill(sleeper.pid, SIGSTOP);
  waitpid(sleeper.pid, nullptr, WUNTRACED);
  kill(sleeper.pid, SIGCONT);
  for (int i = 0; i < 1000; ++i) {
    if (look_at_wait(sleeper.pid, sleeper.pid, nobody).kind == WaitKind::kSleep) return;
    usleep(1000);
  }
  cr_assert_fail("not a sleep within a second");
}

Test(observe, a_zombie_and_one_that_is_gone) {
  Sleeper sleeper;
  kill(sleeper.pid, SIGKILL);
  siginfo_t info;
  waitid(P_PID, id_t(sleeper.pid), &info, WEXITED | WNOWAIT);
  // It is a zombie before it has left its processor; until then it counts as running.
  WaitLook look{WaitLook::Result::kNotBlocked, {}};
  for (int i = 0; i < 10000 && look.result == WaitLook::Result::kNotBlocked; ++i, sched_yield())
    look = look_at_wait(sleeper.pid, sleeper.pid, nobody);
  cr_expect_eq(int(look.result), int(WaitLook::Result::kZombie));
  waitpid(sleeper.pid, nullptr, 0);
  cr_expect_eq(int(look_at_wait(sleeper.pid, sleeper.pid, nobody).result), int(WaitLook::Result::kGone));
  sleeper.pid = -1;
}

// --- tasks and budget

size_t open_descriptors() {
  auto list = std::filesystem::directory_iterator("/proc/self/fd");
  return size_t(std::distance(begin(list), end(list)));
}

Test(observe, processes_are_found_and_forgotten_without_a_trace) {
  size_t before = open_descriptors();
  {
    Sleeper first;
    TaskTable table({first.pid, true});
    cr_assert_eq(table.find_new({1}).size(), 1);
    for (int round = 0; round < 20; ++round) {
      Sleeper second;
      std::vector<Task*> found;
      for (int looks = 0; looks < 5 && found.empty(); ++looks) found = table.find_new({2});
      cr_assert_eq(found.size(), 1);
      cr_expect_eq(found[0]->pid, second.pid);
      cr_expect_eq(found[0]->parent, getpid());
      second.end();
      found[0]->gone = true;
      table.remove_gone();
      cr_expect_eq(table.processes().size(), 1);
    }
    cr_expect_leq(open_descriptors(), before + 5);
  }
  cr_expect_eq(open_descriptors(), before);
}

Test(observe, what_was_spent_is_paid_back_in_time) {
  CpuBudget budget({0});
  cr_expect_eq(budget.next({0}, {10}).count, 10);
  Nanos used = CpuBudget::kCredit + Nanos{1'000'000};  // a millisecond too much
  budget.charge({0}, used);
  cr_expect_eq(budget.next({0}, {10}).count, 1'000'000 * CpuBudget::kOneIn);
  cr_expect_eq(budget.room({10'000'000}, {0}).count, 0);
  budget.charge({used.count * CpuBudget::kOneIn}, {0});
  cr_expect_eq(budget.room({10'000'000}, {0}).count, 10'000'000 / CpuBudget::kOneIn);
  cr_expect_eq(budget.room({10'000'000}, {50'000}).count, 10'000'000 / CpuBudget::kOneIn - 50'000);
}

/// Whatever a look costs, the share in the long run is the promised one.
Test(observe, the_share_holds_for_any_cost) {
  for (uint64_t cost : {10'000, 100'000, 1'000'000, 50'000'000}) {
    CpuBudget budget({0});
    Nanos now, total;
    for (int look = 0; look < 1000; ++look) {
      now = budget.next(now, {10'000'000});
      budget.charge(now, {cost});
      total += {cost};
    }
    cr_expect_leq(total.count, now.count / 100 + CpuBudget::kCredit.count + cost, "cost %llu",
                  static_cast<unsigned long long>(cost));
  }
}
