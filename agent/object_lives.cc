// SPDX-License-Identifier: MIT
// Objects that are made and destroyed. See wait_trace.h.
// Context: any thread of the target, its signal handlers included.
#include "agent/allowance.h"
#include "agent/signal/agent_state.h"
#include "agent/signal/clock.h"
#include "agent/wait_records.h"

namespace varve::agent {
namespace {

using format::ObjectKind;

/// A thousand each a second, and four thousand at once: a Java machine begins with a thousand. Who makes
/// objects all the time makes them at one place.
constinit Allowance creations{1'000'000, 4'000'000'000}, destructions{1'000'000, 4'000'000'000};

bool write_life(ObjectKind kind, const void* object, bool made, Allowance& allowance) {
  if (!current_block || !current_block->live || !has_room(*current_block, &kind)) return false;
  if (!allowance.has_any(recent_ns())) return false;
  const uint64_t now = monotonic_ns();
  return allowance.take(now) &&
         write_now({format::RecordKind::kCreation, kind, object_of(object), now, 0, uint64_t(made)},
                   made ? Detail::kNameAndStack : Detail::kNone);
}

void note_life(ObjectKind kind, const void* object, bool made, Allowance& allowance) {
  if (traces_waits() && !write_life(kind, object, made, allowance))
    wait_trace.unknown_lives.add(object_of(object));
}

}  // namespace

void note_creation(ObjectKind kind, const void* object) { note_life(kind, object, true, creations); }
void note_destruction(ObjectKind kind, const void* object) { note_life(kind, object, false, destructions); }

}  // namespace varve::agent
