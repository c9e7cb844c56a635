// SPDX-License-Identifier: MIT
// ThreadSweeps: run states where the kernel does not show context switches: a look at the sums that it keeps
// of every thread, again and again. Between two looks the order of things is unknown, so the time between
// them is the resolution: 10 ms, and more where that many looks would take more than a hundredth of one
// processor. With some thousand threads it is some hundred milliseconds.
// Context: viewer; the observer's thread.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "viewer/record/observe/cpu_budget.h"
#include "viewer/record/observe/observer_writer.h"
#include "viewer/record/observe/proc_file.h"
#include "viewer/record/observe/source.h"
#include "viewer/record/observe/stack_looks.h"
#include "viewer/record/observe/task_table.h"

namespace varve::record::observe {

class ThreadSweeps : public Source {
 public:
  ThreadSweeps(Subject subject, ObserverWriter& writer);

  void begin(Nanos start) override;
  Nanos look(Nanos now) override;
  void finish(Nanos now) override;
  std::vector<pid_t> threads() override;
  std::vector<std::pair<std::string, std::string>> facts() const override;

 private:
  void sweep(Nanos now);
  static ProcRead read_sums(const Task& task, std::span<char> buffer);
  void look_at_zombie(TaskProcess& process, Task& task);
  bool is_too_much(Nanos ran, Nanos length) const;
  void read_task_sums(TaskProcess& process, Task& task, Nanos length);
  void add_entry(const Task& task, const SchedSums& before);
  void begin_track(Task& task, Nanos start, bool start_seen);
  void write_track(const Task& task);
  void take_name(Task& task, std::string_view name, Nanos now);
  void end_track(Task& task, Nanos now);
  void look_at_waits(Allowance& allowance);
  void look_at_active(Allowance& allowance);
  void look_at_wait_of(Task& task, const TaskProcess& process);
  void look_at_processors(Allowance allowance);
  void read_counts(Nanos now, Allowance allowance);
  Nanos used_since_last() const;

  ObserverWriter& writer_;
  Subject subject_;
  StackLooks stacks_;
  TaskTable table_;
  CpuBudget budget_;
  Nanos start_, swept_;  // when the first and the last stretch began and ended
  Nanos used_;           // CPU time of this thread when the last look ended
  Nanos extra_;          // CPU time for what is not the sums
  uint64_t sweeps_ = 0;
  uint32_t tracks_ = 0;
  std::vector<SweepEntry> entries_;
  struct Active {
    Task* task;
    TaskProcess* process;
  };
  std::vector<Active> active_;  // beside entries_
  size_t turn_ = 0;             // whose turn it is where not all can be looked at
  uint64_t refused_looks_ = 0;
};

}  // namespace varve::record::observe
