// SPDX-License-Identifier: MIT
// ObjectKey: what a thread waits for, as threads of its process know it. Context: viewer.
#pragma once

#include <compare>

#include "viewer/load/profile.h"

namespace varve::analyze {

struct ObjectKey {
  ProcessId process;  // none: of any, the name says which
  format::ObjectKind kind = format::ObjectKind::kNone;
  uint64_t address = 0;   // see format::ObjectKind
  uint32_t name = 0;      // load::Wait::name
  uint32_t creation = 0;  // load::Wait::creation: an address may be one object after the other
  constexpr auto operator<=>(const ObjectKey&) const = default;
};

/// A descriptor's number may be one file after the other, and a file may have several: where its name is
/// known that is all there is to it, and of a pipe whether there was no room or nothing in it.
inline ObjectKey key_of(const load::Profile& profile, const load::Wait& wait) {
  const ProcessId process = profile.threads[wait.thread.index()].process;
  const std::string& name = profile.waits.names[wait.name];
  const bool of_program = name.starts_with(load::kSeveralFiles);
  const uint64_t full = load::is_pipe_name(name) ? wait.object & format::kToSend : 0;
  if (wait.name != 0) return {of_program ? ProcessId::none() : process, wait.kind, full, wait.name};
  const uint64_t number = format::is_descriptor(wait.kind) ? uint32_t(wait.object) : wait.object;
  return {process, wait.kind, number, 0, wait.creation};
}

/// Of a lock one thread after the other has it; anything else is a message.
constexpr bool is_lock(format::ObjectKind kind) {
  return kind == format::ObjectKind::kMutex || kind == format::ObjectKind::kRwLock;
}

}  // namespace varve::analyze
