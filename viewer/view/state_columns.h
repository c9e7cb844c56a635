// SPDX-License-Identifier: MIT
// The columns that run states give the view of threads: Inactive and Wait time, quanta, switches, affinity.
// Context: viewer.
#pragma once

#include <vector>

#include "viewer/analyze/thread_states.h"
#include "viewer/view/request.h"
#include "viewer/view/view.h"

namespace varve::view {

struct StateColumn;

class StateColumns {
 public:
  explicit StateColumns(const Source& source);

  void add_text_columns(Table& table) const;
  void add_data_columns(Table& table) const;
  /// Empty cells for a row that is no thread, or where nothing is known of it.
  void put_text(Table& table, ThreadId thread) const;
  void put_data(Table& table, ThreadId thread) const;
  /// Whether the thread was there in the time that is shown.
  bool any(ThreadId thread) const;

 private:
  const analyze::ThreadStates* of(ThreadId thread) const;

  bool in_text(const StateColumn& column) const;

  bool known_, of_waits_;
  std::vector<analyze::ThreadStates> states_;  // by thread
};

}  // namespace varve::view
