// SPDX-License-Identifier: MIT
// See odd_profiles.h.
// Context: tests.
#include "test/unit/odd_profiles.h"

#include <fmt/format.h>

#include <map>

#include "test/unit/example_profile.h"
#include "test/unit/forged_events.h"
#include "test/unit/profile_builder.h"
#include "test/unit/time_units.h"
#include "viewer/symbol/special_sites.h"

namespace varve::test {
namespace {

/// A process with one thread and stacks of functions that are told by name.
class StackProfile {
 public:
  explicit StackProfile(std::string thread = "main") {
    load::Profile& profile = made_.profile;
    profile.session.command = "odd";
    profile.session.finished = true;
    profile.session.elapsed = {kNanosPerSecond};
    profile.session.interval = {10 * kMs};
    profile.session.processors = 2;
    load::Process process;
    process.pid = 100;
    process.exe = "/usr/bin/odd";
    profile.processes = {process};
    load::Thread main;
    main.process = {0};
    main.tid = 100;
    main.name = std::move(thread);
    main.is_main = true;
    profile.threads = {main};
    load::Module module;
    module.path = "/usr/bin/odd";
    profile.modules = {module};
    profile.paths.push_back({PathId::none(), SiteId::none()});
    made_.symbols.site_first.push_back(0);
  }

  /// The root first.
  void add(const std::vector<std::string>& stack, uint64_t milliseconds) {
    PathId path{0};
    for (const std::string& name : stack) path = child(path, site_of(name));
    load::Samples& rows = made_.profile.samples;
    rows.weight_ns.push_back(milliseconds * kMs);
    rows.thread.push_back({0});
    rows.time_ns.push_back(rows.weight_ns.size() * kMs);
    rows.path.push_back(path);
    rows.ticks.push_back(1);
  }

  RandomProfile finish() {
    settle(made_.profile);
    return std::move(made_);
  }

 private:
  SiteId site_of(const std::string& name) {
    const auto [at, fresh] = sites_.try_emplace(name, SiteId{uint32_t(made_.profile.sites.size())});
    if (!fresh) return at->second;
    symbol::Function function;
    function.name = function.short_name = function.linkage_name = made_.symbols.strings.intern(name);
    function.module = {0};
    function.source = symbol::NameSource::kSymbolTable;
    made_.symbols.frame_rows.push_back({FunctionId{uint32_t(made_.symbols.functions.size())}, {}, 0, false});
    made_.symbols.functions.push_back(function);
    made_.profile.sites.push_back({{0}, {0x1000 + 16 * made_.profile.sites.size()}});
    made_.symbols.site_first.push_back(uint32_t(made_.symbols.frame_rows.size()));
    return at->second;
  }

  PathId child(PathId parent, SiteId site) {
    const auto [at, fresh] =
        paths_.try_emplace({parent.value, site.value}, PathId{uint32_t(made_.profile.paths.size())});
    if (fresh) made_.profile.paths.push_back({parent, site});
    return at->second;
  }

  RandomProfile made_;
  std::map<std::string, SiteId> sites_;
  std::map<std::pair<uint32_t, uint32_t>, PathId> paths_;
};

RandomProfile random_switches() { return random_profile(5); }
RandomProfile random_sweeps() { return random_profile(7); }

RandomProfile empty() {
  RandomProfile made;
  made.profile.paths.push_back({PathId::none(), SiteId::none()});
  made.symbols.site_first.push_back(0);
  return made;
}

RandomProfile one_sample() {
  StackProfile profile;
  profile.add({"main"}, 10);
  return profile.finish();
}

/// 3,000 bytes: plain, wide, combining, control and bytes that are no UTF-8; and no character at all.
RandomProfile long_names() {
  constexpr size_t kLength = 3'000;
  StackProfile profile(std::string(1000, 't') + "\x1b[2J");
  const std::vector<std::string> pieces = {"long", "名前", "e\u0301", "\x1b]0;x\x07\n\t", "\xff\xc3", " "};
  std::vector<std::string> stack;
  for (const std::string& piece : pieces) {
    std::string name;
    while (name.size() < kLength) name += piece;
    stack.push_back(name);
    profile.add(stack, 20);
    profile.add({"main", name}, 30);
  }
  profile.add({""}, 10);
  return profile.finish();
}

/// Ten stacks of 1024 frames that part at different depths.
RandomProfile deep_stacks() {
  constexpr size_t kDepth = 1024, kStacks = 10;
  StackProfile profile;
  for (size_t i = 0; i < kStacks; ++i) {
    std::vector<std::string> stack;
    for (size_t depth = 0; depth < kDepth; ++depth) {
      const bool parted = depth > i * kDepth / kStacks;
      stack.push_back(fmt::format("f{}_{}", depth, parted ? i : 0));
    }
    profile.add(stack, 10 + i);
  }
  return profile.finish();
}

/// Straight recursion and recursion by two functions in turn.
RandomProfile recursion() {
  constexpr size_t kDepth = 500;
  StackProfile profile;
  for (const size_t length : {1, 2}) {
    std::vector<std::string> stack = {"main"};
    for (size_t i = 0; i < kDepth; ++i) {
      stack.push_back(i % length == 0 ? "walk" : "step");
      if (i % 50 == 0) profile.add(stack, 10);
    }
    stack.push_back("leaf");
    profile.add(stack, 100);
  }
  return profile.finish();
}

/// A name for each site that the loader found.
void name_sites(RandomProfile& made) {
  made.symbols.site_first.push_back(0);
  for (const load::Site& site : made.profile.sites) {
    symbol::Function function;
    function.name = function.short_name =
        made.symbols.strings.intern(site.special() ? std::string(symbol::special_name(site.kind()))
                                                   : fmt::format("0x{:x}", site.vaddr.value));
    function.module = site.module;
    function.source = site.special() ? symbol::NameSource::kSpecial : symbol::NameSource::kAddress;
    made.symbols.frame_rows.push_back({FunctionId{uint32_t(made.symbols.functions.size())}, {}, 0, false});
    made.symbols.functions.push_back(function);
    made.symbols.site_first.push_back(uint32_t(made.symbols.frame_rows.size()));
  }
}

/// The session lost half of itself, the agent's file its end, and some bytes are others.
RandomProfile with_damage() {
  ProfileBuilder builder;
  builder.sample_chunk_bytes = 200;
  const size_t process = builder.add_process(100);
  builder.add_thread(process, 100);
  builder.add_thread(process, 101);
  builder.add_module(process, {.path = "/bin/a", .start = 0x1000, .end = 0x2000});
  for (uint64_t i = 0; i < 200; ++i)
    builder.add_sample(process, uint32_t(i % 2), {0x1000, 0x1100 + i % 5, 0x1200 + i});
  builder.observer.track(0, 100, 100, 0);
  for (uint64_t i = 0; i < 100; ++i)
    builder.observer.switched(i * kMs, 0,
                              i % 2 == 0 ? format::SwitchKind::kIn : format::SwitchKind::kOutBlocked);
  builder.close_accounts();
  Files files = builder.files();
  for (auto& [name, bytes] : files) {
    if (name != format::kObserverFile) bytes.resize(bytes.size() * 2 / 3);
    for (size_t at = format::kPageSize + 700; at < bytes.size(); at += 997) bytes[at] ^= 0x55;
  }
  RandomProfile made;
  auto loaded = load::load(load::MemorySource(files), "damaged", {.threads = 1});
  if (loaded) made.profile = std::move(*loaded);
  name_sites(made);
  return made;
}

/// Waits for what is not there, by threads and descriptors of any number, and children that nobody had.
RandomProfile forged_waits() {
  RandomProfile made;
  auto loaded = load::load(load::MemorySource(many_forged()), "forged", {.threads = 1});
  if (loaded) made.profile = std::move(*loaded);
  name_sites(made);
  return made;
}

constexpr OddProfile kProfiles[] = {
    {"ordinary", example_profile},    {"random-switches", random_switches},
    {"random-sweeps", random_sweeps}, {"empty", empty},
    {"one-sample", one_sample},       {"long-names", long_names},
    {"deep-stacks", deep_stacks},     {"recursion", recursion},
    {"damaged", with_damage},         {"forged-waits", forged_waits},
};

}  // namespace

std::span<const OddProfile> odd_profiles() { return kProfiles; }

}  // namespace varve::test
