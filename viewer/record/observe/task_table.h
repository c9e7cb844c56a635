// SPDX-License-Identifier: MIT
// TaskTable: the living threads of a run, by process, with a descriptor for each that makes another look at
// it cheap. Finds new threads and processes, and forgets those that ended. Not what they did: that is
// thread_sweeps.h.
// Context: viewer, the observer's thread.
#pragma once

#include <sys/types.h>

#include <list>
#include <optional>
#include <unordered_set>
#include <vector>

#include "common/observer_format.h"
#include "common/units.h"
#include "viewer/record/observe/proc_text.h"
#include "viewer/record/observe/source.h"
#include "viewer/record/observe/stack_pace.h"

namespace varve::record::observe {

struct Task {
  pid_t pid = 0, tid = 0, parent = 0;
  pid_t own_tid = 0;    // in a pid namespace of its own
  bool inside = false;  // of one
  uint32_t track = 0;
  Nanos start;  // CLOCK_MONOTONIC
  bool start_seen = false;
  int descriptor = -1;  // of schedstat; -1: there were too many
  SchedSums sums;       // at the last look
  uint32_t processor = format::kUnknownProcessor;
  bool moved = true;  // or may have, since the processor was looked at
  char name[16] = {};
  Nanos named_at;                      // when the name was read last
  bool active = false;                 // it ran, or was ready, in the stretch before the last look
  bool active_before = false;          // and in the stretch before that
  bool wait_known = false;             // until it runs again
  StackPace pace;                      // of looks at its stack
  bool over = false;                   // a zombie: it has ended, but /proc still shows it
  bool sums_final = false;             // of a zombie: its sums are the last
  bool gone = false;                   // to be removed
  bool took_id = false;                // of a thread that executed a program: its sums go on from there
  std::optional<SwitchCounts> counts;  // as read at counted_at
  Nanos counted_at;
};

struct TaskProcess {
  pid_t pid = 0, parent = 0;
  char name[16] = {};       // when it was found
  int directory = -1;       // /proc/PID/task; -1: there were too many
  bool inside = false;      // a pid namespace of its own
  nlink_t links = 0;        // of it, without new threads: one more for each thread
  bool incomplete = false;  // a thread was seen that could not be read
  std::list<Task> tasks;

  /// The task has ended, or is another thread's now.
  void lose(Task& task) {
    task.gone = true;
    --links;
  }
};

class TaskTable {
 public:
  /// Holds nothing before the first search.
  explicit TaskTable(Subject subject);
  ~TaskTable();
  TaskTable(const TaskTable&) = delete;
  TaskTable& operator=(const TaskTable&) = delete;

  std::list<TaskProcess>& processes() { return processes_; }

  /// Tasks made since the last search, with all filled in but the track and its start. Sums are of now.
  std::vector<Task*> find_new(Nanos now);
  /// Forgets tasks that are gone, and processes without any.
  void remove_gone();

  /// Processes made meanwhile on this machine that /proc does not show to this user: some may be the run's.
  uint64_t hidden() const { return hidden_; }

 private:
  /// A number that a new thread or process may have.
  struct Candidate {
    pid_t pid = 0;
    unsigned looks = 0;  // that did not find it
  };

  bool take_new_numbers();
  void list_threads(TaskProcess& process, std::vector<Task*>& found);
  bool look_at(Candidate& candidate, std::vector<Task*>& found);
  void list_processes();
  TaskProcess& add_process(pid_t pid, const TaskStat& stat);
  std::optional<Task> make_task(const TaskProcess& process, pid_t thread);
  nlink_t links_of(const TaskProcess& process) const;
  int keep_open(const char* path, int flags);
  void close_kept(int descriptor);

  Subject subject_;
  std::list<TaskProcess> processes_;
  std::unordered_set<pid_t> known_;    // processes
  std::unordered_set<pid_t> foreign_;  // none of the run's, as of the last list_processes()
  std::vector<Candidate> candidates_;  // parents before children
  int last_pid_file_ = -1;             // /proc/loadavg; -1: it cannot be trusted
  pid_t last_pid_ = 0;
  pid_t most_pid_ = 0;        // numbers end below this
  unsigned quiet_looks_ = 0;  // since a number was given out
  Nanos listed_;              // when all processes were listed last
  long descriptors_left_ = 0;
  uint64_t hidden_ = 0;
};

}  // namespace varve::record::observe
