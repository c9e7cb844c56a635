// SPDX-License-Identifier: MIT
// Puts the files of a run together: processes, modules, threads, then the samples, then the ledger.
// Context: viewer.
#include "viewer/load/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

#include "viewer/load/agent_file.h"
#include "viewer/load/chunk_pipeline.h"
#include "viewer/load/complete_session.h"
#include "viewer/load/creations.h"
#include "viewer/load/cut_files.h"
#include "viewer/load/decoded_file.h"
#include "viewer/load/descriptors.h"
#include "viewer/load/first_ticks.h"
#include "viewer/load/index_threads.h"
#include "viewer/load/join_tracks.h"
#include "viewer/load/ledger.h"
#include "viewer/load/ledger_times.h"
#include "viewer/load/lifetimes.h"
#include "viewer/load/marks.h"
#include "viewer/load/object_sites.h"
#include "viewer/load/observed_waits.h"
#include "viewer/load/observer_file.h"
#include "viewer/load/path_tree.h"
#include "viewer/load/reaped.h"
#include "viewer/load/refusals.h"
#include "viewer/load/sample_table.h"
#include "viewer/load/session_file.h"
#include "viewer/load/start_sites.h"
#include "viewer/load/switch_costs.h"
#include "viewer/load/tick_moments.h"
#include "viewer/load/track_ends.h"
#include "viewer/load/wait_kinds.h"
#include "viewer/load/wait_rows.h"

namespace varve::load {
namespace {

class Loader {
 public:
  Loader(const FileSource& source, const std::string& path, const LoadOptions& options)
      : source_(source), options_(options) {
    profile_.directory = path;
  }

  tl::expected<Profile, std::string> load() {
    read_agent_files();
    const bool session = read_session();
    if (!session && !agents_.empty()) profile_.session.id = agents_.front().session_id;
    if (agents_.empty() && !session)
      return tl::unexpected(
          fmt::format("cannot read the profile {}: {}", profile_.directory, first_refusal()));
    for (uint32_t i = 0; i < agents_.size(); ++i) add_process({i});
    complete_session(profile_);
    early_ = early_ticks(profile_.session);
    forget_after_stop(profile_);
    PathTree tree(profile_);
    profile_.sample_inputs = hash_inputs(sample_sources_, profile_);
    profile_.without_samples = !options_.samples;
    if (options_.samples && !adopt_samples(tree)) add_samples(tree);
    add_run_states();
    if (options_.samples) add_observed_waits(profile_, tree, looks_);
    tell_wait_kinds(profile_);
    name_descriptors(profile_, agents_, looks_);
    find_creations(profile_);
    add_reaped(profile_, std::move(reaped_), changes_);
    const auto ledger = options_.samples ? add_ledger(tree) : std::vector<LedgerRow>();
    index_threads(profile_);
    complete_elapsed(profile_, facts_);
    complete_processors(profile_);
    add_marks();
    complete_track_ends(profile_, facts_);
    complete_lifetimes(profile_, facts_);
    if (options_.samples) profile_.samples = finish_samples(ledger);
    if (options_.dated) date_samples_by_ticks(profile_);
    if (source_.whole()) find_cut_files(source_, profile_.session, lengths_, profile_.damages);
    return std::move(profile_);
  }

 private:
  void read_agent_files();
  bool read_session();
  void drop_strangers(const SessionId& id);
  std::string first_refusal() const;
  void add_process(ProcessId id);
  void add_mapping(ProcessId process, AgentModule& module);
  void add_thread(ProcessId process, const format::ThreadRecord& record);
  ThreadId thread_of(uint32_t process, uint32_t index);
  bool adopt_samples(PathTree& tree);
  void add_samples(PathTree& tree);
  void add_chunk(const DecodedChunk& chunk, PathTree& tree);
  std::vector<LedgerRow> add_ledger(PathTree& tree);
  Samples finish_samples(const std::vector<LedgerRow>& ledger);
  void add_marks();
  void add_run_states();

  const FileSource& source_;
  const LoadOptions& options_;
  Profile profile_;
  std::vector<AgentFile> agents_;  // by process
  std::vector<SampleSource> sample_sources_;
  std::map<std::pair<std::string, std::vector<uint8_t>>, ModuleId> modules_;
  std::vector<std::unordered_map<uint32_t, ThreadId>> threads_;  // by process, then by index within the file
  std::vector<uint64_t> start_routines_;                         // by thread: addresses, 0 where not known
  std::vector<ThreadFacts> facts_;                               // by thread
  SampleTable table_;
  WaitRows wait_rows_{profile_.waits};
  std::vector<PathId> chunk_paths_;
  std::vector<format::ControlChange> changes_;  // of the recording's state
  EarlyTicks early_;
  uint64_t sample_bytes_ = 0;  // of the chunks added so far
  std::vector<format::ProcessExitRecord> reaped_;
  WaitLooks looks_;
  std::vector<FileLength> lengths_;
};

void Loader::read_agent_files() {
  for (const std::string& name : source_.names()) {
    if (auto file = source_.open(name)) profile_.bytes += (*file)->size();
    if (std::ranges::find(format::kFilesOfRun, name) != std::end(format::kFilesOfRun)) continue;
    if (name.ends_with(format::kRefusedSuffix)) {
      if (const auto refusal = refusal_of(name)) profile_.refusals.push_back(*refusal);
      continue;
    }
    if (auto agent = read_agent_file(source_, name, profile_.damages))
      agents_.push_back(std::move(*agent));
    else
      profile_.damages.push_back({name, agent.error(), 0});
  }
  std::ranges::sort(agents_, {}, [](const AgentFile& agent) {
    return std::tuple(agent.process.start_time, agent.process.pid, agent.process.image, agent.name);
  });
}

/// False where there is none, or none that can be read: the agents' files are shown all the same.
bool Loader::read_session() {
  bool there = std::ranges::count(source_.names(), format::kSessionFile) > 0;
  if (!there) {
    if (source_.whole()) profile_.damages.push_back({format::kSessionFile, "is missing", 0});
    return false;
  }
  auto session = read_session_file(source_, profile_.damages);
  if (!session) {
    profile_.damages.push_back({format::kSessionFile, session.error(), 0});
    return false;
  }
  profile_.session = std::move(session->session);
  profile_.session.id = session->id;
  changes_ = std::move(session->changes);
  reaped_ = std::move(session->exits);
  drop_strangers(session->id);
  lengths_ = std::move(session->lengths);
  return true;
}

/// Files of another run must not be added to this one's ledger.
void Loader::drop_strangers(const SessionId& id) {
  std::erase_if(agents_, [&](const AgentFile& agent) {
    if (agent.session_id == id) return false;
    profile_.damages.push_back({agent.name, "belongs to another run", agent.process.file_bytes});
    return true;
  });
}

std::string Loader::first_refusal() const {
  if (profile_.damages.empty()) return "it holds no file of a profile";
  const Damage& damage = profile_.damages.front();
  return fmt::format("{} {}", damage.file, damage.sentence);
}

void Loader::add_process(ProcessId id) {
  AgentFile& agent = agents_[id.index()];
  auto first_mapping = uint32_t(profile_.mappings.size());
  for (AgentModule& module : agent.modules) add_mapping(id, module);
  sample_sources_.push_back({&agent, id.value, first_mapping, uint32_t(profile_.mappings.size())});
  std::ranges::copy(agent.reaped, std::back_inserter(reaped_));
  profile_.lost_samples += agent.lost;
  profile_.processes.push_back(agent.process);
  threads_.emplace_back();
  std::ranges::stable_sort(agent.threads, {}, &format::ThreadRecord::index);
  for (const auto& record : agent.threads) add_thread(id, record);
}

void Loader::add_mapping(ProcessId process, AgentModule& module) {
  auto [known, added] =
      modules_.try_emplace({module.path, module.build_id}, ModuleId{uint32_t(profile_.modules.size())});
  if (added) {
    Module row;
    row.path = module.path;
    row.build_id = module.build_id;
    profile_.modules.push_back(std::move(row));
  }
  Mapping mapping;
  mapping.process = process;
  mapping.module = known->second;
  mapping.bias = module.bias;
  mapping.span = module.span;
  mapping.code = std::move(module.code);
  mapping.load_time = module.load_time;
  mapping.unload_time = module.unload_time;
  profile_.mappings.push_back(std::move(mapping));
}

void Loader::add_thread(ProcessId process, const format::ThreadRecord& record) {
  ThreadId id{uint32_t(profile_.threads.size())};
  if (!threads_[process.index()].try_emplace(record.index, id).second) {
    profile_.damages.push_back(
        {agents_[process.index()].name, fmt::format("describes thread {} twice", record.index), 0});
    return;
  }
  Thread thread;
  thread.process = process;
  thread.tid = record.tid;
  thread.name.assign(record.name, strnlen(record.name, sizeof record.name));
  thread.is_main = record.header.flags & format::kThreadMain;
  thread.no_timer = record.header.flags & format::kThreadNoTimer;
  thread.timer_errno = thread.no_timer ? record.timer_errno : 0;
  thread.end_estimated = record.header.flags & format::kThreadEndEstimated;
  if (const auto creator = threads_[process.index()].find(record.creator);
      creator != threads_[process.index()].end() && record.creator != record.index) {
    thread.creator = creator->second;
    thread.created = {record.start_time_ns - std::min<uint64_t>(record.created_ago_ns, record.start_time_ns)};
  }
  thread.start_time = thread.told_start = {record.start_time_ns};
  thread.end_time = thread.told_end = {record.end_time_ns};
  thread.start_cpu = {record.start_cpu_ns};
  thread.end_cpu = {record.end_cpu_ns};
  thread.last_cpu = {record.last_cpu_ns};
  thread.handler = {record.handler_ns};
  thread.paused = {record.paused_ns};
  thread.ticks = record.ticks;
  thread.overruns = record.overruns;
  thread.interval_doublings = std::min<uint32_t>(record.interval_doublings, format::kMostIntervalDoublings);
  profile_.threads.push_back(std::move(thread));
  start_routines_.push_back(record.start_routine);
  facts_.push_back({.last_look = {record.end_time_ns}});
}

/// Samples of a thread whose own record is damaged still belong to a thread.
ThreadId Loader::thread_of(uint32_t process, uint32_t index) {
  auto known = threads_[process].find(index);
  if (known != threads_[process].end()) return known->second;
  profile_.damages.push_back(
      {agents_[process].name, fmt::format("has samples of thread {}, which it does not describe", index), 0});
  format::ThreadRecord record{};
  record.index = index;
  std::memcpy(record.name, "unknown", sizeof "unknown");
  add_thread({process}, record);
  return threads_[process].at(index);
}

/// From the file that holds them decoded already. False: there is none, or none that may be believed.
bool Loader::adopt_samples(PathTree& tree) {
  auto decoded = read_decoded_file(source_, profile_, profile_.sample_inputs);
  if (!decoded || !tree.adopt(decoded->owners, decoded->sites, std::move(decoded->paths))) return false;
  wait_rows_.adopt(*decoded);
  size_t row = 0;
  for (const format::DecodedRun& run : decoded->runs) {
    Thread& thread = profile_.threads[run.thread];
    thread.samples = run.samples;
    for (const size_t end = row + run.samples; row < end; ++row) thread.sampled += {decoded->weight_ns[row]};
    facts_[run.thread].last_sample = {decoded->time_ns[row - 1]};
    note_first(facts_[run.thread], decoded->time_ns[row - run.samples], decoded->weight_ns[row - run.samples],
               decoded->leaf[row - run.samples], row - run.samples);
    profile_.sampled += thread.sampled;
  }
  table_.adopt(*std::move(decoded));
  profile_.sample_count = table_.size();
  return true;
}

void Loader::add_samples(PathTree& tree) {
  const size_t damages = profile_.damages.size();
  std::vector<ChunkTask> tasks;
  uint64_t bytes = 0;
  for (const SampleSource& source : sample_sources_)
    for (const Chunk& chunk : source.file->sample_chunks) {
      tasks.push_back({&source, &chunk});
      bytes += chunk.readable;
    }
  tree.expect(bytes);
  uint64_t done = 0;
  decode_in_order(tasks, profile_.mappings, source_, options_.threads, [&](DecodedChunk&& chunk) {
    add_chunk(chunk, tree);
    if (options_.progress) options_.progress(done += chunk.bytes, bytes);
  });
  profile_.sample_count = table_.size();
  profile_.waits.sort();
  if (profile_.damages.size() > damages) profile_.sample_inputs = 0;
}

void Loader::add_chunk(const DecodedChunk& chunk, PathTree& tree) {
  std::ranges::copy(chunk.damages, std::back_inserter(profile_.damages));
  tree.learn(chunk);
  // Indexes of paths and samples have 32 bits. A real stack takes a byte for sixteen frames at the least, and
  // most frames are known; a file with more paths than that is made up to cost memory.
  constexpr size_t kMostRows = std::numeric_limits<uint32_t>::max() / 2, kMostPathsPerByte = 16;
  const bool bomb =
      profile_.paths.size() > kMostPathsPerByte * (sample_bytes_ += chunk.bytes) + kMostRows / 1024;
  if (bomb || profile_.paths.size() > kMostRows || table_.size() > kMostRows) {
    profile_.damages.push_back({agents_[chunk.process].name,
                                fmt::format("has {} samples too many to be shown", chunk.samples.size()), 0});
    return;
  }
  chunk_paths_.clear();
  tree.add(chunk, chunk_paths_);
  const DecodedEvent* event = chunk.events.data();
  for (size_t run = 0; run < chunk.runs.size(); ++run) {
    uint32_t first = chunk.runs[run].first;
    uint32_t end = run + 1 < chunk.runs.size() ? chunk.runs[run + 1].first : uint32_t(chunk.samples.size());
    if (first == end) continue;
    ThreadId id = thread_of(chunk.process, chunk.runs[run].thread);
    table_.begin_run(id);
    uint64_t sum = 0;
    Nanos& last = facts_[id.index()].last_sample;
    Thread& thread = profile_.threads[id.index()];
    for (uint32_t row = first; row < end; ++row) {
      const DecodedSample& sample = chunk.samples[row];
      if (sample.is_event) {
        wait_rows_.add(*event++, id, chunk_paths_[row]);
        continue;
      }
      // What no run can have used comes from a damaged file; sums must not wrap.
      uint64_t weight = std::min(sample.weight_ns, kMostCpuNs - profile_.sampled.count - sum);
      const uint64_t early =
          early_part(thread, facts_[id.index()], early_, thread.sampled.count + sum, weight);
      if (early != 0) table_.add_weight(facts_[id.index()].first_row, early);
      note_first(facts_[id.index()], sample.time_ns, weight, chunk_paths_[row], table_.size());
      table_.add(sample.time_ns, weight - early, chunk_paths_[row]);
      sum += weight;
      ++thread.samples;
      last = std::max(last, Nanos{sample.time_ns});
    }
    thread.sampled += {sum};
    profile_.sampled += {sum};
  }
}

std::vector<LedgerRow> Loader::add_ledger(PathTree& tree) {
  find_start_sites(profile_, sample_sources_, start_routines_, tree, facts_);
  find_object_sites(profile_, tree);
  facts_.resize(profile_.threads.size());  // of threads without an agent nothing more is known
  return make_ledger(profile_, tree, facts_);
}

Samples Loader::finish_samples(const std::vector<LedgerRow>& ledger) {
  facts_.resize(profile_.threads.size());
  table_.add_ledger(place_at_first_ticks(profile_, facts_, place_in_time(profile_, facts_, ledger)));
  return table_.finish();
}

/// What the programs said themselves, and who paused what.
void Loader::add_marks() {
  add_run_pauses(profile_, std::move(changes_));
  for (uint32_t i = 0; i < agents_.size(); ++i)
    add_process_marks(profile_, {i}, agents_[i].marks, [&](uint32_t index) {
      auto known = threads_[i].find(index);
      return known == threads_[i].end() ? ThreadId::none() : known->second;
    });
  sort_marks(profile_);
}

/// Where nothing observed the threads there is no such file, and the session says why.
void Loader::add_run_states() {
  if (!std::ranges::count(source_.names(), format::kObserverFile)) return;
  auto observer = read_observer_file(source_, profile_.damages);
  if (!observer) {
    profile_.damages.push_back({format::kObserverFile, observer.error(), 0});
  } else if (observer->id != profile_.session.id) {
    profile_.damages.push_back({format::kObserverFile, "belongs to another run", 0});
  } else {
    profile_.run_states = std::move(observer->states);
    looks_ = std::move(observer->looks);
    join_tracks(profile_);
    begin_turns_when_charged(profile_, facts_);
  }
}

}  // namespace

tl::expected<Profile, std::string> load(const FileSource& source, const std::string& path,
                                        const LoadOptions& options) {
  return Loader(source, path, options).load();
}

tl::expected<Profile, std::string> load(const std::string& path, const LoadOptions& options) {
  auto source = DirectorySource::make(path);
  if (!source) return tl::unexpected(source.error());
  return load(**source, path, options);
}

}  // namespace varve::load
