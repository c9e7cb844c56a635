// SPDX-License-Identifier: MIT
// generate-profile: a profile directory of any size, written by the agent's own file, chunk and sample
// writers and the recorder's session writer. Its addresses lie in the code of this program and its libraries,
// so that they have names. Not a model of any real program; only the shape of stacks is like one: they share
// their root side with the last one. Context: tests and benchmarks.
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <random>

#include "agent/signal/process_file.h"
#include "agent/signal/sample_writer.h"
#include "common/session_keys.h"
#include "viewer/record/finalize.h"
#include "viewer/record/observe/observer_writer.h"
#include "viewer/record/session_writer.h"
#include "viewer/stored_views.h"

namespace {

using namespace varve;

struct Options {
  std::string directory;
  uint64_t samples = 1'000'000;
  uint64_t switches = 0;  // context switch records of run states; 0: none recorded
  uint32_t threads = 4;
  uint32_t functions = 5000;
  uint32_t depth = 24;
  uint64_t seed = 1;
  double unique = 0.97;  // share of samples whose stack is put together anew
};

struct Module {
  std::string path;
  uint64_t bias = 0, start = UINT64_MAX, end = 0;
  std::vector<std::pair<uint64_t, uint64_t>> code;
  std::vector<uint8_t> build_id;
};

constexpr uint64_t kIntervalNs = 10'000'000;
constexpr uint64_t kStartNs = 1'000'000'000;

void read_build_id(const uint8_t* note, uint64_t size, Module& module) {
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, note, sizeof header);
    uint64_t name = (header.n_namesz + 3) / 4 * 4,
             total = sizeof header + name + (header.n_descsz + 3) / 4 * 4;
    if (header.n_type == NT_GNU_BUILD_ID)
      module.build_id.assign(note + sizeof header + name, note + sizeof header + name + header.n_descsz);
    note += total;
    size -= std::min(size, total);
  }
}

int add_module(dl_phdr_info* info, size_t, void* modules) {
  Module module;
  module.path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
  if (module.path == "/proc/self/exe") {
    char target[4096];
    ssize_t length = readlink("/proc/self/exe", target, sizeof target);
    if (length > 0) module.path.assign(target, size_t(length));
  }
  module.bias = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    uint64_t start = module.bias + segment.p_vaddr, end = start + segment.p_memsz;
    if (segment.p_type == PT_NOTE)
      read_build_id(reinterpret_cast<const uint8_t*>(start), segment.p_memsz, module);
    if (segment.p_type != PT_LOAD) continue;
    module.start = std::min(module.start, start);
    module.end = std::max(module.end, end);
    if (segment.p_flags & PF_X) module.code.emplace_back(start, end);
  }
  if (module.path.starts_with('/') && !module.code.empty())
    static_cast<std::vector<Module>*>(modules)->push_back(std::move(module));
  return 0;
}

/// Appends a record whose size is set here. False: it does not fit.
bool append_record(agent::Chunk& chunk, format::RecordKind kind, uint8_t flags, std::vector<uint8_t> record) {
  format::RecordHeader header{uint16_t(record.size()), uint8_t(kind), flags};
  std::memcpy(record.data(), &header, sizeof header);
  if (chunk.room() < record.size()) return false;
  std::memcpy(chunk.end(), record.data(), record.size());
  chunk.commit(uint32_t(record.size()));
  return true;
}

template <typename T>
void append(std::vector<uint8_t>& out, const T& object) {
  auto* begin = reinterpret_cast<const uint8_t*>(&object);
  out.insert(out.end(), begin, begin + sizeof object);
}

void append_text(std::vector<uint8_t>& out, const std::string& text) {
  out.insert(out.end(), text.begin(), text.end());
  out.push_back(0);
}

/// Stacks as a walk over a call graph: each step leaves some frames and enters others.
class StackModel {
 public:
  StackModel(const Options& options, const std::vector<Module>& modules, uint64_t seed)
      : options_(options), random_(seed) {
    for (const Module& module : modules) code_.insert(code_.end(), module.code.begin(), module.code.end());
    for (auto [begin, end] : code_) code_bytes_ += end - begin;
  }

  /// The next stack, the root first.
  const std::vector<uint64_t>& next() {
    bool fresh = kept_.size() < kKept || std::uniform_real_distribution<>(0, 1)(random_) < options_.unique;
    if (!fresh) return stack_ = kept_[random_() % kept_.size()];
    size_t leave = std::min<size_t>(stack_.size(), 1 + size_t(std::geometric_distribution<>(0.12)(random_)));
    stack_.resize(stack_.size() - leave);
    size_t target = options_.depth / 2 + random_() % (options_.depth + 1);
    while (stack_.size() < std::max<size_t>(target, 1)) stack_.push_back(call_site());
    if (kept_.size() < kKept) kept_.push_back(stack_);
    return stack_;
  }

 private:
  static constexpr size_t kKept = 64;
  static constexpr uint64_t kSitesOfFunction = 8;

  /// Few functions are hot: a square of a uniform number picks them.
  uint64_t call_site() {
    double uniform = std::uniform_real_distribution<>(0, 1)(random_);
    auto function = uint64_t(uniform * uniform * options_.functions);
    uint64_t span = std::max<uint64_t>(code_bytes_ / options_.functions, kSitesOfFunction);
    uint64_t at = (function * span + random_() % kSitesOfFunction * (span / kSitesOfFunction)) % code_bytes_;
    for (auto [begin, end] : code_) {
      if (at < end - begin) return begin + at;
      at -= end - begin;
    }
    return code_.front().first;
  }

  const Options& options_;
  std::mt19937_64 random_;
  std::vector<std::pair<uint64_t, uint64_t>> code_;
  uint64_t code_bytes_ = 0;
  std::vector<uint64_t> stack_;
  std::vector<std::vector<uint64_t>> kept_;
};

class Generator {
 public:
  explicit Generator(const Options& options) : options_(options) { dl_iterate_phdr(add_module, &modules_); }

  void run() {
    if (mkdir(options_.directory.c_str(), 0777) != 0)
      fail("cannot create {}: {}", options_.directory, std::strerror(errno));
    auto session = begin_session();
    write_agent_file();
    write_observer();
    finish_session(session);
  }

 private:
  template <typename... Arguments>
  [[noreturn]] static void fail(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    fmt::print(stderr, "generate-profile: {}\n", fmt::format(text, std::forward<Arguments>(arguments)...));
    std::exit(1);
  }

  uint64_t cpu_ns(uint32_t thread) const {
    return (options_.samples / options_.threads + (thread < options_.samples % options_.threads)) *
           kIntervalNs;
  }
  uint64_t end_ns() const { return kStartNs + (options_.samples / options_.threads + 1) * kIntervalNs; }

  void write_agent_file() {
    static agent::ProcessFile file;  // its table of extents is large
    format::FileHeader header{};
    std::memcpy(header.magic, format::kMagic, sizeof header.magic);
    header.major = format::kMajor;
    header.minor = format::kMinor;
    header.byte_order = format::kByteOrder;
    header.kind = uint16_t(format::FileKind::kAgent);
    std::memcpy(header.session_id, session_header_.session_id, sizeof header.session_id);
    header.pid = 1000;
    header.ppid = 999;
    header.start_monotonic_ns = kStartNs;
    header.checksum = format::header_checksum(header);
    long result = file.open((options_.directory + "/generated-1000-0.agent").c_str(), header);
    if (agent::failed(result)) fail("cannot create the agent's file: {}", std::strerror(int(-result)));
    write_process(file);
    write_modules(file);
    write_threads(file);
    write_samples(file);
  }

  agent::Chunk allocate(agent::ProcessFile& file, format::ChunkType type, size_t bytes) {
    auto capacity = format::round_up(uint32_t(bytes + sizeof(format::ChunkHeader)), format::kChunkUnit);
    auto chunk = file.allocate(type, agent::exactly(capacity), format::kNoThread, kStartNs);
    if (!chunk) fail("the agent's file cannot grow: {}", std::strerror(file.error()));
    return chunk;
  }

  void write_process(agent::ProcessFile& file) {
    format::ProcessRecord process{};
    process.argc = 1;
    process.end_time_ns = end_ns();
    process.end_kind = uint32_t(format::ImageEnd::kExit);
    for (uint32_t thread = 0; thread < options_.threads; ++thread) process.end_cpu_ns += cpu_ns(thread);
    std::vector<uint8_t> record;
    append(record, process);
    append_text(record, modules_.front().path);
    append_text(record, "/");
    append_text(record, "generate-profile");
    auto chunk = allocate(file, format::ChunkType::kProcess, record.size());
    append_record(chunk, format::RecordKind::kProcess, 0, record);
    agent::ProcessFile::seal(chunk);
  }

  void write_modules(agent::ProcessFile& file) {
    auto chunk = allocate(file, format::ChunkType::kModules, modules_.size() * 512);
    for (uint32_t i = 0; i < modules_.size(); ++i) {
      const Module& module = modules_[i];
      format::ModuleLoadRecord load{};
      load.module = i;
      load.bias = module.bias;
      load.start = module.start;
      load.end = module.end;
      load.range_count = uint32_t(module.code.size());
      load.build_id_size = uint16_t(module.build_id.size());
      std::vector<uint8_t> record;
      append(record, load);
      for (auto [begin, end] : module.code) append(record, begin), append(record, end);
      record.insert(record.end(), module.build_id.begin(), module.build_id.end());
      append_text(record, module.path);
      record.resize((record.size() + 7) / 8 * 8);
      if (!append_record(chunk, format::RecordKind::kModuleLoad, 0, record)) fail("too many modules");
    }
    agent::ProcessFile::seal(chunk);
  }

  void write_threads(agent::ProcessFile& file) {
    auto chunk = allocate(file, format::ChunkType::kThreads, options_.threads * sizeof(format::ThreadRecord));
    for (uint32_t i = 0; i < options_.threads; ++i) {
      format::ThreadRecord thread{};
      thread.index = i;
      thread.tid = int32_t(1000 + i);
      thread.creator = i ? 0 : format::kNoThread;
      thread.start_time_ns = kStartNs;
      thread.end_time_ns = end_ns();
      thread.end_cpu_ns = thread.last_cpu_ns = cpu_ns(i);
      thread.ticks = cpu_ns(i) / kIntervalNs;
      fmt::format_to_n(thread.name, sizeof thread.name - 1, "worker-{}", i);
      std::vector<uint8_t> record;
      append(record, thread);
      append_record(chunk, format::RecordKind::kThread, i ? 0 : format::kThreadMain, record);
    }
    agent::ProcessFile::seal(chunk);
  }

  /// The threads take turns, as they do in time.
  void write_samples(agent::ProcessFile& file) {
    uint32_t most_frames = options_.depth * 2 + 1;
    std::vector<std::vector<uint64_t>> frames(options_.threads, std::vector<uint64_t>(most_frames * 2));
    std::vector<FramePredictor> predictors(options_.threads);
    std::vector<agent::SampleWriter> writers(options_.threads);
    std::vector<StackModel> models;
    for (uint32_t thread = 0; thread < options_.threads; ++thread) {
      writers[thread].bind(frames[thread].data(), most_frames, predictors[thread], thread);
      models.emplace_back(options_, modules_, options_.seed * 1000 + thread);
    }
    for (uint64_t i = 0; i < options_.samples; ++i) {
      auto thread = uint32_t(i % options_.threads);
      const auto& stack = models[thread].next();
      std::reverse_copy(stack.begin(), stack.end(), writers[thread].scratch());
      // Microseconds early or late, as ticks are.
      uint64_t time = kStartNs + (i / options_.threads + 1) * kIntervalNs + thread * 1000 + i * 7919 % 5000;
      if (!writers[thread].write(file, time, agent::record_of({.weight_ns = kIntervalNs}),
                                 uint32_t(stack.size())))
        fail("the agent's file cannot grow: {}", std::strerror(file.error()));
    }
    for (auto& writer : writers)
      if (writer.has_segment()) agent::ProcessFile::seal(writer.take_segment().chunk);
  }

  /// Each thread in its turn is switched in on a processor of its own, and out to wait or to be ready.
  void write_observer() {
    if (options_.switches == 0) return;
    int directory = open(options_.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    auto writer = record::observe::ObserverWriter::create(directory, session_header_);
    close(directory);
    if (!writer) fail("{}", writer.error());
    for (uint32_t i = 0; i < options_.threads; ++i) {
      format::TrackRecord track{};
      track.track = i;
      track.pid = 1000;
      track.tid = int32_t(1000 + i);
      track.ppid = 999;
      track.time_ns = kStartNs;
      (*writer)->track(track, true);
    }
    std::mt19937_64 random(options_.seed);
    const uint64_t step = (end_ns() - kStartNs) / (options_.switches + 1);
    std::vector<bool> running(options_.threads);
    for (uint64_t i = 0; i < options_.switches; ++i) {
      auto thread = uint32_t(random() % options_.threads);
      running[thread] = !running[thread];
      const auto out = random() % 4 == 0 ? format::SwitchKind::kOutReady : format::SwitchKind::kOutBlocked;
      (*writer)->switch_event({kStartNs + (i + 1) * step}, thread,
                              running[thread] ? format::SwitchKind::kIn : out, thread);
    }
    (*writer)->finish({end_ns()});
    if ((*writer)->failed()) fail("the observer's file cannot grow: {}", std::strerror((*writer)->error()));
  }

  record::SessionWriter begin_session() {
    int directory = open(options_.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    auto session = record::SessionWriter::create(directory, {.interval = {kIntervalNs}, .stack_depth = 1024});
    if (!session) fail("{}", session.error());
    int file = openat(directory, format::kSessionFile, O_RDONLY | O_CLOEXEC);
    if (read(file, &session_header_, sizeof session_header_) != sizeof session_header_)
      fail("the session is gone");
    close(file);
    close(directory);
    return std::move(*session);
  }

  void finish_session(record::SessionWriter& session) {
    session.text(session_key::kCommand, "generate-profile");
    session.text(session_key::kHost, "generated");
    session.text(session_key::kProcessors, fmt::to_string(options_.threads));
    session.text(session_key::kStartMonotonicNs, fmt::to_string(kStartNs));
    session.text(session_key::kElapsedNs, fmt::to_string(end_ns() - kStartNs));
    format::ProcessExitRecord exit{};
    exit.pid = 1000;
    exit.user_ns = options_.samples * kIntervalNs;
    exit.time_ns = end_ns();
    session.process_exit(exit);
    session.text(session_key::kExitStatus, "0");
    session.text(session_key::kFinished, "1");
    session.seal();
  }

  const Options& options_;
  std::vector<Module> modules_;
  format::FileHeader session_header_{};
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Writes a profile of any size through the real writers.", "generate-profile");
  app.add_option("directory", options.directory, "to be created")->required();
  app.add_option("--samples", options.samples);
  app.add_option("--switches", options.switches, "context switch records");
  app.add_option("--threads", options.threads)->check(CLI::Range(1, 10000));
  app.add_option("--functions", options.functions)->check(CLI::Range(1, 10'000'000));
  app.add_option("--depth", options.depth, "mean frames of a stack")->check(CLI::Range(1, 2000));
  app.add_option("--seed", options.seed);
  app.add_option("--unique", options.unique, "share of stacks that are put together anew")
      ->check(CLI::Range(0.0, 1.0));
  CLI11_PARSE(app, argc, argv);
  Generator(options).run();
  const record::Finalized end = record::finalize(options.directory, {.store_more = store_views});
  if (!end.trouble.empty()) fmt::print(stderr, "{}\n", end.trouble);
  return end.trouble.empty() ? 0 : 1;
}
