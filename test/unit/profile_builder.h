// SPDX-License-Identifier: MIT
// ProfileBuilder: small profiles for tests, written as the bytes of real files and read back by the loader,
// so that a test of an analysis also sees what the loader makes of a recording. Not the agent's writer: it
// keeps everything in memory and takes any order of calls. Context: tests.
#pragma once

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/observer_format.h"
#include "common/run_state.h"
#include "viewer/load/load.h"

namespace varve::test {

using Files = std::map<std::string, std::vector<uint8_t>>;

/// The file of process 100 where it is the first image.
inline constexpr const char* kAgent = "host-100-0.agent";

struct BuiltModule {
  std::string path;
  uint64_t start = 0, end = 0;  // one executable range
  uint64_t bias = 0;
  uint64_t load_time_ns = 0;
  uint64_t unload_time_ns = UINT64_MAX;
  std::vector<uint8_t> build_id = {};
};

struct BuiltSample {
  uint32_t thread;              // within its process
  std::vector<uint64_t> stack;  // runtime addresses, the root first
  uint64_t weight_ns = 10'000'000;
  uint64_t time_ns = 0;
  format::StackEnd end = format::StackEnd::kRoot;
  bool operator==(const BuiltSample&) const = default;
};

struct BuiltMark {
  format::MarkKind kind;
  uint32_t thread;  // within its process
  uint64_t time_ns;
  std::string name;
};

struct BuiltProcess {
  int32_t pid = 0, ppid = 1;
  uint32_t image = 0;
  std::string exe = "/usr/bin/program", cwd = "/tmp";
  std::vector<std::string> argv = {"program"};
  uint64_t start_time_ns = 0;
  format::ProcessRecord record{};  // end_time_ns, end_cpu_ns, start_cpu_ns, end_kind
  format::CountersRecord counters{};
  std::vector<format::ThreadRecord> threads;
  std::vector<BuiltModule> modules;
  std::vector<BuiltSample> samples;  // written in this order
  std::vector<BuiltMark> marks;
};

/// What an observer tells, in the order of calls: its records, each in the form of common/FORMAT.md. A chunk
/// more is begun by next_chunk().
class ObserverBuilder {
 public:
  bool seal = true;
  uint64_t start_time_ns = 0;  // of observation
  std::array<uint8_t, 16> session_id{};

  void track(uint32_t track, int32_t pid, int32_t tid, uint64_t time_ns, std::string name = "worker",
             bool start_seen = false, int32_t ppid = 1, int32_t own_tid = 0);
  void track_end(uint32_t track, uint64_t time_ns, uint32_t voluntary = format::kUnknownCount,
                 uint32_t involuntary = format::kUnknownCount);
  /// Consecutive ones are one record. Times of a chunk do not fall.
  void switched(uint64_t time_ns, uint32_t track, format::SwitchKind kind, uint64_t processor = 0);
  struct Swept {
    uint64_t track, run_ns, ready_ns, quanta = 1, processor = 0;
  };
  void sweep(uint64_t begin_ns, uint64_t length_ns, const std::vector<Swept>& threads);
  void wait(uint32_t track, uint64_t time_ns, WaitKind kind);
  void lost(uint64_t time_ns, uint64_t count);
  void next_chunk();
  /// Bytes as they are: what no observer writes.
  void raw(std::vector<uint8_t> bytes);

  bool empty() const { return chunks_.empty(); }
  std::vector<uint8_t> file() const;

 private:
  struct Chunk {
    uint64_t first_time_ns = 0;
    std::vector<uint8_t> records;
  };
  Chunk& chunk(uint64_t time_ns);
  void close_switches();

  std::vector<Chunk> chunks_;
  bool fresh_ = true;              // the next record begins a chunk
  std::vector<uint8_t> switches_;  // the body of an open record
  uint64_t switch_time_ns_ = 0;
};

class ProfileBuilder {
 public:
  ObserverBuilder observer;  // no file while it was told nothing
  /// Bytes of records a sample chunk takes before the next is begun; small values make many chunks.
  uint32_t sample_chunk_bytes = format::kSampleChunkBytes - sizeof(format::ChunkHeader);
  bool seal = true;
  bool with_session = true;
  std::vector<format::ControlChange> changes;  // of the recording's state

  /// Returns the index of the process; change its fields through process().
  size_t add_process(int32_t pid, std::string exe = "/usr/bin/program", uint32_t image = 0);
  BuiltProcess& process(size_t index) { return processes_[index]; }
  /// Returns the index within the process. The first thread of a process is its main thread.
  uint32_t add_thread(size_t process, int32_t tid, std::string name = "worker");
  void add_module(size_t process, BuiltModule module) {
    processes_[process].modules.push_back(std::move(module));
  }
  /// `stack` holds runtime addresses, the root first. Without a time it comes 1 ms after the last sample.
  void add_sample(size_t process, uint32_t thread, std::vector<uint64_t> stack,
                  uint64_t weight_ns = 10'000'000, uint64_t time_ns = 0,
                  format::StackEnd end = format::StackEnd::kRoot);
  void add_text(std::string key, std::string value) { texts_.emplace_back(std::move(key), std::move(value)); }
  void add_exit(int32_t pid, uint64_t user_ns, uint64_t system_ns, int32_t status = 0);

  /// Fills end_cpu and last_cpu of every thread and end_cpu of every process so that nothing is residual or
  /// lost.
  void close_accounts();

  /// The files of the profile: "session", "host-PID-IMAGE.agent" and "observer".
  Files files() const;
  /// Writes them into `directory`, which must exist.
  void write(const std::string& directory) const;
  /// load_files() of them.
  load::Profile load(const load::LoadOptions& options = {}) const;

 private:
  std::vector<uint8_t> session_file() const;
  std::vector<uint8_t> agent_file(const BuiltProcess& process) const;

  std::vector<BuiltProcess> processes_;
  std::vector<std::pair<std::string, std::string>> texts_;
  std::vector<format::ProcessExitRecord> exits_;
  uint64_t clock_ns_ = 0;
};

/// Files from memory; throws std::runtime_error with the loader's sentence.
load::Profile load_files(const Files& files, const load::LoadOptions& options = {});

/// A damage whose file, and after a blank its sentence, have `words`.
bool says(const load::Profile& profile, const std::string& words);

/// Sets the checksum of a chunk header that stands before its records, and marks it sealed.
void seal_chunk(std::vector<uint8_t>& file, size_t chunk_offset);

}  // namespace varve::test
