// SPDX-License-Identifier: MIT
// See descriptors.h.
// Context: viewer.
#include "viewer/load/descriptors.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace varve::load {
namespace {

/// What a descriptor was, as rows of Waits::names and of flows.
struct Named {
  uint32_t process;
  int32_t fd;
  uint64_t time_ns;
  uint32_t name, in, out;

  auto key() const { return std::tuple(process, fd, time_ns); }
};

/// Numbers of texts, from 0 on, which is the empty one.
class Numbers {
 public:
  Numbers() { of(""); }
  uint32_t of(const std::string& text) {
    return known_.try_emplace(text, uint32_t(known_.size())).first->second;
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> all(known_.size());
    for (const auto& [text, number] : known_) all[number] = text;
    return all;
  }

 private:
  std::map<std::string, uint32_t> known_;
};

/// The texts of all descriptors.
struct Texts {
  Numbers names, flows;
};

/// All that the agents noted, by process, number and time.
std::vector<Named> all_names(const std::vector<AgentFile>& agents, Texts& texts) {
  std::vector<Named> all;
  for (uint32_t process = 0; process < agents.size(); ++process)
    for (const AgentDescriptor& each : agents[process].descriptors)
      all.push_back({process, each.fd, each.time.count, texts.names.of(each.name), texts.flows.of(each.in),
                     texts.flows.of(each.out)});
  std::ranges::stable_sort(all, {}, &Named::key);
  return all;
}

/// What the descriptor of a process was at that time; null: nobody noted it.
const Named* find(const std::vector<Named>& all, uint32_t process, uint64_t object, uint64_t time_ns) {
  const auto fd = int32_t(object);
  const auto after = std::ranges::upper_bound(all, std::tuple(process, fd, time_ns), {}, &Named::key);
  if (after == all.begin()) return nullptr;
  const Named& last = *(after - 1);
  return last.process == process && last.fd == fd ? &last : nullptr;
}

/// What no hook saw may have another file under the number by which hooks saw one. A sum of waits by one look
/// at a file is of any number of them; of a pipe there is but one.
void name_by_look(Wait& wait, const std::vector<WaitLooks::File>& files, const Process& process,
                  Texts& texts) {
  const WaitLooks::File& file = files[wait.name - 1];
  const bool any = wait.is_sum() && file.looks < 2 && is_file_name(file.name);
  const std::string program = process.exe.substr(process.exe.rfind('/') + 1);
  wait.name = texts.names.of(any ? fmt::format("{}{}]", kSeveralFiles, program) : file.name);
  wait.flow = texts.flows.of(file.flow);
}

/// Of an image of a process: it was begun with them.
void find_pipe_ends(Waits& waits, const std::vector<Named>& all) {
  for (const Named& named : all) {
    const bool reads = named.fd == STDIN_FILENO;
    const uint32_t flow = reads ? named.in : named.out;
    if (named.fd >= STDIN_FILENO && named.fd <= STDERR_FILENO && flow != 0 &&
        is_pipe_name(waits.names[named.name]))
      waits.pipe_ends.push_back({flow, reads, {named.process}});
  }
  std::ranges::sort(waits.pipe_ends);
  waits.pipe_ends.erase(std::unique(waits.pipe_ends.begin(), waits.pipe_ends.end()), waits.pipe_ends.end());
}

}  // namespace

void name_descriptors(Profile& profile, const std::vector<AgentFile>& agents, const WaitLooks& looks) {
  Texts texts;
  const std::vector<Named> all = all_names(agents, texts);
  const auto noted = [&](ThreadId thread, uint64_t object, uint64_t time_ns) {
    return find(all, profile.threads[thread.index()].process.value, object, time_ns);
  };
  Waits& waits = profile.waits;
  for (Wait& wait : waits.waits) {
    if (!format::is_descriptor(wait.kind)) continue;
    if (wait.name != 0) {
      const ProcessId process = profile.threads[wait.thread.index()].process;
      name_by_look(wait, looks.files, profile.processes[process.index()], texts);
    } else if (const Named* what = noted(wait.thread, wait.object, wait.end_ns)) {
      wait.name = what->name;
      wait.flow = wait.object & format::kToSend ? what->out : what->in;
    }
    if (wait.kind == format::ObjectKind::kFileLock) wait.flow = 0;
  }
  // Who waits to send goes on when this one receives.
  for (Release& release : waits.releases) {
    if (release.kind != format::ObjectKind::kDescriptor) continue;
    if (const Named* what = noted(release.thread, release.object, release.time_ns))
      release.flow = release.object & format::kToSend ? what->in : what->out;
  }
  waits.names = texts.names.texts();
  find_pipe_ends(waits, all);
}

}  // namespace varve::load
