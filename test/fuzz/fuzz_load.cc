// SPDX-License-Identifier: MIT
// Fuzzer of the loader. The first byte of an input chooses what the rest is; the loader must answer with a
// sentence or with a profile that is consistent in itself: every index in range, rows ordered, and the ledger
// equal to the rows. With -DREPLAY it is a plain program that runs the files and directories it is given, for
// any compiler. Context: tests.
#include <cstdio>
#include <cstdlib>

#include "test/fuzz/profile_input.h"
#include "test/fuzz/replay_main.h"
#include "viewer/load/load.h"

namespace {

using namespace varve;
using namespace varve::fuzz;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz_load: not so: %s\n", what);
  std::abort();
}

void check_ids(const load::Profile& profile) {
  for (const auto& thread : profile.threads)
    require(thread.process.index() < profile.processes.size(), "a thread's process exists");
  for (const auto& mapping : profile.mappings)
    require(
        mapping.process.index() < profile.processes.size() && mapping.module.index() < profile.modules.size(),
        "a mapping's process and module exist");
  for (const auto& site : profile.sites) {
    if (site.special())
      require(site.vaddr.value < uint64_t(load::SpecialSite::kCount), "a special site is known");
    else
      require(site.module.index() < profile.modules.size(), "a site's module exists");
  }
  for (size_t i = 1; i < profile.paths.size(); ++i)
    require(profile.paths[i].parent.index() < i && profile.paths[i].site.index() < profile.sites.size(),
            "a path's parent comes before it and its site exists");
}

/// Events in the order of time, none after the end of its thread, no state more than whole.
void check_states(const load::Profile& profile) {
  const load::RunStates& states = profile.run_states;
  std::vector<bool> ended(states.tracks.size());
  uint64_t time = states.begin.count;
  for (const load::RunEvent& event : states.events) {
    require(event.track.index() < ended.size() && !ended[event.track.index()], "an event's thread lives");
    require(event.active() <= load::RunEvent::kWhole, "a state is at most whole");
    require(event.time_ns >= time && event.time_ns <= states.end.count, "events are ordered");
    time = event.time_ns;
    ended[event.track.index()] = event.ended;
  }
  for (const load::Thread& thread : profile.threads)
    require(!thread.track.valid() || thread.track.index() < ended.size(), "a thread's track exists");
}

void check_marks(const load::Profile& profile) {
  for (size_t i = 0; i < profile.marks.size(); ++i) {
    const load::Mark& mark = profile.marks[i];
    require(mark.process.index() < profile.processes.size(), "a mark's process exists");
    require(!mark.thread.valid() || mark.thread.index() < profile.threads.size(), "a mark's thread exists");
    require(mark.name.size() <= format::kMostMarkNameBytes, "a mark's name is short");
    require(i == 0 || profile.marks[i - 1].time <= mark.time, "marks are ordered by time");
  }
  for (const load::Pause& pause : profile.pauses)
    require(pause.begin < pause.end &&
                (!pause.process.valid() || pause.process.index() < profile.processes.size()),
            "a pause has a length and a process that exists, or none");
}

void check_samples(const load::Profile& profile) {
  const load::Samples& samples = profile.samples;
  size_t rows = samples.size();
  require(samples.weight_ns.size() == rows && samples.thread.size() == rows && samples.path.size() == rows &&
              samples.ticks.size() == rows,
          "columns are of equal length");
  uint64_t sum = 0, ticks = 0;
  for (size_t row = 0; row < rows; ++row) {
    sum += samples.weight_ns[row];
    ticks += samples.ticks[row];
    ThreadId thread = samples.thread[row];
    require(!thread.valid() || thread.index() < profile.threads.size(), "a sample's thread exists");
    require(samples.path[row].index() < profile.paths.size(), "a sample's path exists");
    if (row == 0) continue;
    bool ordered = samples.thread[row - 1] < thread ||
                   (samples.thread[row - 1] == thread && samples.time_ns[row - 1] <= samples.time_ns[row]);
    require(ordered, "rows are ordered by thread and time");
  }
  require(ticks == profile.sample_count, "samples are counted");
  require(sum == (profile.sampled + profile.residual + profile.unsampled).count,
          "the rows add up to the ledger");
  require(profile.residual_placed <= profile.residual, "a part is no more than the whole");
  require(sum >= profile.kernel_cpu.count, "the ledger covers the kernel's CPU time");
}

void check_waits(const load::Profile& profile) {
  uint64_t sum = 0;
  for (size_t row = 0; row < profile.waits.waits.size(); ++row) {
    const load::Wait& wait = profile.waits.waits[row];
    require(wait.thread.index() < profile.threads.size(), "a wait's thread exists");
    require(wait.path.index() < profile.paths.size(), "a wait's path exists");
    require(wait.name < profile.waits.names.size(), "a wait has a name");
    // What is left over of a wait that was counted is none more.
    require(wait.count > 0 || wait.in_pieces, "a wait is one");
    require(wait.creation <= profile.waits.creations.size(), "what a wait is for was made");
    require(wait.kind > format::ObjectKind::kNone && wait.kind < format::ObjectKind::kCount, "a known kind");
    require((sum += wait.duration_ns) <= INT64_MAX, "sums of waits do not wrap");
    if (row == 0) continue;
    const load::Wait& before = profile.waits.waits[row - 1];
    require(before.thread < wait.thread || (before.thread == wait.thread && before.end_ns <= wait.end_ns),
            "waits are ordered by thread and time");
  }
  for (const load::Release& release : profile.waits.releases)
    require(release.thread.index() < profile.threads.size() && release.path.index() < profile.paths.size(),
            "a release's thread and path exist");
  for (const load::Creation& creation : profile.waits.creations)
    require(creation.thread.index() < profile.threads.size() && creation.path.index() < profile.paths.size(),
            "a creation's thread and path exist");
  for (const auto& [flow, reads, process] : profile.waits.pipe_ends)
    require(flow != 0 && process.index() < profile.processes.size(), "a pipe's flow and process exist");
}

bool equal(const load::Profile& a, const load::Profile& b) {
  return a.samples.time_ns == b.samples.time_ns && a.samples.path == b.samples.path &&
         a.samples.thread == b.samples.thread && a.samples.weight_ns == b.samples.weight_ns &&
         a.paths == b.paths && a.sites == b.sites && a.damages.size() == b.damages.size();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  auto source = make_source(data[0], data + 1, size - 1);
  auto profile = load::load(source, "input", {.threads = 1});
  if (!profile) {
    require(!profile.error().empty(), "a refusal says why");
    return 0;
  }
  check_ids(*profile);
  check_marks(*profile);
  check_samples(*profile);
  check_states(*profile);
  check_waits(*profile);
  if (data[0] & kParallel)
    require(equal(*profile, *load::load(source, "input", {.threads = 3})), "threads do not matter");
  return 0;
}
