// SPDX-License-Identifier: MIT
// Damaged profiles: files cut at every length, every byte changed, chunks and headers that lie. What is left
// is shown and what is missing is said. Context: tests.
#include <criterion/criterion.h>
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <memory>

#include "agent/signal/sample_writer.h"
#include "test/unit/built_bytes.h"
#include "test/unit/profile_builder.h"
#include "viewer/load/agent_file.h"

using namespace varve;
using namespace varve::test;

namespace {

ProfileBuilder chunked_profile(bool seal) {
  ProfileBuilder builder;
  builder.seal = seal;
  builder.sample_chunk_bytes = 200;
  size_t process = builder.add_process(100);
  builder.add_thread(process, 100);
  builder.add_thread(process, 101);
  builder.add_module(process, {.path = "/bin/a", .start = 0x1000, .end = 0x2000, .build_id = {1, 2}});
  for (uint64_t i = 0; i < 60; ++i)
    builder.add_sample(process, uint32_t(i % 2), {0x1000, 0x1100 + i % 5, 0x1200 + i});
  builder.add_exit(100, 400'000'000, 200'000'000);
  builder.close_accounts();
  return builder;
}

tl::expected<load::Profile, std::string> try_to_load(const Files& files) {
  return load::load(load::MemorySource(files), "built");
}

uint64_t sum_of_rows(const load::Profile& profile) {
  uint64_t sum = 0;
  for (uint64_t weight : profile.samples.weight_ns) sum += weight;
  return sum;
}

size_t chunk_offset(const std::vector<uint8_t>& file, format::ChunkType type) {
  for (size_t offset = format::kPageSize; offset < file.size();) {
    format::ChunkHeader header;
    std::memcpy(&header, file.data() + offset, sizeof header);
    if (header.type == uint32_t(type)) return offset;
    offset += header.capacity;
  }
  return 0;
}

}  // namespace

Test(load_damage, cut_at_every_length) {
  for (bool seal : {true, false}) {
    Files files = chunked_profile(seal).files();
    auto whole = files[kAgent];
    uint64_t samples = UINT64_MAX, threads = UINT64_MAX;
    // From the end: nothing may grow as the file shrinks. In the zeros at a chunk's end a step of 31 will do.
    for (size_t length = whole.size(); length > 0;
         length -= length > 64 && whole[length - 1] == 0 && whole[length - 64] == 0 ? 31 : 1) {
      files[kAgent].assign(whole.begin(), whole.begin() + ptrdiff_t(length));
      auto profile = try_to_load(files);
      cr_assert(profile.has_value(), "the session is still there");
      cr_assert_leq(profile->sample_count, samples, "at %zu", length);
      cr_assert_leq(profile->threads.size(), threads, "at %zu", length);
      cr_assert(profile->sample_count == 60 || !profile->damages.empty() || profile->unsampled.count > 0,
                "silent loss at %zu", length);
      cr_assert_eq(sum_of_rows(*profile), 600'000'000, "at %zu", length);
      samples = profile->sample_count;
      threads = profile->threads.size();
    }
    cr_assert_eq(samples, 0);
  }
}

/// Whether it is in the header of the file or of a chunk, which no checksum covers.
bool in_header(const std::vector<uint8_t>& file, size_t at) {
  format::ChunkHeader header{};
  size_t offset = format::kPageSize, next = offset;
  for (; next <= at && next < file.size(); next += header.capacity)
    std::memcpy(&header, file.data() + (offset = next), sizeof header);
  return at < offset + sizeof header;
}

Test(load_damage, every_byte_changed_is_noticed_or_harmless) {
  Files files = chunked_profile(true).files();
  const auto whole = files[kAgent];
  auto good = try_to_load(files);
  for (size_t at = 0; at < whole.size(); ++at) {
    if (at > 64 && whole[at] == 0 && whole[at - 1] == 0 && at % 64 != 0) continue;  // few of the unused bytes
    const bool header = in_header(whole, at);  // of the rest, which has a checksum, one change each
    for (size_t i = header ? 0 : at % 3; i < 3; i += header ? 1 : 3) {
      files[kAgent] = whole;
      files[kAgent][at] ^= std::array<uint8_t, 3>{0x01, 0x80, 0xff}[i];
      auto profile = try_to_load(files);
      cr_assert(profile.has_value());
      cr_assert_eq(sum_of_rows(*profile), (profile->sampled + profile->residual + profile->unsampled).count);
      bool same = profile->samples.path == good->samples.path &&
                  profile->samples.weight_ns == good->samples.weight_ns;
      bool moved = header && profile->sample_count == 60;  // by a thread, a time, a sealed flag
      cr_assert(same || !profile->damages.empty() || moved, "byte %zu", at);
    }
  }
}

Test(load_damage, records_of_a_sealed_chunk_are_protected) {
  Files files = chunked_profile(true).files();
  size_t offset = chunk_offset(files[kAgent], format::ChunkType::kSamples);
  files[kAgent][offset + sizeof(format::ChunkHeader) + 5] ^= 1;
  auto profile = try_to_load(files);
  cr_assert(says(*profile, "(SAMP) fails its checksum"));
  cr_assert_lt(profile->sample_count, 60);
  cr_assert_eq(profile->damages.size(), 1);
  cr_assert_eq(sum_of_rows(*profile), 600'000'000, "the time of the lost samples is still in the ledger");
}

Test(load_damage, an_unsealed_chunk_is_read_up_to_the_bad_record) {
  Files files = chunked_profile(false).files();
  size_t record = chunk_offset(files[kAgent], format::ChunkType::kSamples) + sizeof(format::ChunkHeader);
  files[kAgent][record] = 0;  // size of the first record
  auto profile = try_to_load(files);
  cr_assert(says(*profile, "ends inside a record"));
  cr_assert_gt(profile->damages.front().bytes, 0);
}

Test(load_damage, a_chunk_with_the_wrong_size_hides_nothing) {
  Files files = chunked_profile(true).files();
  size_t offset = chunk_offset(files[kAgent], format::ChunkType::kProcess);
  uint32_t capacity = 0x11000;
  std::memcpy(files[kAgent].data() + offset + offsetof(format::ChunkHeader, capacity), &capacity,
              sizeof capacity);
  auto profile = try_to_load(files);
  cr_assert(says(*profile, "has the wrong size: another begins within it"));
  cr_assert_eq(profile->sample_count, 60);
  cr_assert_eq(profile->threads.size(), 2);
}

Test(load_damage, a_chunk_without_a_header_is_searched_past) {
  Files files = chunked_profile(true).files();
  size_t offset = chunk_offset(files[kAgent], format::ChunkType::kModules);
  std::memset(files[kAgent].data() + offset, 0xee, sizeof(format::ChunkHeader));
  auto profile = try_to_load(files);
  cr_assert(says(*profile, "has no chunk where one must begin"));
  cr_assert_eq(profile->sample_count, 60);
  cr_assert_eq(profile->threads.size(), 2);
}

Test(load_damage, unknown_chunks_and_records_of_a_newer_minor_version_are_skipped) {
  Files files = chunked_profile(false).files();
  auto& file = files[kAgent];
  format::FileHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  header.minor = 9;
  header.checksum = format::header_checksum(header);
  std::memcpy(file.data(), &header, sizeof header);
  uint32_t type = format::fourcc("NEWS");
  std::memcpy(file.data() + chunk_offset(file, format::ChunkType::kModules), &type, sizeof type);
  size_t threads = chunk_offset(file, format::ChunkType::kThreads) + sizeof(format::ChunkHeader);
  file[threads + offsetof(format::RecordHeader, kind)] = 200;
  auto profile = try_to_load(files);
  cr_assert_eq(profile->sample_count, 60);
  cr_assert(says(*profile, "has samples of thread 0, which it does not describe"));
  cr_assert(!says(*profile, "NEWS"));
}

Test(load_damage, a_chunk_of_a_later_version_is_left_out_and_said) {
  Files files = chunked_profile(false).files();
  auto& file = files[kAgent];
  const size_t version =
      chunk_offset(file, format::ChunkType::kSamples) + offsetof(format::ChunkHeader, version);
  cr_assert_eq(file[version], 2);
  file[version] = 3;
  auto profile = try_to_load(files);
  cr_assert(says(*profile, "was written by a newer varve"));
  cr_expect_lt(profile->sample_count, 60);
  file[version] = 1;
  cr_expect_eq(try_to_load(files)->sample_count, 60, "older ones are read");
}

Test(load_damage, a_weight_of_less_than_nothing_is_no_weight) {
  for (const uint64_t difference : {zigzag(-11'000'000), zigzag(INT64_MIN), zigzag(-10'000'000)}) {
    uint8_t record[32] = {0, format::kSampleWeightByDelta};
    uint8_t* out = put_varint(record + 2, 10'000'000);  // behind size and flags: the time delta
    out = put_varint(put_varint(put_varint(out, difference), 0), 0);
    record[0] = uint8_t(out - record - 1);
    Files files = chunked_profile(false).files();
    auto& file = files[kAgent];
    const size_t first = chunk_offset(file, format::ChunkType::kSamples) + sizeof(format::ChunkHeader);
    std::copy(record, out, file.data() + first);
    const bool fits = difference == zigzag(-10'000'000);
    cr_expect_eq(says(*try_to_load(files), "has a sample with an impossible weight"), !fits);
  }
}

Test(load_damage, refusals_are_one_sentence) {
  Files good = chunked_profile(true).files();
  auto refusal = [&](auto change, bool repair) {
    Files files = good;
    files.erase(format::kSessionFile);
    format::FileHeader header;
    std::memcpy(&header, files[kAgent].data(), sizeof header);
    change(header);
    if (repair) header.checksum = format::header_checksum(header);
    std::memcpy(files[kAgent].data(), &header, sizeof header);
    auto profile = try_to_load(files);
    return profile ? std::string() : profile.error();
  };
  auto ends = [](const std::string& text, const std::string& end) { return text.ends_with(end); };
  cr_assert(ends(refusal([](auto& h) { h.magic[0] = 'V'; }, true), "is not a file of a varve profile"));
  cr_assert(ends(refusal([](auto& h) { h.major = format::kMajor + 1; }, true),
                 fmt::format("has format version {}.{}, and this varve reads version {}: use a newer varve",
                             format::kMajor + 1, format::kMinor, format::kMajor)));
  cr_assert(ends(refusal([](auto& h) { h.major = 1, h.minor = 3; }, true),
                 fmt::format("has format version 1.3, and this varve reads version {}: use the older varve "
                             "that recorded it",
                             format::kMajor)));
  cr_assert(ends(refusal([](auto& h) { h.pid ^= 1; }, false), "is damaged: its header fails its checksum"));
  cr_assert(ends(refusal([](auto& h) { h.byte_order = 0x0201; }, true),
                 "was written with another byte order or is damaged in its header"));
  cr_assert(
      ends(refusal([](auto& h) { h.kind = 3; }, true), "holds another kind of data than its name says"));
  cr_assert(try_to_load({{kAgent, {}}}).error().ends_with(load::kNoRoomForFile));
  cr_assert(try_to_load({{kAgent, {0x8b, 'V'}}}).error().ends_with("ends inside its header"));
  cr_assert(load::load("/nonexistent/profile").error() ==
            "cannot read the profile /nonexistent/profile: No such file or directory");
}

/// The id that the file has from then on.
load::SessionId to_another_run(std::vector<uint8_t>& file) {
  format::FileHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  header.session_id[3] = 1;
  header.checksum = format::header_checksum(header);
  std::memcpy(file.data(), &header, sizeof header);
  return std::to_array(header.session_id);
}

Test(load_damage, a_file_of_another_run_is_left_out) {
  Files files = chunked_profile(true).files();
  to_another_run(files[kAgent]);
  auto profile = try_to_load(files);
  cr_assert_eq(profile->sample_count, 0);
  cr_assert(says(*profile, "host-100-0.agent belongs to another run"));
}

Test(load_damage, without_a_session_the_agents_are_shown) {
  auto builder = chunked_profile(true);
  builder.with_session = false;
  auto profile = builder.load();
  cr_assert_eq(profile.sample_count, 60);
  cr_assert(profile.session.command == "/usr/bin/program");
  cr_assert_eq(profile.kernel_cpu.count, 600'000'000);
  cr_assert(says(profile, "session is missing"));
  cr_assert_gt(profile.session.elapsed.count, 0);
}

Test(load_damage, without_a_session_the_agents_name_the_run) {
  Files files = chunked_profile(true).files();
  files.erase(format::kSessionFile);
  const load::SessionId id = to_another_run(files[kAgent]);
  auto profile = try_to_load(files);
  cr_assert(profile.has_value());
  cr_assert(profile->session.id == id);
}

Test(load_damage, a_stack_cannot_claim_more_than_its_record) {
  Files files = chunked_profile(false).files();
  auto& file = files[kAgent];
  size_t record = chunk_offset(file, format::ChunkType::kSamples) + sizeof(format::ChunkHeader);
  // time delta 0, weight of 4 bytes, shared, fresh: see the encoding of 10 ms
  size_t shared = record + 2 + 1 + 4;  // behind size and flags
  cr_assert_eq(file[shared], 0);
  cr_assert_eq(file[shared + 1], 3);
  file[shared] = 9;
  auto profile = try_to_load(files);
  cr_assert(says(*profile, "has a stack that shares more than there is"));
  file[shared] = 0;
  file[shared + 1] = 100;
  profile = try_to_load(files);
  cr_assert(says(*profile, "ends inside a record"));
  // The token of the first frame: more foreseen frames than the stack has, and than any token may stand for.
  file[shared + 1] = 3;
  for (uint8_t token : {uint8_t(4 << format::kTokenBits), uint8_t(17 << format::kTokenBits)}) {
    file[shared + 2] = token;
    profile = try_to_load(files);
    cr_assert(says(*profile, "has a stack with more frames than it says"));
  }
  // A place where no frame stands yet.
  file[shared + 2] = 7 << format::kTokenBits | format::kTokenPlace;
  profile = try_to_load(files);
  cr_assert(says(*profile, "has a stack with a frame that was not met before"));
}

/// A shared frame takes no byte, but below another root it is another path: a file must not buy thousands of
/// paths for a sample of ten bytes.
Test(load_damage, the_same_frames_below_changing_roots) {
  ProfileBuilder builder;
  size_t process = builder.add_process(100);
  builder.add_thread(process, 100);
  std::vector<uint64_t> stack;
  for (uint64_t i = 0; i < format::kMaxStackDepth; ++i) stack.push_back(0x1000 + i);
  for (int i = 0; i < 2000; ++i)
    builder.add_sample(process, 0, stack, 1, 0, format::StackEnd(i % int(format::StackEnd::kNotTaken)));
  builder.close_accounts();
  load::Profile profile = builder.load();
  uint64_t bytes = builder.files()[kAgent].size();
  cr_assert(says(profile, "change their meaning too often to be true"));
  cr_assert_geq(profile.sample_count, 100, "%llu samples", (unsigned long long)profile.sample_count);
  cr_assert_leq(profile.paths.size(), 40 * bytes, "%zu paths", profile.paths.size());
  cr_assert_eq(sum_of_rows(profile), 2000, "what is left out is lost, and stands in a row");
}

namespace {

/// Samples in the agent's short form: hundreds of foreseen frames take a few bytes.
class ShortSamples {
 public:
  Bytes records;

  /// The leaf first.
  void add(const std::vector<uint64_t>& stack, format::StackEnd end = format::StackEnd::kRoot) {
    const agent::StackView view{stack.data(), uint32_t(stack.size())};
    const uint32_t shared = agent::shared_suffix(view, {before_.data(), uint32_t(before_.size())});
    Bytes record(agent::sample_bound(view.depth - shared));
    const auto fields = agent::record_of({.weight_ns = 1, .end = end});
    record.resize(
        size_t(agent::encode_record(record.data(), fields, view, shared, *predictor_) - record.data()));
    records.insert(records.end(), record.begin(), record.end());
    before_ = stack;
  }

 private:
  std::vector<uint64_t> before_;
  std::unique_ptr<FramePredictor> predictor_ = std::make_unique<FramePredictor>();
};

}  // namespace

/// A chunk that is refused for its many paths is the first to name addresses that stand in a later one, which
/// is not, as it has bytes enough.
Test(load_damage, what_a_refused_chunk_was_the_first_to_name_is_known) {
  constexpr uint64_t kCode = 0x1000, kLater = 2000, kCodeEnd = 0x100000;
  ProfileBuilder builder;
  builder.add_thread(builder.add_process(100), 100);
  builder.add_module(0, {.path = "/bin/a", .start = kCode, .end = kCodeEnd, .build_id = {1, 2}});
  ShortSamples many, names, later;
  for (uint64_t i = 0; i < 2500; ++i) {
    std::vector<uint64_t> stack(1024);
    for (size_t frame = 0; frame < stack.size(); ++frame) stack[frame] = kCode + frame % 2;
    stack.back() = kCodeEnd / 2 + i;  // the root, below which all are other paths
    many.add(stack);
    many.add(stack, format::StackEnd::kBadMemory);
    many.add(stack, format::StackEnd::kNoProgress);
  }
  for (uint64_t i = 0; i < kLater; ++i) names.add({kCode + 0x1000 + i});
  for (int i = 0; i < 50; ++i) append_event(later.records, format::RecordKind(0x7f), 0, Bytes(4000));
  for (uint64_t i = 0; i < kLater; ++i) later.add({kCode + 0x1000 + i});
  Files files = builder.files();
  for (const ShortSamples* each : {&many, &names, &later})
    append_chunk(files[kAgent], {}, format::ChunkType::kSamples, each->records, true);
  const load::Profile profile = load_files(files, {.threads = 1});
  cr_assert(says(profile, "has 2000 samples too many to be shown"));
  uint64_t found = 0;
  for (size_t row = 0; row < profile.samples.size(); ++row) {
    const auto& site = profile.sites[profile.paths[profile.samples.path[row].index()].site.index()];
    found += !site.special() && site.vaddr.value >= kCode + 0x1000 && site.vaddr.value < kCodeEnd / 2;
  }
  cr_expect_eq(found, kLater);
}

Test(load_damage, frames_left_out_stand_between_two_others) {
  constexpr uint64_t kOut = format::kFramesLeftOut;
  const std::vector<std::pair<std::vector<uint64_t>, bool>> stacks = {
      {{0x1100, kOut, 0x1200}, true},
      {{0x1100, 0x1104, kOut, 0x1200, 0x1204}, true},
      {{kOut}, false},
      {{kOut, 0x1200}, false},
      {{0x1100, kOut}, false},
      {{0x1100, kOut, kOut, 0x1200}, false},
      {{0x1100, kOut, 0x1108, kOut, 0x1200}, false},
  };
  for (const auto& [stack, valid] : stacks) {
    ProfileBuilder builder;
    size_t process = builder.add_process(100);
    builder.add_thread(process, 100);
    builder.add_module(process, {.path = "/bin/a", .start = 0x1000, .end = 0x2000, .build_id = {1, 2}});
    builder.add_sample(process, 0, {0x1100, kOut, 0x1200});
    builder.add_sample(process, 0, stack);  // after one with which it may share
    builder.close_accounts();
    auto profile = try_to_load(builder.files());
    cr_assert(profile.has_value());
    cr_expect_eq(profile->sample_count, valid ? 2 : 1);
    cr_expect_eq(says(*profile, "frames left out"), !valid, "stack of %zu", stack.size());
  }
}
