// SPDX-License-Identifier: MIT
// Makes the random profiles.
// Context: tests.
#include "test/unit/random_profile.h"

#include <fmt/format.h>

#include <algorithm>

#include "viewer/load/index_threads.h"
#include "viewer/symbol/special_sites.h"

namespace varve::test {
namespace {

using Random = std::mt19937_64;

size_t below(Random& random, size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(random); }

constexpr size_t kModules = 5, kFunctionCount = 30, kSites = 80;

void add_tasks(load::Profile& profile, Random& random) {
  const size_t processes = 1 + below(random, 3);
  for (size_t i = 0; i < processes; ++i) {
    load::Process process;
    process.pid = int32_t(100 + i);
    process.exe = fmt::format("/usr/bin/prog{}", i);
    process.argv = {"prog", "a b", "x,\"y\""};
    profile.processes.push_back(process);
  }
  const size_t threads = processes + below(random, 6);
  for (size_t i = 0; i < threads; ++i) {
    load::Thread thread;
    thread.process = {uint32_t(i < processes ? i : below(random, processes))};
    thread.tid = int32_t(1000 + i);
    thread.name = i % 3 == 0 ? "main" : i % 3 == 1 ? "worker" : "io \x1b[2J";
    thread.start_time = {1000 * i};
    profile.threads.push_back(thread);
  }
}

void add_functions(symbol::SymbolTable& symbols) {
  for (size_t i = 0; i < kFunctionCount; ++i) {
    const char* shapes[] = {"plain_{}", "ns::Class<int, {}>::method(char const*)", "say \"hi, {}\"",
                            "bell\a{}\n", "größe_{}"};
    const std::string name = fmt::format(fmt::runtime(shapes[i % 5]), i);
    symbol::Function function;
    function.name = symbols.strings.intern(name);
    function.short_name = symbols.strings.intern(name.substr(0, name.find('<')));
    function.linkage_name = symbols.strings.intern(fmt::format("_Z{}", i));
    function.module = {uint32_t(i % kModules)};
    function.file = symbols.strings.intern(fmt::format("/src/dir/file{}.cc", i % 4));
    function.line = uint32_t(10 * i);
    function.source = i % 7 == 6 ? symbol::NameSource::kAddress : symbol::NameSource::kSymbolTable;
    symbols.functions.push_back(function);
  }
}

void add_sites(load::Profile& profile, symbol::SymbolTable& symbols, Random& random) {
  symbols.site_first.push_back(0);
  for (uint32_t i = 0; i < uint32_t(load::SpecialSite::kCount); ++i) {
    profile.sites.push_back({ModuleId::none(), {i}});
    symbol::Function function;
    function.name = function.short_name = symbols.strings.intern(symbol::special_name(load::SpecialSite(i)));
    function.source = symbol::NameSource::kSpecial;
    symbols.frame_rows.push_back({FunctionId{uint32_t(symbols.functions.size())}, {}, 0, false});
    symbols.functions.push_back(function);
    symbols.site_first.push_back(uint32_t(symbols.frame_rows.size()));
  }
  for (size_t i = 0; i < kSites; ++i) {
    const auto outer = uint32_t(below(random, kFunctionCount));
    profile.sites.push_back({symbols.functions[outer].module, {0x1000 + 16 * i}});
    const size_t inlined = below(random, 3);
    for (size_t j = 0; j <= inlined; ++j) {
      const bool last = j == inlined;
      const FunctionId function{last ? outer : uint32_t(below(random, kFunctionCount))};
      const bool lined = below(random, 4) != 0;
      symbols.frame_rows.push_back({function, lined ? symbols.functions[function.index()].file : StringId{0},
                                    lined ? uint32_t(1 + below(random, 20)) : 0, !last});
    }
    symbols.site_first.push_back(uint32_t(symbols.frame_rows.size()));
  }
}

/// A tree of paths: special sites that stand for missing frames only at the root, the others only as leaves
/// below it.
void add_paths(load::Profile& profile, Random& random) {
  profile.paths.push_back({PathId::none(), SiteId::none()});
  for (uint32_t i = 0; i < uint32_t(load::SpecialSite::kCount); ++i) profile.paths.push_back({{0}, {i}});
  const auto first = uint32_t(profile.paths.size());
  const auto truncated = uint32_t(load::SpecialSite::kTruncated);
  for (size_t i = 0; i < 150; ++i) {
    const size_t choice = below(random, 6);
    uint32_t parent = 0;
    if (choice == 1) parent = 1 + truncated + uint32_t(below(random, first - 1 - truncated));
    if (choice > 1 && profile.paths.size() > first)
      parent = first + uint32_t(below(random, profile.paths.size() - first));
    profile.paths.push_back(
        {{parent}, {uint32_t(size_t(load::SpecialSite::kCount) + below(random, kSites))}});
  }
}

void add_samples(load::Profile& profile, Random& random, size_t count) {
  const auto first_code = 1 + uint32_t(load::SpecialSite::kCount);
  load::Samples& rows = profile.samples;
  for (size_t i = 0; i < count; ++i) {
    const size_t choice = below(random, 20);
    const bool special = choice < 2;
    uint32_t path = first_code + uint32_t(below(random, profile.paths.size() - first_code));
    if (special) path = 1 + uint32_t(below(random, size_t(load::SpecialSite::kTruncated)));
    if (choice == 2) path = 0;
    const bool threadless = special && load::SpecialSite(path - 1) == load::SpecialSite::kNotSampled;
    rows.time_ns.push_back(profile.session.start_time.count + below(random, 1'000'000'000));
    rows.weight_ns.push_back(1 + below(random, 20'000'000));
    rows.thread.push_back(threadless ? ThreadId::none()
                                     : ThreadId{uint32_t(below(random, profile.threads.size()))});
    rows.path.push_back({path});
    rows.ticks.push_back(special ? 0 : 1);
  }
}

}  // namespace

void add_run_states(load::Profile& profile, uint64_t seed, load::RunStates::Source source) {
  using load::RunEvent;
  constexpr uint64_t kLength = 1'000'000'000;
  Random random(seed);
  load::RunStates& states = profile.run_states;
  states = {};
  states.source = source;
  states.begin = profile.session.start_time;
  states.end = states.begin + Nanos{kLength};
  const bool exact = source == load::RunStates::Source::kSwitches;
  for (load::Thread& thread : profile.threads) {
    const TrackId id{uint32_t(states.tracks.size())};
    thread.track = id;
    load::Track track;
    track.pid = profile.processes[thread.process.index()].pid;
    track.tid = thread.tid;
    track.start = states.begin + Nanos{below(random, kLength / 4)};
    track.start_seen = below(random, 2) == 0;
    uint64_t time = track.start.count;
    while (time < states.end.count) {
      RunEvent event;
      event.time_ns = time;
      event.track = id;
      const size_t what = below(random, 4);
      const uint16_t most = RunEvent::kWhole;
      event.running = what == 0 ? most : exact || what == 1 ? uint16_t(0) : uint16_t(below(random, most));
      event.ready = what == 1 ? most
                    : exact   ? uint16_t(0)
                              : uint16_t(below(random, most - event.running + 1u));
      event.wait = WaitKind(below(random, size_t(WaitKind::kCount)));
      event.quanta = event.running ? uint16_t(exact ? 1 : below(random, 20)) : uint16_t(0);
      event.processor = event.quanta ? uint16_t(below(random, 4)) : RunEvent::kNoProcessor;
      states.events.push_back(event);
      time += 1 + below(random, kLength / 50);
    }
    if (below(random, 3) == 0) {
      track.end = {states.events.back().time_ns};
      states.events.back() = {.time_ns = track.end.count, .track = id, .ended = true};
    }
    states.tracks.push_back(track);
  }
  std::ranges::stable_sort(states.events, {}, &RunEvent::time_ns);
}

void add_waits(load::Profile& profile, uint64_t seed) {
  Random random(seed);
  profile.waits = {};
  const uint64_t begin = profile.session.start_time.count;
  for (uint32_t thread = 0; thread < profile.threads.size(); ++thread) {
    uint64_t time = begin + below(random, 100'000'000);
    while (time < begin + profile.session.elapsed.count) {
      const uint64_t duration = below(random, 20'000'000);
      const auto kind = format::ObjectKind(1 + below(random, size_t(format::ObjectKind::kCount) - 1));
      const bool sum = below(random, 5) == 0;
      const PathId path{sum ? 0 : uint32_t(below(random, profile.paths.size()))};
      const uint64_t object = below(random, 4) * 64;
      time += duration;
      profile.waits.waits.push_back({time,
                                     sum ? duration / 4 : duration,
                                     object,
                                     {thread},
                                     path,
                                     sum ? uint32_t(2 + below(random, 100)) : 1,
                                     kind});
      if (below(random, 2) == 0)
        profile.waits.releases.push_back({time - below(random, duration + 1),
                                          duration,
                                          object,
                                          {uint32_t(below(random, profile.threads.size()))},
                                          path,
                                          1,
                                          kind});
      time += below(random, 30'000'000);
    }
  }
  profile.waits.sort();
}

void settle(load::Profile& profile) {
  profile.sampled = profile.residual = profile.unsampled = {};
  profile.sample_count = 0;
  for (size_t i = 0; i < profile.samples.size(); ++i) {
    const Nanos weight{profile.samples.weight_ns[i]};
    const uint32_t path = profile.samples.path[i].value;
    const bool ticked = profile.samples.ticks[i] != 0;
    const bool residual = !ticked && path == 1 + uint32_t(load::SpecialSite::kResidual);
    (ticked ? profile.sampled : residual ? profile.residual : profile.unsampled) += weight;
    profile.sample_count += profile.samples.ticks[i];
  }
  profile.kernel_cpu = profile.sampled + profile.residual + profile.unsampled;
  load::index_threads(profile);
}

RandomProfile random_profile(uint64_t seed, size_t samples) {
  Random random(seed);
  RandomProfile made;
  made.profile.session.start_time = {5'000'000'000};
  made.profile.session.command = "prog";
  made.profile.session.finished = true;
  made.profile.session.interval = {10'000'000};
  made.profile.session.elapsed = {1'000'000'000};
  for (size_t i = 0; i < kModules; ++i) {
    load::Module module;
    module.path = fmt::format("/usr/lib/lib{}.so.1", i);
    module.build_id = {uint8_t(i), 0xab};
    made.profile.modules.push_back(module);
  }
  add_tasks(made.profile, random);
  add_functions(made.symbols);
  add_sites(made.profile, made.symbols, random);
  add_paths(made.profile, random);
  add_samples(made.profile, random, samples);
  settle(made.profile);
  made.profile.session.processors = 4;
  if (seed % 2 == 1)
    add_run_states(made.profile, seed,
                   seed % 4 == 1 ? load::RunStates::Source::kSwitches : load::RunStates::Source::kSweeps);
  if (seed % 3 != 0) add_waits(made.profile, seed);
  return made;
}

std::vector<SiteId> sites_of(const load::Profile& profile, PathId path) {
  std::vector<SiteId> sites;
  for (; path.value != 0; path = profile.paths[path.index()].parent)
    sites.push_back(profile.paths[path.index()].site);
  std::reverse(sites.begin(), sites.end());
  return sites;
}

std::vector<StackFrame> stack_of(const RandomProfile& made, PathId path, bool inlines) {
  std::vector<StackFrame> stack;
  for (const SiteId site : sites_of(made.profile, path)) {
    const auto frames = made.symbols.frames(site);
    for (size_t j = frames.size(); j-- > 0;) {
      if (inlines || j + 1 == frames.size())
        stack.push_back({frames[j].function, inlines && frames[j].inlined});
    }
  }
  if (stack.empty()) stack.push_back({FunctionId::none(), false});
  return stack;
}

std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row = {""};
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
        row.back() += text[++i];
      } else if (c == '"') {
        quoted = false;
      } else {
        row.back() += c;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      row.emplace_back();
    } else if (c == '\n') {
      rows.push_back(std::move(row));
      row = {""};
    } else {
      row.back() += c;
    }
  }
  return rows;
}

}  // namespace varve::test
