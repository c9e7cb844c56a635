// SPDX-License-Identifier: MIT
// Writes what ProfileBuilder was told as bytes of the format. Not the agent's writer.
// Context: tests.
#include "test/unit/profile_builder.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "common/varint.h"
#include "test/unit/built_bytes.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace varve::test {
namespace {

Bytes process_records(const BuiltProcess& process) {
  auto body = process.record;
  body.argc = uint32_t(process.argv.size());
  Bytes record = record_of(body);
  append_text(record, process.exe);
  append_text(record, process.cwd);
  for (const auto& argument : process.argv) append_text(record, argument);
  Bytes records;
  append_record(records, format::RecordKind::kProcess, 0, record);
  auto counters = process.counters;
  counters.count = uint32_t(format::Counter::kCount);
  append_record(records, format::RecordKind::kCounters, 0, record_of(counters));
  return records;
}

void append_module(Bytes& records, const BuiltModule& module, uint32_t index) {
  format::ModuleLoadRecord load{};
  load.module = index;
  load.time_ns = module.load_time_ns;
  load.bias = module.bias;
  load.start = module.start;
  load.end = module.end;
  load.range_count = 1;
  load.build_id_size = uint16_t(module.build_id.size());
  Bytes record = record_of(load);
  append(record, module.start);
  append(record, module.end);
  record.insert(record.end(), module.build_id.begin(), module.build_id.end());
  append_text(record, module.path);
  record.resize((record.size() + 7) / 8 * 8);
  append_record(records, format::RecordKind::kModuleLoad, 0, record);
  if (module.unload_time_ns == UINT64_MAX) return;
  format::ModuleUnloadRecord unload{};
  unload.module = index;
  unload.time_ns = module.unload_time_ns;
  append_record(records, format::RecordKind::kModuleUnload, 0, record_of(unload));
}

Bytes mark_records(const std::vector<BuiltMark>& marks) {
  Bytes records;
  for (const BuiltMark& mark : marks) {
    Bytes record = record_of(format::MarkRecord{{}, mark.thread, mark.time_ns});
    append_text(record, mark.name);
    record.resize((record.size() + 7) / 8 * 8);
    append_record(records, format::RecordKind::kMark, uint8_t(mark.kind), record);
  }
  return records;
}

/// Sample chunks of one process, a new one whenever the last is full.
class SampleChunks {
 public:
  SampleChunks(Bytes& file, uint32_t chunk_bytes, bool seal)
      : file_(file), chunk_bytes_(chunk_bytes), seal_(seal) {}

  void add(const BuiltSample& sample) {
    if (records_.empty()) begin(sample);
    Bytes record = encode(sample);
    if (records_.size() + record.size() + format::kMaxThreadSwitchBytes > chunk_bytes_) {
      finish();
      begin(sample);
      record = encode(sample);
    }
    if (sample.thread != thread_) {
      thread_ = sample.thread;
      Bytes number;
      append_varint(number, thread_);
      append_event(records_, format::RecordKind::kThreadSwitch, 0, number);
      previous_.clear();
      record = encode(sample);
    }
    append_varint(records_, record.size());
    records_.insert(records_.end(), record.begin(), record.end());
    previous_ = sample.stack;
    time_ns_ = sample.time_ns;
  }

  void finish() {
    if (records_.empty()) return;
    header_.last_time_ns = time_ns_;
    append_chunk(file_, header_, format::ChunkType::kSamples, records_, seal_);
    records_.clear();
  }

 private:
  void begin(const BuiltSample& sample) {
    header_ = {};
    header_.thread = thread_ = sample.thread;
    header_.sequence = sequence_++;
    header_.first_time_ns = time_ns_ = sample.time_ns;
    previous_.clear();
  }

  Bytes encode(const BuiltSample& sample) const {
    Bytes record(format::kMaxSampleBytes);
    uint8_t* out = record.data();
    *out++ = uint8_t(sample.end);
    size_t shared = size_t(std::ranges::mismatch(previous_, sample.stack).in1 - previous_.begin());
    const uint64_t delta = sample.time_ns - time_ns_;
    const uint64_t difference = zigzag(int64_t(sample.weight_ns - delta));
    const bool by_delta = difference < sample.weight_ns;
    if (by_delta) record[0] |= format::kSampleWeightByDelta;
    out = put_varint(out, delta);
    out = put_varint(out, by_delta ? difference : sample.weight_ns);
    out = put_varint(out, shared);
    out = put_varint(out, sample.stack.size() - shared);
    // The long form of each frame: what the agent's writer makes of it is in load_writer_test.
    for (size_t i = shared; i < sample.stack.size(); ++i) {
      *out++ = 0;
      out = put_varint(out, sample.stack[i]);
    }
    record.resize(size_t(out - record.data()));
    return record;
  }

  Bytes& file_;
  uint32_t chunk_bytes_;
  bool seal_;
  format::ChunkHeader header_{};
  Bytes records_;
  uint32_t thread_ = 0, sequence_ = 0;
  uint64_t time_ns_ = 0;
  std::vector<uint64_t> previous_;
};

}  // namespace

void seal_chunk(Bytes& file, size_t chunk_offset) {
  format::ChunkHeader header;
  std::memcpy(&header, file.data() + chunk_offset, sizeof header);
  header.flags |= format::kChunkSealed;
  header.checksum = XXH64(file.data() + chunk_offset + sizeof header, header.used, 0);
  std::memcpy(file.data() + chunk_offset, &header, sizeof header);
}

size_t ProfileBuilder::add_process(int32_t pid, std::string exe, uint32_t image) {
  BuiltProcess process;
  process.pid = pid;
  process.image = image;
  process.argv = {exe};
  process.exe = std::move(exe);
  process.start_time_ns = clock_ns_ += 1'000'000;
  processes_.push_back(std::move(process));
  return processes_.size() - 1;
}

uint32_t ProfileBuilder::add_thread(size_t process, int32_t tid, std::string name) {
  auto& threads = processes_[process].threads;
  format::ThreadRecord record{};
  record.index = uint32_t(threads.size());
  record.tid = tid;
  record.creator = threads.empty() ? format::kNoThread : 0;
  record.start_time_ns = processes_[process].start_time_ns;
  std::memcpy(record.name, name.data(), std::min(name.size(), sizeof record.name - 1));
  threads.push_back(record);
  return record.index;
}

void ProfileBuilder::add_sample(size_t process, uint32_t thread, std::vector<uint64_t> stack,
                                uint64_t weight_ns, uint64_t time_ns, format::StackEnd end) {
  clock_ns_ = time_ns ? time_ns : clock_ns_ + 1'000'000;
  processes_[process].samples.push_back({thread, std::move(stack), weight_ns, clock_ns_, end});
}

void ProfileBuilder::add_exit(int32_t pid, uint64_t user_ns, uint64_t system_ns, int32_t status) {
  format::ProcessExitRecord record{};
  record.pid = pid;
  record.status = status;
  record.user_ns = user_ns;
  record.system_ns = system_ns;
  record.time_ns = clock_ns_;
  exits_.push_back(record);
}

void ProfileBuilder::close_accounts() {
  for (auto& process : processes_) {
    uint64_t total = process.record.start_cpu_ns;
    for (auto& thread : process.threads) {
      thread.last_cpu_ns = thread.start_cpu_ns + thread.paused_ns;
      for (const auto& sample : process.samples)
        if (sample.thread == thread.index) thread.last_cpu_ns += sample.weight_ns;
      thread.end_cpu_ns = thread.last_cpu_ns;
      thread.end_time_ns = clock_ns_;
      total += thread.end_cpu_ns - thread.start_cpu_ns;
    }
    process.record.end_cpu_ns = total;
    process.record.end_time_ns = clock_ns_;
    if (process.record.end_kind == 0) process.record.end_kind = uint32_t(format::ImageEnd::kExit);
  }
}

std::vector<uint8_t> ProfileBuilder::session_file() const {
  BuiltProcess recorder;
  recorder.pid = 1;
  Bytes file = begin_file(format::FileKind::kSession, recorder);
  format::ControlBlock control{};
  control.state = uint32_t(format::ControlState::kRecording);
  control.interval_ns = 10'000'000;
  control.stack_depth = 1024;
  control.changes = uint32_t(changes.size());
  Bytes control_bytes = record_of(control);
  for (const auto& change : changes) append(control_bytes, change);
  append_chunk(file, threadless(), format::ChunkType::kControl, control_bytes, false);
  Bytes records;
  for (const auto& [key, value] : texts_) {
    Bytes record(sizeof(format::RecordHeader));
    append_text(record, key);
    append_text(record, value);
    append_record(records, format::RecordKind::kText, 0, record);
  }
  for (const auto& exit : exits_)
    append_record(records, format::RecordKind::kProcessExit, 0, record_of(exit));
  append_chunk(file, threadless(), format::ChunkType::kSession, records, seal);
  return file;
}

std::vector<uint8_t> ProfileBuilder::agent_file(const BuiltProcess& process) const {
  Bytes file = begin_file(format::FileKind::kAgent, process);
  append_chunk(file, threadless(), format::ChunkType::kProcess, process_records(process), seal);
  Bytes modules;
  for (uint32_t i = 0; i < process.modules.size(); ++i) append_module(modules, process.modules[i], i);
  append_chunk(file, threadless(), format::ChunkType::kModules, modules, seal);
  Bytes threads;
  for (const auto& thread : process.threads) {
    uint8_t flags = thread.header.flags | (thread.index == 0 ? format::kThreadMain : 0);
    append_record(threads, format::RecordKind::kThread, flags, record_of(thread));
  }
  append_chunk(file, threadless(), format::ChunkType::kThreads, threads, seal);
  if (!process.marks.empty())
    append_chunk(file, threadless(), format::ChunkType::kMarks, mark_records(process.marks), seal);
  SampleChunks samples(file, sample_chunk_bytes, seal);
  for (const auto& sample : process.samples) samples.add(sample);
  samples.finish();
  return file;
}

Files ProfileBuilder::files() const {
  Files files;
  if (with_session) files[format::kSessionFile] = session_file();
  for (const auto& process : processes_) {
    auto name =
        "host-" + std::to_string(process.pid) + "-" + std::to_string(process.image) + format::kAgentSuffix;
    files[name] = agent_file(process);
  }
  if (!observer.empty()) files[format::kObserverFile] = observer.file();
  return files;
}

void ProfileBuilder::write(const std::string& directory) const {
  for (const auto& [name, bytes] : files()) {
    std::ofstream file(directory + "/" + name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
    if (!file) throw std::runtime_error("cannot write " + directory + "/" + name);
  }
}

load::Profile ProfileBuilder::load(const load::LoadOptions& options) const {
  return load_files(files(), options);
}

load::Profile load_files(const Files& files, const load::LoadOptions& options) {
  auto profile = load::load(load::MemorySource(files), "built", options);
  if (!profile) throw std::runtime_error(profile.error());
  return std::move(*profile);
}

bool says(const load::Profile& profile, const std::string& words) {
  return std::ranges::any_of(profile.damages, [&](const load::Damage& damage) {
    return (damage.file + " " + damage.sentence).find(words) != std::string::npos;
  });
}

}  // namespace varve::test
