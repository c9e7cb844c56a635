// SPDX-License-Identifier: MIT
// Records of an agent file -> AgentFile. Not the decoder of samples.
// Context: viewer.
#include "viewer/load/agent_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <unordered_map>

namespace varve::load {
namespace {

using format::ChunkType;
using format::RecordHeader;
using format::RecordKind;

class AgentReader {
 public:
  explicit AgentReader(AgentFile& file) : file_(file) {}

  void use(RecordHeader header, ByteView record) {
    for (const auto& [kind, read] : kReaders)
      if (uint8_t(kind) == header.kind) return (this->*read)(record);
  }

 private:
  using Read = void (AgentReader::*)(ByteView);
  struct Entry {
    RecordKind kind;
    Read read;
  };

  void read_process(ByteView record) {
    auto body = record.read<format::ProcessRecord>();
    Process& process = file_.process;
    process.end_time = {body.end_time_ns};
    process.start_cpu = {body.start_cpu_ns};
    process.end_cpu = {body.end_cpu_ns};
    process.children_cpu = {body.children_cpu_ns};
    process.end_gap = {body.end_gap_ns};
    process.end = format::ImageEnd(body.end_kind);
    process.exe = record.read_text();
    process.cwd = record.read_text();
    process.argv.clear();
    for (uint32_t i = 0; i < body.argc; ++i) process.argv.emplace_back(record.read_text());
  }

  /// Fewer slots than we know come from an older agent, more from a newer one.
  void read_counters(ByteView record) {
    record.skip(sizeof(RecordHeader));
    uint32_t count = std::min(record.read<uint32_t>(), format::kCounterSlots);
    for (uint32_t i = 0; i < count; ++i) file_.process.counters[i] = record.read<uint64_t>();
  }

  void read_text(ByteView record) {
    record.skip(sizeof(RecordHeader));
    std::string key(record.read_text());
    file_.process.texts.emplace_back(std::move(key), record.read_text());
  }

  void read_module_load(ByteView record) {
    auto body = record.read<format::ModuleLoadRecord>();
    AgentModule module;
    module.index = body.module;
    module.bias = body.bias;
    module.span = {{body.start}, {body.end}};
    module.load_time = {body.time_ns};
    for (uint32_t i = 0; i < body.range_count; ++i) {
      Address begin{record.read<uint64_t>()};
      module.code.push_back({begin, {record.read<uint64_t>()}});
    }
    auto build_id = record.take(body.build_id_size).rest();
    module.build_id.assign(build_id.begin(), build_id.end());
    module.path = record.read_text();
    last_load_[module.index] = file_.modules.size();
    file_.modules.push_back(std::move(module));
  }

  /// The last load of this index before the unload is meant.
  void read_module_unload(ByteView record) {
    auto body = record.read<format::ModuleUnloadRecord>();
    auto load = last_load_.find(body.module);
    if (load == last_load_.end()) throw ParseError("unloads a module that was never loaded");
    file_.modules[load->second].unload_time = {body.time_ns};
  }

  void read_thread(ByteView record) { file_.threads.push_back(record.read<format::ThreadRecord>()); }

  /// A kind that we do not know comes from a newer agent.
  void read_mark(ByteView record) {
    auto body = record.read<format::MarkRecord>();
    if (body.header.flags > uint8_t(format::MarkKind::kResume)) return;
    AgentMark mark{format::MarkKind(body.header.flags), body.thread, {body.time_ns}, {}};
    mark.name = record.read_text().substr(0, format::kMostMarkNameBytes);
    file_.marks.push_back(std::move(mark));
  }

  void read_reaped(ByteView record) { file_.reaped.push_back(record.read<format::ProcessExitRecord>()); }

  void read_descriptor(ByteView record) {
    auto body = record.read<format::DescriptorRecord>();
    AgentDescriptor descriptor{body.fd, {body.time_ns}, std::string(record.read_text()), {}, {}};
    if (!record.empty()) descriptor.in = record.read_text();
    if (!record.empty()) descriptor.out = record.read_text();
    file_.descriptors.push_back(std::move(descriptor));
  }

  static constexpr std::array<Entry, 9> kReaders = {{
      {RecordKind::kProcess, &AgentReader::read_process},
      {RecordKind::kCounters, &AgentReader::read_counters},
      {RecordKind::kText, &AgentReader::read_text},
      {RecordKind::kModuleLoad, &AgentReader::read_module_load},
      {RecordKind::kModuleUnload, &AgentReader::read_module_unload},
      {RecordKind::kThread, &AgentReader::read_thread},
      {RecordKind::kMark, &AgentReader::read_mark},
      {RecordKind::kProcessExit, &AgentReader::read_reaped},
      {RecordKind::kDescriptor, &AgentReader::read_descriptor},
  }};

  AgentFile& file_;
  std::unordered_map<uint32_t, size_t> last_load_;  // by index of the module: row of AgentFile::modules
};

/// HOST of HOST-PID-IMAGE.agent; HOST may hold dashes itself.
std::string host_of(const std::string& name) {
  size_t image_dash = name.rfind('-');
  size_t pid_dash =
      image_dash == 0 || image_dash == std::string::npos ? image_dash : name.rfind('-', image_dash - 1);
  return pid_dash == std::string::npos ? "" : name.substr(0, pid_dash);
}

}  // namespace

tl::expected<AgentFile, std::string> read_agent_file(const FileSource& source, const std::string& name,
                                                     std::vector<Damage>& damages) {
  auto opened = source.open(name);
  if (!opened) return tl::unexpected(opened.error());
  const File& file = **opened;
  if (file.size() == 0) return tl::unexpected(std::string(kNoRoomForFile));
  auto header = read_file_header(file, format::FileKind::kAgent);
  if (!header) return tl::unexpected(header.error());

  AgentFile agent;
  agent.name = name;
  std::ranges::copy(header->session_id, agent.session_id.begin());
  Process& process = agent.process;
  process.pid = header->pid;
  process.ppid = header->ppid;
  process.image = header->image;
  process.host = host_of(name);
  process.start_time = {header->start_monotonic_ns};
  process.file_bytes = file.size();
  AgentReader reader(agent);
  for (const Chunk& chunk : list_chunks(file, name, *header, damages)) {
    agent.lost += chunk.header.lost;
    if (chunk.is(ChunkType::kSamples)) {
      agent.sample_chunks.push_back(chunk);
    } else if (chunk.is(ChunkType::kProcess) || chunk.is(ChunkType::kModules) ||
               chunk.is(ChunkType::kThreads) || chunk.is(ChunkType::kMarks)) {
      read_records(file, name, chunk, damages,
                   [&](RecordHeader h, ByteView record) { reader.use(h, record); });
    }
  }
  agent.lost = std::max(agent.lost, process.counter(format::Counter::kSamplesLost));
  return agent;
}

}  // namespace varve::load
