// SPDX-License-Identifier: MIT
// Waits, releases, creations, descriptors and refusals that no agent wrote: what cannot be is refused by one
// sentence, the rest of the file is read, the sums hold, and nothing costs more than its bytes. Context:
// tests.
#include <criterion/criterion.h>
#include <fmt/format.h>

#include "test/unit/built_bytes.h"
#include "test/unit/forged_events.h"

using namespace varve;
using namespace varve::test;
using format::ObjectKind;
using format::RecordKind;

namespace {

load::Profile loaded(const Files& files) {
  auto profile = load::load(load::MemorySource(files), "forged");
  if (!profile) throw std::runtime_error(profile.error());
  return std::move(*profile);
}

/// Whatever was forged, the samples are there and the ledger is that of the kernel.
void expect_whole(const load::Profile& profile, const char* what) {
  uint64_t sum = 0;
  for (const uint64_t weight : profile.samples.weight_ns) sum += weight;
  cr_expect_eq(profile.sample_count, kForgedSamples, "%s", what);
  cr_expect_eq(sum, kForgedSamples * 10'000'000, "%s", what);
}

struct Refused {
  const char* what;
  ForgedEvent event;
  const char* sentence;
};
const Refused kRefused[] = {
    {"no kind", {.kind = 0}, "has a wait for an unknown kind of object"},
    {"a kind to come", {.kind = uint64_t(ObjectKind::kCount)}, "has a wait for an unknown kind of object"},
    {"a kind of 64 bits", {.kind = UINT64_MAX}, "has a wait for an unknown kind of object"},
    {"a creation of no kind", {.record = RecordKind::kCreation, .kind = 0}, "unknown kind of object"},
    {"a release of no kind", {.record = RecordKind::kRelease, .kind = 99}, "unknown kind of object"},
    {"after all time", {.delta_ns = UINT64_MAX}, "has a sample at an impossible time"},
    {"an end that is none", {.flags = 15}, "has a stack that ends for an unknown reason"},
    {"a stack of nothing", {.flags = 0, .stack = {5, 0}}, "has a stack that shares more than there is"},
    {"a stack of 2^21", {.flags = 0, .stack = {0, 0xff, 0xff, 0x7f}}, "has a stack too deep to be true"},
    {"a stack that is not there", {.flags = 0, .stack = {0, 9}}, ""},
    {"a number without an end", {.flags = 0, .stack = Bytes(12, 0xff)}, ""},
};

}  // namespace

Test(forged_events, what_cannot_be_is_refused_and_the_rest_is_read) {
  for (const Refused& each : kRefused) {
    Bytes events = forged({});
    const Bytes bad = forged(each.event), after = forged({});
    events.insert(events.end(), bad.begin(), bad.end());
    events.insert(events.end(), after.begin(), after.end());
    const load::Profile profile = loaded(with_forged(events));
    expect_whole(profile, each.what);
    cr_expect_eq(profile.waits.waits.size(), 1, "%s: what stood before it is kept", each.what);
    cr_assert_eq(profile.damages.size(), 1, "%s", each.what);
    cr_expect(profile.damages[0].sentence.find(each.sentence) != std::string::npos, "%s: %s", each.what,
              profile.damages[0].sentence.c_str());
    cr_expect_eq(profile.damages[0].bytes, bad.size() + after.size(), "%s: all that is lost is said",
                 each.what);
  }
}

Test(forged_events, threads_that_are_none_are_said) {
  for (const uint32_t thread : {2u, 1000u, format::kNoThread - 1, format::kNoThread}) {
    const load::Profile profile = loaded(with_forged(forged({}), thread));
    expect_whole(profile, "another thread");
    cr_expect(!profile.damages.empty() || profile.waits.waits.empty(), "thread %u", thread);
  }
}

Test(forged_events, numbers_that_are_too_large_are_cut) {
  Bytes events;
  for (const uint64_t number : {UINT64_MAX, uint64_t(INT64_MAX), uint64_t{1} << 33}) {
    const Bytes event = forged({.duration_ns = number, .count = number, .ago_ns = number});
    events.insert(events.end(), event.begin(), event.end());
  }
  const load::Profile profile = loaded(with_forged(events));
  expect_whole(profile, "large numbers");
  cr_assert_eq(profile.waits.waits.size(), 3);
  uint64_t sum = 0;
  for (const load::Wait& wait : profile.waits.waits) {
    cr_expect_leq(wait.duration_ns, wait.end_ns, "no wait begins before time does");
    cr_expect_gt(wait.count, 0u);
    sum += wait.duration_ns;
  }
  cr_expect_leq(sum, uint64_t(INT64_MAX));
}

Test(forged_events, none_is_lost_and_each_costs_what_it_is) {
  constexpr size_t kMany = 100'000;  // of one object, and with the same time
  const uint64_t kObject = ForgedEvent().object;
  Bytes events;
  for (size_t i = 0; i < kMany; ++i)
    for (const RecordKind record : {RecordKind::kCreation, RecordKind::kWaitEvent, RecordKind::kRelease}) {
      const Bytes event = forged(
          {.record = record, .count = i % 2, .delta_ns = 0, .object_before = events.empty() ? 0 : kObject});
      events.insert(events.end(), event.begin(), event.end());
    }
  const load::Profile profile = loaded(with_forged(events));
  expect_whole(profile, "many");
  cr_expect(profile.damages.empty());
  cr_expect_eq(profile.waits.waits.size(), kMany);
  cr_expect_eq(profile.waits.releases.size(), kMany);
  cr_expect_eq(profile.waits.creations.size(), kMany);
  cr_expect_leq(profile.paths.size(), 100, "stacks that are not there cost no path");
  const size_t memory = profile.waits.waits.capacity() * sizeof(load::Wait) +
                        profile.waits.releases.capacity() * sizeof(load::Release) +
                        profile.waits.creations.capacity() * sizeof(load::Creation);
  cr_expect_leq(memory, 16 * events.size());
}

Test(forged_events, everything_together) {
  const load::Profile profile = loaded(many_forged());
  expect_whole(profile, "everything");
  cr_expect(profile.damages.empty(), "%s",
            profile.damages.empty() ? "" : profile.damages[0].sentence.c_str());
  for (const load::Wait& wait : profile.waits.waits) {
    cr_assert_lt(wait.name, profile.waits.names.size());
    cr_assert_leq(wait.creation, profile.waits.creations.size());
  }
  for (const auto& [flow, reads, process] : profile.waits.pipe_ends) {
    cr_expect_neq(flow, 0u);
    cr_assert_lt(process.index(), profile.processes.size());
  }
}

/// Names of files are chosen by whoever may write to the directory.
Test(forged_events, refusals_of_any_number) {
  constexpr size_t kMany = 10'000;
  Files files = with_forged(forged({}));
  for (size_t i = 0; i < kMany; ++i) files[fmt::format("host-{}-file-24.refused", 1000 + i)] = {};
  for (const char* name : {"host-100-memory-12.refused", "h-2147483647-file-2147483647.refused",
                           "h-0-handler-0.refused", "\x1b[31m-7-session-2.refused"})
    files[name] = Bytes(5000, 0xff);  // what is in it is not read
  for (const char* name : {"h-2147483648-file-1.refused", "h-1-file-2147483648.refused", "h-x-file-1.refused",
                           ".refused", "h-1-what-1.refused"})
    files[name] = {};
  const load::Profile profile = loaded(files);
  expect_whole(profile, "refusals");
  cr_expect_eq(profile.refusals.size(), kMany + 4);
  for (const load::Refusal& refusal : profile.refusals)
    cr_expect_geq(load::refusal_words(refusal).size(), 10u);
}
