// SPDX-License-Identifier: MIT
// The example: a table of functions and a table of stacks.
// Context: tests.
#include "test/unit/example_profile.h"

#include <map>

#include "viewer/symbol/special_sites.h"

namespace varve::test {
namespace {

enum Modules : uint32_t { kProgram, kLibc, kLibm, kLibz, kPlugin, kStripped };

struct FunctionRow {
  const char* key;  // in the stacks below
  Modules module;
  const char* name;
  const char* short_name;
  const char* file;
  uint32_t line;
};
constexpr FunctionRow kFunctions[] = {
    {"start", kProgram, "_start", "_start", "", 0},
    {"libc_main", kLibc, "__libc_start_main", "__libc_start_main", "", 0},
    {"thread", kLibc, "start_thread", "start_thread", "", 0},
    {"main", kProgram, "main", "main", "/src/raytrace/main.cc", 20},
    {"load", kProgram, "load_scene(std::string const&)", "load_scene", "/src/raytrace/scene.cc", 41},
    {"parse", kProgram, "parse_obj(std::istream&, Scene&)", "parse_obj", "/src/raytrace/scene.cc", 112},
    {"strtod", kLibc, "strtod", "strtod", "", 0},
    {"run", kProgram, "ThreadPool::run(unsigned int)", "ThreadPool::run", "/src/raytrace/pool.cc", 77},
    {"tile", kProgram, "render_tile(Scene const&, Tile)", "render_tile", "/src/raytrace/render.cc", 198},
    {"trace", kProgram, "trace(Scene const&, Ray, int)", "trace", "/src/raytrace/render.cc", 131},
    {"shade", kProgram, "shade(Scene const&, Hit const&, int)", "shade", "/src/raytrace/render.cc", 152},
    {"bvh", kProgram, "Bvh<Triangle, std::allocator<Triangle> >::intersect(Ray const&, Hit*) const",
     "Bvh::intersect", "/src/raytrace/bvh.cc", 88},
    {"aabb", kProgram, "Aabb::hit(Ray const&, float) const", "Aabb::hit", "/src/raytrace/aabb.h", 31},
    {"triangle", kProgram, "Triangle::hit(Ray const&, Hit*) const", "Triangle::hit",
     "/src/raytrace/triangle.h", 31},
    {"powf", kLibm, "powf", "powf", "", 0},
    {"deflate", kLibz, "deflate", "deflate", "", 0},
    {"png", kProgram, "write_png(Image const&)", "write_png", "/src/raytrace/png.cc", 12},
    {"noise", kPlugin, "noise::größe<日本>(double)", "noise::größe", "/src/plugin/noise.cc", 5},
    {"evil", kPlugin, "evil\x1b]0;title\x07", "evil\x1b]0;title\x07", "", 0},
    {"nameless", kStripped, "libstripped.so.2+0x4f10", "libstripped.so.2+0x4f10", "", 0},
};

/// A stack: frames from the root; "shade>aabb" is aabb inlined into shade. "!" names a special site.
struct StackRow {
  uint32_t thread;
  std::vector<const char*> frames;
  uint32_t line;  // executing line of the innermost frame
  uint64_t milliseconds;
  uint64_t samples;
};

const std::vector<StackRow>& stacks() {
  static const std::vector<StackRow> kRows = {
      {0, {"!startup"}, 0, 3, 0},
      {0, {"start", "libc_main", "main", "load", "parse", "strtod"}, 0, 2050, 205},
      {0, {"start", "libc_main", "main", "load", "parse"}, 120, 1200, 120},
      {0, {"start", "libc_main", "main", "png", "deflate"}, 0, 1150, 115},
      {0, {"start", "libc_main", "main", "png"}, 30, 50, 5},
      {0, {"start", "libc_main", "main"}, 25, 20, 2},
      {1, {"thread", "run", "tile", "trace", "bvh", "triangle"}, 35, 8900, 890},
      {1, {"thread", "run", "tile", "trace", "bvh>aabb"}, 33, 4700, 470},
      {1, {"thread", "run", "tile", "trace", "bvh"}, 89, 9800, 980},
      {1, {"thread", "run", "tile", "trace"}, 140, 2400, 240},
      {2, {"thread", "run", "tile", "trace", "shade", "trace", "bvh", "triangle"}, 35, 1150, 115},
      {2, {"thread", "run", "tile", "trace", "shade", "trace", "bvh"}, 91, 1600, 160},
      {2, {"thread", "run", "tile", "trace", "shade", "powf"}, 0, 1850, 185},
      {2, {"thread", "run", "tile", "trace", "shade", "noise"}, 6, 700, 70},
      {2, {"thread", "run", "tile", "trace", "shade", "evil"}, 0, 90, 9},
      {2, {"thread", "run", "tile", "trace", "shade"}, 160, 1900, 190},
      {2, {"!no unwind", "nameless"}, 0, 410, 41},
      {2, {"!depth", "shade", "trace", "bvh", "triangle"}, 36, 40, 4},
      {1, {"!residual"}, 0, 8, 0},
      {2, {"!residual"}, 0, 5, 0},
      {UINT32_MAX, {"!not sampled"}, 0, 24, 0},
  };
  return kRows;
}

/// Rows of thread 1 are shared out among four workers, those of thread 2 are one worker's.
constexpr uint32_t kSharers[] = {1, 3, 4, 5};
constexpr uint32_t kThreads = 6;

/// Loading by the main thread alone, then five workers of which one has more to do than the others, then the
/// picture is written by the main thread. Milliseconds since the start of the run.
struct StateRow {
  uint64_t ms;
  uint32_t thread;
  RunState state;
  WaitKind wait = WaitKind::kOther;
};
constexpr StateRow kStates[] = {
    {2, 0, RunState::kReady},
    {3, 0, RunState::kRunning},
    {1600, 0, RunState::kBlocked, WaitKind::kIo},
    {1650, 0, RunState::kRunning},
    {3300, 1, RunState::kReady},
    {3300, 2, RunState::kReady},
    {3300, 3, RunState::kReady},
    {3300, 4, RunState::kReady},
    {3300, 5, RunState::kReady},
    {3301, 1, RunState::kRunning},
    {3301, 2, RunState::kRunning},
    {3301, 3, RunState::kRunning},
    {3301, 4, RunState::kRunning},
    {3301, 5, RunState::kRunning},
    {3303, 0, RunState::kBlocked, WaitKind::kJoin},
    {5000, 1, RunState::kBlocked, WaitKind::kLock},
    {5400, 1, RunState::kRunning},
    {6000, 5, RunState::kReady},
    {6300, 5, RunState::kRunning},
    {7000, 2, RunState::kReady},
    {7100, 2, RunState::kRunning},
    {9000, 3, RunState::kBlocked, WaitKind::kLock},
    {9400, 3, RunState::kRunning},
    {9751, 4, RunState::kBlocked, WaitKind::kCondition},
    {10051, 5, RunState::kBlocked, WaitKind::kCondition},
    {10151, 1, RunState::kBlocked, WaitKind::kCondition},
    {10151, 3, RunState::kBlocked, WaitKind::kCondition},
    {11151, 1, RunState::kExited},
    {11151, 2, RunState::kExited},
    {11151, 3, RunState::kExited},
    {11151, 4, RunState::kExited},
    {11151, 5, RunState::kExited},
    {11155, 0, RunState::kRunning},
    {12380, 0, RunState::kExited},
};

class Maker {
 public:
  RandomProfile make() {
    add_tasks();
    add_states();
    add_names();
    profile().paths.push_back({PathId::none(), SiteId::none()});
    made_.symbols.site_first.push_back(0);
    for (const StackRow& row : stacks()) {
      load::Samples& rows = profile().samples;
      // The first row carries the samples, the others of its stack one each, so that counts and times are as
      // said.
      const uint64_t pieces = std::max<uint64_t>(1, row.samples);
      for (uint64_t i = 0; i < pieces; ++i) {
        const uint64_t all = row.milliseconds * 1'000'000;
        const uint32_t thread = row.thread == 1 ? kSharers[i % std::size(kSharers)] : row.thread;
        rows.weight_ns.push_back(all / pieces + (i == 0 ? all % pieces : 0));
        rows.thread.push_back(thread == UINT32_MAX ? ThreadId::none() : ThreadId{thread});
        rows.time_ns.push_back(time_of_sample(thread, rows.weight_ns.back()));
        rows.path.push_back(path_of(row));
        rows.ticks.push_back(row.samples > 0 ? 1 : 0);
      }
    }
    add_waits();
    settle(profile());
    return std::move(made_);
  }

 private:
  load::Profile& profile() { return made_.profile; }

  /// The moment at which a thread that runs as kStates says has used so much more CPU time.
  uint64_t time_of_sample(uint32_t thread, uint64_t weight_ns) {
    const uint64_t start = profile().session.start_time.count;
    if (thread == UINT32_MAX) return start;
    uint64_t left = cpu_[thread] += weight_ns, until = 0;
    for (const StateRow& row : kStates) {
      if (row.thread != thread) continue;
      if (until != 0) {
        const uint64_t ran = row.ms * 1'000'000 - until;
        if (left <= ran) return start + until + left;
        left -= ran;
      }
      until = row.state == RunState::kRunning ? row.ms * 1'000'000 : 0;
      if (row.state == RunState::kExited) return start + row.ms * 1'000'000 - 1;
    }
    return start;
  }

  void add_states() {
    load::RunStates& states = profile().run_states;
    states.source = load::RunStates::Source::kSwitches;
    states.begin = profile().session.start_time;
    for (uint32_t i = 0; i < kThreads; ++i) {
      load::Thread& thread = profile().threads[i];
      thread.track = {i};
      load::Track track;
      track.pid = profile().processes[0].pid;
      track.tid = thread.tid;
      track.name = thread.name;
      track.start_seen = true;
      track.start = thread.start_time;
      track.end = thread.end_time;
      states.tracks.push_back(track);
    }
    for (const StateRow& row : kStates) {
      load::RunEvent event;
      event.time_ns = states.begin.count + row.ms * 1'000'000;
      event.track = {row.thread};
      if (row.state == RunState::kRunning) {
        event.running = load::RunEvent::kWhole;
        event.quanta = 1;
        event.processor = uint16_t(row.ms == 9400 ? 6 : row.thread);  // it comes back on another one
      }
      if (row.state == RunState::kReady) event.ready = load::RunEvent::kWhole;
      event.wait = row.wait;
      event.ended = row.state == RunState::kExited;
      states.events.push_back(event);
      states.end = {event.time_ns};
    }
  }

  /// What kStates says that threads waited for, as their agents would have seen it; of I/O they saw nothing.
  /// Worker 1 releases what others wait for, shortly before they go on.
  void add_waits() {
    using format::ObjectKind;
    constexpr ObjectKind kKinds[size_t(WaitKind::kCount)] = {ObjectKind::kNone,      ObjectKind::kMutex,
                                                             ObjectKind::kCondition, ObjectKind::kNone,
                                                             ObjectKind::kSleep,     ObjectKind::kThread};
    constexpr uint64_t kObjects[size_t(WaitKind::kCount)] = {0, 0x5581d0, 0x558210, 0, 0, 4716};
    constexpr uint64_t kWakeUpNs = 40'000;
    std::array<const StateRow*, kThreads> before{};
    for (const StateRow& row : kStates) {
      const StateRow* last = std::exchange(before[row.thread], &row);
      if (!last || last->state != RunState::kBlocked) continue;
      const ObjectKind kind = kKinds[size_t(last->wait)];
      if (kind == ObjectKind::kNone) continue;
      const uint64_t start = profile().session.start_time.count, end = start + row.ms * 1'000'000;
      const uint64_t object = kObjects[size_t(last->wait)];
      const PathId path = some_path(row.thread);
      profile().waits.waits.push_back(
          {end, (row.ms - last->ms) * 1'000'000, object, {row.thread}, path, 1, kind});
      if (kind == ObjectKind::kMutex || kind == ObjectKind::kCondition)
        profile().waits.releases.push_back({end - kWakeUpNs, 0, object, {1}, some_path(1), 1, kind});
    }
    profile().waits.waits.push_back(
        {start_of(1) + 5'000'000'000, 700'000, 0x5581d0, {1}, {0}, 120, ObjectKind::kMutex});
    profile().waits.sort();
  }

  uint64_t start_of(uint32_t thread) { return profile().threads[thread].start_time.count; }

  /// Of the first sample of a thread.
  PathId some_path(uint32_t thread) {
    const load::Samples& rows = profile().samples;
    for (size_t i = 0; i < rows.size(); ++i)
      if (rows.thread[i] == ThreadId{thread} && rows.ticks[i] != 0) return rows.path[i];
    return {0};
  }

  void add_tasks() {
    load::Session& session = profile().session;
    session.command = "./raytrace --size 1920x1080 scene.obj";
    session.host = "workstation";
    session.kernel = "6.1.0";
    session.processors = 8;
    session.texts = {{"affinity", "0-7"}, {"cores", "4"}, {"cgroup_cpu_max", "max 100000"}};
    session.finished = true;
    session.start_realtime = {1'700'000'000'000'000'000};
    session.start_time = {1'000'000'000};
    session.elapsed = {12'400'000'000};
    session.user_cpu = {37'500'000'000};
    session.system_cpu = {550'000'000};
    session.interval = {10'000'000};
    load::Process process;
    process.pid = 4711;
    process.ppid = 4710;
    process.exe = "/src/raytrace/raytrace";
    process.argv = {"./raytrace", "--size", "1920x1080", "scene.obj"};
    process.start_time = {1'002'000'000};
    process.end_time = {13'400'000'000};
    process.counters[size_t(format::Counter::kForeignSignals)] = 2;
    profile().processes = {process};
    const std::pair<const char*, int32_t> threads[] = {{"raytrace", 4711}, {"worker 1", 4712},
                                                       {"worker 2", 4713}, {"worker 3", 4714},
                                                       {"worker 4", 4715}, {"worker 5", 4716}};
    for (const auto& [name, tid] : threads) {
      load::Thread thread;
      thread.process = {0};
      thread.name = name;
      thread.tid = tid;
      thread.start_time = {tid == 4711 ? 1'002'000'000u : 4'300'000'000u};
      thread.end_time = {tid == 4711 ? 13'380'000'000u : 12'151'000'000u};
      thread.is_main = tid == 4711;
      thread.ticks = 600;
      thread.overruns = tid == 4712 ? 3 : 0;
      thread.handler = {4'500'000};
      profile().threads.push_back(thread);
    }
    profile().bytes = 204'800;
    profile().damages = {{"workstation-4711-0.agent", "chunk 9 fails its checksum", 4032}};
  }

  void add_names() {
    const char* modules[] = {"/src/raytrace/raytrace", "/usr/lib/libc.so.6",   "/usr/lib/libm.so.6",
                             "/usr/lib/libz.so.1",     "/src/plugin/noise.so", "/opt/lib/libstripped.so.2"};
    for (uint32_t i = 0; i < std::size(modules); ++i) {
      load::Module module;
      module.path = modules[i];
      module.build_id = {0xde, 0xad, uint8_t(i)};
      profile().modules.push_back(module);
      symbol::ModuleQuality quality{{i}, i != kStripped, i == kProgram || i == kPlugin, ""};
      if (i == kStripped)
        quality.note =
            "no symbols: install its -dbgsym package and use --debug-dir /usr/lib/debug, or use --debuginfod";
      made_.symbols.modules.push_back(quality);
    }
    for (const FunctionRow& row : kFunctions) {
      symbol::Function function;
      function.name = intern(row.name);
      function.short_name = intern(row.short_name);
      function.linkage_name = intern(row.key);
      function.module = {row.module};
      function.file = intern(row.file);
      function.line = row.line;
      function.source =
          row.module == kStripped ? symbol::NameSource::kAddress : symbol::NameSource::kSymbolTable;
      functions_[row.key] = {uint32_t(made_.symbols.functions.size())};
      made_.symbols.functions.push_back(function);
    }
  }

  StringId intern(const char* text) { return made_.symbols.strings.intern(text); }

  PathId path_of(const StackRow& row) {
    PathId path{0};
    for (size_t i = 0; i < row.frames.size(); ++i) {
      const bool leaf = i + 1 == row.frames.size();
      path = child(path, site_of(row.frames[i], leaf ? row.line : 0));
    }
    return path;
  }

  PathId child(PathId parent, SiteId site) {
    const auto [at, fresh] =
        paths_.try_emplace({parent.value, site.value}, PathId{uint32_t(profile().paths.size())});
    if (fresh) profile().paths.push_back({parent, site});
    return at->second;
  }

  SiteId site_of(const std::string& frames, uint32_t line) {
    const auto [at, fresh] = sites_.try_emplace({frames, line}, SiteId{uint32_t(profile().sites.size())});
    if (!fresh) return at->second;
    if (frames[0] == '!') {
      add_special(frames);
    } else {
      const size_t into = frames.find('>');
      const FunctionId outer = functions_.at(frames.substr(0, into));
      if (into != std::string::npos) add_frame(functions_.at(frames.substr(into + 1)), line, true);
      add_frame(outer, into == std::string::npos ? line : 90, false);
      profile().sites.push_back(
          {made_.symbols.functions[outer.index()].module, {0x1000 + 16 * profile().sites.size()}});
    }
    made_.symbols.site_first.push_back(uint32_t(made_.symbols.frame_rows.size()));
    return at->second;
  }

  void add_frame(FunctionId function, uint32_t line, bool inlined) {
    const StringId file = line == 0 ? StringId{0} : made_.symbols.functions[function.index()].file;
    made_.symbols.frame_rows.push_back({function, file, line, inlined});
  }

  void add_special(const std::string& frames) {
    static const std::map<std::string, load::SpecialSite> kKinds = {
        {"!startup", load::SpecialSite::kStartUp},        {"!residual", load::SpecialSite::kResidual},
        {"!not sampled", load::SpecialSite::kNotSampled}, {"!depth", load::SpecialSite::kTruncated},
        {"!no unwind", load::SpecialSite::kNoUnwindInfo},
    };
    const load::SpecialSite kind = kKinds.at(frames);
    symbol::Function function;
    function.name = function.short_name = made_.symbols.strings.intern(symbol::special_name(kind));
    function.source = symbol::NameSource::kSpecial;
    made_.symbols.frame_rows.push_back({FunctionId{uint32_t(made_.symbols.functions.size())}, {}, 0, false});
    made_.symbols.functions.push_back(function);
    profile().sites.push_back({ModuleId::none(), {uint64_t(kind)}});
  }

  RandomProfile made_;
  std::map<uint32_t, uint64_t> cpu_;  // by thread: of its samples so far
  std::map<std::string, FunctionId> functions_;
  std::map<std::pair<std::string, uint32_t>, SiteId> sites_;
  std::map<std::pair<uint32_t, uint32_t>, PathId> paths_;
};

}  // namespace

RandomProfile example_profile() { return Maker().make(); }

}  // namespace varve::test
