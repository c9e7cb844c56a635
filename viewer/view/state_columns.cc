// SPDX-License-Identifier: MIT
// See state_columns.h.
// Context: viewer.
#include "viewer/view/state_columns.h"

namespace varve::view {

using analyze::ThreadStates;

struct StateColumn {
  const char* title;  // in text; empty: only for scripts
  const char* id;
  Unit unit;
  int spare;
  Cell (*cell)(const ThreadStates&);
};

namespace {

Cell quantum(const ThreadStates& states) {
  return states.quanta ? Cell(states.running_ns / states.quanta) : Cell();
}
Cell switches(const ThreadStates& states, uint64_t ThreadStates::*count) {
  return states.switches_known ? Cell(states.*count) : Cell();
}
Cell wait_of(const ThreadStates& states, WaitKind kind) { return states.wait_ns[size_t(kind)]; }

const StateColumn kStateColumns[] = {
    {"Inactive", "inactive_ns", Unit::kTime, 8, [](const ThreadStates& s) { return Cell(s.ready_ns); }},
    {"Wait", "wait_ns", Unit::kTime, 9, [](const ThreadStates& s) { return Cell(s.waiting_ns()); }},
    {"Quanta", "quanta", Unit::kCount, 2, [](const ThreadStates& s) { return Cell(s.quanta); }},
    {"", "quantum_ns", Unit::kTime, 0, quantum},
    {"", "switches_voluntary", Unit::kCount, 0,
     [](const ThreadStates& s) { return switches(s, &ThreadStates::voluntary); }},
    {"", "switches_involuntary", Unit::kCount, 0,
     [](const ThreadStates& s) { return switches(s, &ThreadStates::involuntary); }},
    {"Affinity%", "affinity", Unit::kShare, 1, [](const ThreadStates& s) { return Cell(s.affinity()); }},
    {"", "processors_used", Unit::kCount, 0,
     [](const ThreadStates& s) { return Cell(uint64_t(s.processors.size())); }},
    {"", "wait_lock_ns", Unit::kTime, 0, [](const ThreadStates& s) { return wait_of(s, WaitKind::kLock); }},
    {"", "wait_condition_ns", Unit::kTime, 0,
     [](const ThreadStates& s) { return wait_of(s, WaitKind::kCondition); }},
    {"", "wait_io_ns", Unit::kTime, 0, [](const ThreadStates& s) { return wait_of(s, WaitKind::kIo); }},
    {"", "wait_sleep_ns", Unit::kTime, 0, [](const ThreadStates& s) { return wait_of(s, WaitKind::kSleep); }},
    {"", "wait_join_ns", Unit::kTime, 0, [](const ThreadStates& s) { return wait_of(s, WaitKind::kJoin); }},
    {"", "wait_other_ns", Unit::kTime, 0, [](const ThreadStates& s) { return wait_of(s, WaitKind::kOther); }},
};

constexpr std::string_view kWaitColumn = "wait_ns";

}  // namespace

StateColumns::StateColumns(const Source& source)
    : known_(source.concurrency != nullptr && source.concurrency->known()), of_waits_(source.of_waits) {
  if (known_) states_ = analyze::settled_states(source.profile, source.concurrency->levels.range());
}

/// Where waits are what is counted, the first column has them.
bool StateColumns::in_text(const StateColumn& column) const {
  return *column.title != '\0' && !(of_waits_ && column.id == kWaitColumn);
}

bool StateColumns::any(ThreadId thread) const {
  const ThreadStates* states = of(thread);
  return states && states->running_ns + states->ready_ns + states->waiting_ns() > 0;
}

const ThreadStates* StateColumns::of(ThreadId thread) const {
  return known_ && thread.valid() && states_[thread.index()].known ? &states_[thread.index()] : nullptr;
}

void StateColumns::add_text_columns(Table& table) const {
  for (const StateColumn& column : kStateColumns)
    if (in_text(column))
      table.columns.push_back({"", known_ ? column.title : "", column.unit, false, -1, column.spare});
}

void StateColumns::add_data_columns(Table& table) const {
  for (const StateColumn& column : kStateColumns) table.columns.push_back({column.id, "", column.unit});
}

void StateColumns::put_text(Table& table, ThreadId thread) const {
  const ThreadStates* states = of(thread);
  for (const StateColumn& column : kStateColumns)
    if (in_text(column)) table.put({states ? column.cell(*states) : Cell()});
}

void StateColumns::put_data(Table& table, ThreadId thread) const {
  const ThreadStates* states = of(thread);
  for (const StateColumn& column : kStateColumns) table.put({states ? column.cell(*states) : Cell()});
}

}  // namespace varve::view
