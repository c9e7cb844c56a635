// SPDX-License-Identifier: MIT
// See stack_looks.h.
// Context: viewer.
#include "viewer/record/observe/stack_looks.h"

#include <fmt/format.h>

#include "common/session_keys.h"
#include "viewer/record/clock.h"
#include "viewer/record/observe/proc_file.h"
#include "viewer/record/observe/remote_memory.h"
#include "viewer/record/observe/stack_walk.h"

namespace varve::record::observe {
namespace {

/// A run of ten thousand processes must not keep a map of each; those that are missed are read again.
constexpr size_t kMostMaps = 256;
/// Likewise of descriptors that were told.
constexpr size_t kMostFiles = 4096;

}  // namespace

std::optional<uint64_t> StackLooks::turns(const Thread& thread) const {
  if (!wanted_ || refused_.contains(thread.process)) return {};
  char buffer[128];
  const ProcRead read = thread.schedstat >= 0 ? read_open(thread.schedstat, buffer)
                                              : read_task(thread.process, thread.thread, "schedstat", buffer);
  const auto sums = parse_schedstat(read.text);
  if (!sums) return {};
  return sums->switched_in;
}

bool StackLooks::look(const Thread& thread, const SyscallLook& call, uint64_t turns) {
  if (call.number < 0 || call.program_counter == 0) return false;
  if (maps_.size() >= kMostMaps && !maps_.contains(thread.process)) maps_.clear();
  CodeMap& map = maps_.try_emplace(thread.process, thread.process).first->second;
  RemoteMemory memory(thread.process);
  const Nanos now = clock_now(CLOCK_MONOTONIC);
  const SeenStack stack = walk_stack(map, files_, memory, call.program_counter, call.stack_pointer, now);
  if (memory.refused()) return refuse(thread.process), false;
  const auto file = stack.in_hook ? std::nullopt : awaited_file(thread.process, thread.thread, call);
  const auto after = this->turns(thread);
  if (after != turns) {
    ++moved_;
    return stack.in_hook;
  }
  ++taken_;
  for (const SeenFrame& frame : stack.frames) tell_module(frame.module);
  if (file) tell_file(thread, now, *file);
  writer_.wait_stack(thread.track, now, call, stack, file.has_value());
  return stack.in_hook;
}

void StackLooks::tell_module(uint32_t index) {
  if (index == CodeFiles::kNone || !told_.insert(index).second) return;
  const SeenModule& module = files_.row(index);
  writer_.wait_module(index, module.path, module.file->build_id());
}

void StackLooks::tell_file(const Thread& thread, Nanos now, const SeenFile& file) {
  const std::pair number(thread.process, file.fd);
  if (told_files_.size() >= kMostFiles && !told_files_.contains(number)) told_files_.clear();
  SeenFile& last = told_files_[number];
  if (last == file) return;
  last = file;
  writer_.wait_file(thread.track, now, file);
}

void StackLooks::refuse(pid_t process) {
  if (wanted_ && refused_.insert(process).second) ++refusals_;
  maps_.erase(process);
}

void StackLooks::add_facts(std::vector<std::pair<std::string, std::string>>& facts) const {
  const auto add = [&](const char* key, uint64_t number) {
    if (number) facts.emplace_back(key, fmt::format("{}", number));
  };
  add(session_key::kObserverStacks, taken_);
  add(session_key::kObserverStacksMoved, moved_);
  add(session_key::kObserverRefusedProcesses, refusals_);
}

}  // namespace varve::record::observe
