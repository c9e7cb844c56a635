// SPDX-License-Identifier: MIT
// The agent's own file and sample writers, read back by the loader: several threads of a process in turn,
// segments handed from one thread to the next, stacks of all depths. Context: tests.
#include <criterion/criterion.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>

#include "agent/signal/process_file.h"
#include "agent/signal/sample_writer.h"
#include "common/wait_format.h"
#include "test/unit/time_units.h"
#include "viewer/load/load.h"

using namespace varve;

namespace {

constexpr uint32_t kMaxDepth = 64;

struct Written {
  std::vector<uint64_t> stack;  // the leaf first
  uint64_t time_ns, weight_ns;
  format::StackEnd end;
};

format::FileHeader header() {
  format::FileHeader header{};
  std::memcpy(header.magic, format::kMagic, sizeof header.magic);
  header.major = format::kMajor;
  header.byte_order = format::kByteOrder;
  header.kind = uint16_t(format::FileKind::kAgent);
  header.pid = 7;
  header.checksum = format::header_checksum(header);
  return header;
}

/// Addresses of a path, the leaf first.
std::vector<uint64_t> stack_of(const load::Profile& profile, PathId path) {
  std::vector<uint64_t> stack;
  for (; path.index() != 0; path = profile.paths[path.index()].parent) {
    const auto& site = profile.sites[profile.paths[path.index()].site.index()];
    if (!site.special()) stack.push_back(site.vaddr.value);
    if (site.special() && site.kind() == load::SpecialSite::kDeepRecursion)
      stack.push_back(format::kFramesLeftOut);
  }
  return stack;
}

/// Most frames are met again and again, as in a program; a few are anywhere, which takes the long forms.
uint64_t next_frame(std::mt19937_64& random) {
  uint64_t kind = random() % 16;
  if (kind == 0) return random();
  return 0x400000 + (kind < 12 ? random() % 8 : random() % 0x10000);
}

/// Mostly about the time that has passed, as of a thread that always runs, or any.
uint64_t some_weight(uint64_t passed_ns, std::mt19937_64& random) {
  const uint64_t off = random() % 5'000;
  const uint64_t near[] = {passed_ns, passed_ns + off, passed_ns - std::min(passed_ns, off)};
  return random() % 4 ? near[random() % 3] : random() % 20'000'000;
}

/// Every now and then a stack whose middle was left out, as the agent writes it.
std::vector<uint64_t> maybe_deep(std::vector<uint64_t> stack, std::mt19937_64& random) {
  if (stack.size() > 2 && random() % 4 == 0)
    stack[1 + (random() % 2 ? stack.size() / 2 - 1 : random() % (stack.size() - 2))] = format::kFramesLeftOut;
  return stack;
}

class Recording {
 public:
  explicit Recording(const std::string& path) : file_(std::make_unique<agent::ProcessFile>()) {
    cr_assert_eq(file_->open(path.c_str(), header()), 0);
  }

  void add_thread() {
    frames_.push_back(std::make_unique<uint64_t[]>(2 * kMaxDepth));
    predictors_.push_back(std::make_unique<FramePredictor>());
    writers_.emplace_back().bind(frames_.back().get(), kMaxDepth, *predictors_.back(),
                                 uint32_t(writers_.size() - 1));
    written_.emplace_back();
  }

  void sample(size_t thread, Written sample) {
    if (!writers_[thread].has_segment() && spare_.chunk)
      writers_[thread].give_segment(std::exchange(spare_, {}));
    std::ranges::copy(sample.stack, writers_[thread].scratch());
    cr_assert(writers_[thread].write(*file_, sample.time_ns,
                                     agent::record_of({.weight_ns = sample.weight_ns, .end = sample.end}),
                                     uint32_t(sample.stack.size())));
    written_[thread].push_back(std::move(sample));
  }

  /// A wait or a release, whose fields but for the time delta are given.
  void event(size_t thread, uint64_t time_ns, const agent::RecordFields& fields,
             const std::vector<uint64_t>& stack) {
    std::ranges::copy(stack, writers_[thread].scratch());
    cr_assert(writers_[thread].write(*file_, time_ns, fields, uint32_t(stack.size())));
  }

  void end_thread(size_t thread) {
    if (writers_[thread].has_segment()) spare_ = writers_[thread].take_segment();
  }

  const std::vector<std::vector<Written>>& written() const { return written_; }

 private:
  std::unique_ptr<agent::ProcessFile> file_;
  std::vector<std::unique_ptr<uint64_t[]>> frames_;
  std::vector<std::unique_ptr<FramePredictor>> predictors_;
  std::vector<agent::SampleWriter> writers_;
  std::vector<std::vector<Written>> written_;
  agent::Segment spare_;
};

}  // namespace

Test(load_writer, samples_of_the_agents_writer_read_back_equal) {
  char directory[] = "/tmp/varve-unit-XXXXXX";
  cr_assert(mkdtemp(directory));
  Recording recording(std::string(directory) + "/host-7-0.agent");
  std::mt19937_64 random(41);
  std::vector<uint64_t> stack;
  uint64_t time = 1'000'000;
  for (size_t thread = 0; thread < 30; ++thread) {
    recording.add_thread();
    for (int i = 0; i < 400; ++i) {
      size_t leave = std::min<size_t>(stack.size(), random() % 8);
      stack.erase(stack.begin(), stack.begin() + ptrdiff_t(leave));
      for (size_t enter = random() % 8; enter > 0 && stack.size() < kMaxDepth; --enter)
        stack.insert(stack.begin(), next_frame(random));
      auto end = format::StackEnd(random() % 5 ? 0 : random() % uint64_t(format::StackEnd::kNotTaken));
      const uint64_t passed = random() % (random() % 2 ? 1000 : 20'000'000);
      time += passed;
      recording.sample(random() % 3 ? thread : random() % (thread + 1) / 2 * 2,
                       {maybe_deep(stack, random), time, some_weight(passed, random), end});
    }
    if (thread % 2) recording.end_thread(thread);
  }
  auto profile = load::load(directory);
  cr_assert(profile.has_value());
  std::vector<size_t> next(recording.written().size());
  for (size_t row = 0; row < profile->samples.size(); ++row) {
    if (profile->samples.ticks[row] == 0) continue;
    // Without thread records the loader numbers threads as it meets them; the tid is not known, the order of
    // rows is.
    bool found = false;
    for (size_t thread = 0; thread < next.size() && !found; ++thread) {
      if (next[thread] >= recording.written()[thread].size()) continue;
      const Written& expected = recording.written()[thread][next[thread]];
      found = expected.time_ns == profile->samples.time_ns[row] &&
              expected.weight_ns == profile->samples.weight_ns[row] &&
              expected.stack == stack_of(*profile, profile->samples.path[row]);
      next[thread] += found;
    }
    cr_assert(found, "row %zu", row);
  }
  for (size_t thread = 0; thread < next.size(); ++thread)
    cr_assert_eq(next[thread], recording.written()[thread].size());
  std::filesystem::remove_all(directory);
}

Test(load_writer, a_weight_costs_what_it_differs_from_the_time_that_passed) {
  const uint64_t frame = 0x401000;
  FramePredictor predictor{};
  auto size_of = [&](uint64_t delta_ns, uint64_t weight_ns) {
    uint8_t record[agent::sample_bound(0)];
    auto fields = agent::record_of({.weight_ns = weight_ns});
    fields.time_delta_ns = delta_ns;
    return int(agent::encode_record(record, fields, {&frame, 1}, 1, predictor) - record);
  };
  // The size, the flags, the time delta, the weight, no new frame.
  cr_expect_eq(size_of(10 * kMs, 10 * kMs), 1 + 1 + 4 + 1 + 2);
  cr_expect_eq(size_of(10 * kMs, 10 * kMs - 8'000), 1 + 1 + 4 + 2 + 2);
  cr_expect_eq(size_of(1000 * kMs, 4 * kMs), 1 + 1 + 5 + 4 + 2, "a thread that waited");
  cr_expect_eq(size_of(0, 10 * kMs), 1 + 1 + 1 + 4 + 2, "the first of a chunk");
  cr_expect_eq(size_of(10 * kMs, 0), 1 + 1 + 4 + 1 + 2);
}

Test(load_writer, chunks_fill_what_is_left_of_an_extent) {
  std::string path = std::filesystem::temp_directory_path() / ("varve-extent-" + std::to_string(getpid()));
  auto file = std::make_unique<agent::ProcessFile>();
  cr_assert_eq(file->open(path.c_str(), header()), 0);
  auto capacity_of = [&file](agent::ChunkSize size) {
    agent::Chunk chunk = file->allocate(format::ChunkType::kSamples, size, 0, 1);
    if (chunk) cr_expect_eq(chunk.header->version, 2);
    return chunk ? chunk.header->capacity : 0;
  };
  auto size = uint32_t(std::filesystem::file_size(path));
  cr_expect_eq(capacity_of(agent::exactly(192)), 192);
  uint32_t left = size - uint32_t(sizeof(format::FileHeader)) - 192;
  cr_expect_eq(capacity_of({2 * size, left}), left, "all that is left, and the file has not grown");
  cr_expect_eq(std::filesystem::file_size(path), size);
  cr_expect_eq(capacity_of({2 * size, 64}), 2 * size, "a new extent");
  cr_expect_gt(std::filesystem::file_size(path), size);
  std::filesystem::remove(path);
}

/// Others of the program may close theirs soon.
Test(load_writer, a_limit_of_descriptors_is_not_the_end) {
  std::string path = std::filesystem::temp_directory_path() / ("varve-limit-" + std::to_string(getpid()));
  auto file = std::make_unique<agent::ProcessFile>();
  cr_assert_eq(file->open(path.c_str(), header()), 0);
  const auto allocate = [&](uint64_t time_ns) {
    constexpr uint32_t kBytes = 1 << 20;
    return bool(file->allocate(format::ChunkType::kSamples, agent::exactly(kBytes), 0, time_ns));
  };
  rlimit before;
  cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
  const bool refused = !allocate(1);
  const int why = file->refused();
  cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
  cr_expect(refused);
  cr_expect_eq(why, EMFILE);
  cr_expect_eq(file->error(), 0);
  cr_expect(!allocate(2), "not at once: a try takes many system calls");
  cr_expect(allocate(1'000'000'000));
  cr_expect_eq(file->refused(), 0);
  std::filesystem::remove(path);
}

/// Waits stand between samples, with and without stacks, and no stack is told wrongly because of them.
Test(load_writer, waits_among_samples_read_back_equal) {
  using format::RecordKind, format::ObjectKind, format::StackEnd;
  char directory[] = "/tmp/varve-unit-XXXXXX";
  cr_assert(mkdtemp(directory));
  Recording recording(std::string(directory) + "/host-7-0.agent");
  recording.add_thread();
  std::mt19937_64 random(17);
  struct Expected {
    agent::RecordFields fields;
    uint64_t time_ns;
    std::vector<uint64_t> stack;
  };
  std::vector<Expected> waits, releases, creations;
  std::vector<Written> samples;
  for (uint64_t time = 1'000'000'000; time < 1'002'000'000; time += 1000) {
    std::vector<uint64_t> stack(1 + random() % 20);
    for (uint64_t& frame : stack) frame = next_frame(random);
    if (random() % 2) {
      samples.push_back({stack, time, some_weight(1000, random), StackEnd::kRoot});
      recording.sample(0, samples.back());
      continue;
    }
    constexpr RecordKind kRecords[] = {RecordKind::kWaitEvent, RecordKind::kWaitEvent, RecordKind::kRelease,
                                       RecordKind::kCreation};
    const RecordKind record = kRecords[random() % 4];
    const bool bare = record != RecordKind::kRelease && random() % 2;
    if (bare) stack.clear();
    const uint64_t ago = random() % 1000;
    const bool timed_out = record == RecordKind::kWaitEvent && random() % 2;
    agent::RecordFields fields{record,
                               uint8_t(uint8_t(bare ? StackEnd::kNotTaken : StackEnd::kRoot) |
                                       (timed_out ? format::kWaitTimedOut : 0)),
                               0,
                               5,
                               {ago, 1 + random() % uint64_t(ObjectKind::kDescriptor), random(),
                                random() % 1'000'000, bare ? 1 + random() % 100 : 1}};
    recording.event(0, time, fields, stack);
    (record == RecordKind::kRelease    ? releases
     : record == RecordKind::kCreation ? creations
                                       : waits)
        .push_back({fields, time - ago, stack});
  }
  const auto profile = load::load(directory);
  cr_assert(profile.has_value());
  for (const load::Damage& damage : profile->damages)
    cr_expect(
        damage.sentence == "is missing" || damage.sentence.find("does not describe") != std::string::npos,
        "%s", damage.sentence.c_str());
  cr_assert_eq(profile->waits.waits.size(), waits.size());
  cr_assert_eq(profile->waits.releases.size(), releases.size());
  cr_assert_eq(profile->sample_count, samples.size());
  for (size_t row = 0, next = 0; row < profile->samples.size(); ++row)
    if (profile->samples.ticks[row] != 0)
      cr_expect_eq(profile->samples.weight_ns[row], samples[next++].weight_ns, "row %zu", row);
  const auto by_time = [](const Expected& a, const Expected& b) { return a.time_ns < b.time_ns; };
  std::ranges::stable_sort(waits, by_time);
  for (size_t i = 0; i < waits.size(); ++i) {
    const load::Wait& row = profile->waits.waits[i];
    const auto& numbers = waits[i].fields.numbers;
    cr_expect_eq(row.end_ns, waits[i].time_ns);
    cr_expect_eq(uint64_t(row.kind), numbers[1]);
    cr_expect_eq(row.object, numbers[2]);
    cr_expect_eq(row.duration_ns, numbers[3]);
    cr_expect_eq(row.count, numbers[4]);
    cr_expect_eq(row.timed_out, (waits[i].fields.flags & format::kWaitTimedOut) != 0 && row.count == 1);
    cr_expect(stack_of(*profile, row.path) == waits[i].stack, "wait %zu", i);
  }
  std::ranges::stable_sort(releases, by_time);
  for (size_t i = 0; i < releases.size(); ++i)
    cr_expect(profile->waits.releases[i].time_ns == releases[i].time_ns &&
              stack_of(*profile, profile->waits.releases[i].path) == releases[i].stack);
  std::ranges::stable_sort(creations, by_time);
  cr_assert_eq(profile->waits.creations.size(), creations.size());
  for (size_t i = 0; i < creations.size(); ++i)
    cr_expect(profile->waits.creations[i].time_ns == creations[i].time_ns &&
              stack_of(*profile, profile->waits.creations[i].path) == creations[i].stack);
  size_t next = 0;
  for (size_t row = 0; row < profile->samples.size(); ++row)
    if (profile->samples.ticks[row] != 0)
      cr_expect(stack_of(*profile, profile->samples.path[row]) == samples[next++].stack, "sample %zu", next);
  std::filesystem::remove_all(directory);
}
