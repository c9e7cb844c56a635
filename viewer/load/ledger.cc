// SPDX-License-Identifier: MIT
// See ledger.h. The parts, of one thread with its CPU clock:
//   start-up   0 .. start_cpu: the kernel's part of a new thread; exec and the dynamic loader
//   sampled    sum of its samples' weights
//   paused     ticks that came while recording was paused
//   lost       start_cpu .. last_cpu, less sampled and paused: samples without room, or in a damaged chunk
//   residual   last_cpu .. end_cpu: after its last tick; and its part of what the kernel took to end threads
//              and, of the one that ended its process, that
//              (not sampled, where the thread had no timer)
// and of the run: not sampled = the kernel's CPU time less all of these.
// Context: viewer.
#include "viewer/load/ledger.h"

#include <algorithm>
#include <map>

namespace varve::load {
namespace {

/// CPU time of an image's threads since sampling of them began, by their clocks.
Nanos clocked(const Thread& thread) {
  return saturating_sub(std::max(thread.end_cpu, thread.last_cpu), thread.start_cpu);
}

class LedgerMaker {
 public:
  LedgerMaker(Profile& profile, PathTree& tree, std::vector<ThreadFacts>& facts)
      : profile_(profile), tree_(tree), facts_(facts), total_(profile.sampled) {}

  std::vector<LedgerRow> make() {
    collect_clocks();
    for (uint32_t i = 0; i < profile_.processes.size(); ++i) add_start_up({i});
    share_thread_ends();
    share_process_ends();
    for (uint32_t i = 0; i < profile_.threads.size(); ++i) add_thread({i});
    profile_.kernel_cpu = kernel_cpu();
    add_row(ThreadId::none(), profile_.session.start_time, saturating_sub(profile_.kernel_cpu, total_),
            SpecialSite::kNotSampled, profile_.unsampled);
    return std::move(rows_);
  }

 private:
  void collect_clocks() {
    const auto& processes = profile_.processes;
    clocked_.resize(processes.size());
    main_thread_.resize(processes.size());
    last_thread_.resize(processes.size());
    ticked_on_.resize(processes.size());
    for (uint32_t i = 0; i < profile_.threads.size(); ++i) {
      const Thread& thread = profile_.threads[i];
      Nanos& sum = clocked_[thread.process.index()];
      sum += std::min(clocked(thread), Nanos{kMostCpuNs - sum.count});
      ThreadId& main = main_thread_[thread.process.index()];
      if (thread.is_main && !thread.seen_only && !main.valid()) main = {i};
      note_end({i});
    }
    for (uint32_t i = 0; i < processes.size(); ++i)
      if (!processes[i].seen_only) images_[{processes[i].pid, processes[i].image}] = {i};
  }

  /// The thread that ended its process is the last whose end was written then; ticks that it had after that
  /// are of destructors behind the agent's, and of others that ran on.
  void note_end(ThreadId id) {
    const Thread& thread = profile_.threads[id.index()];
    const Nanos look = facts_[id.index()].last_look, end = profile_.processes[process_of(id.value)].end_time;
    if (thread.end_cpu == Nanos{} || look > end) return;
    ThreadId& last = last_thread_[process_of(id.value)];
    if (!last.valid() || facts_[last.index()].last_look <= look) last = id;
    Nanos& ticked_on = ticked_on_[process_of(id.value)];
    ticked_on +=
        std::min(saturating_sub(thread.last_cpu, thread.end_cpu), Nanos{kMostCpuNs - ticked_on.count});
  }

  /// CPU time of an image's process by the clocks of its threads.
  Nanos clocks_of(ProcessId id) const {
    return {std::min(profile_.processes[id.index()].start_cpu.count, kMostCpuNs) +
            clocked_[id.index()].count};
  }

  /// The process CPU clock at the end of an image, as far as it is known.
  Nanos end_clock(ProcessId id) const {
    const Process& process = profile_.processes[id.index()];
    // What threads did between their own last clocks and the exec belongs to the start-up of what they
    // became.
    if (process.end_cpu > Nanos{} && process.end != format::ImageEnd::kExec) return process.end_cpu;
    return clocks_of(id);
  }

  /// The image that this one replaced by exec. One that exited, or that was killed with its process clock
  /// ahead of ours, was another process with the same pid.
  ProcessId previous_image(const Process& process) const {
    auto next = images_.lower_bound({process.pid, process.image});
    if (next == images_.begin()) return ProcessId::none();
    auto [key, id] = *std::prev(next);
    auto end = profile_.processes[id.index()].end;
    bool same = end == format::ImageEnd::kExec ||
                (end != format::ImageEnd::kExit && end_clock(id) <= process.start_cpu);
    return key.first == process.pid && same ? id : ProcessId::none();
  }

  /// CPU time of an image before its main thread's clock was first read.
  void add_start_up(ProcessId id) {
    const Process& process = profile_.processes[id.index()];
    ThreadId main = main_thread_[id.index()];
    ProcessId previous = previous_image(process);
    Nanos start_up = process.start_cpu;
    if (previous.valid())
      start_up = saturating_sub(process.start_cpu, end_clock(previous));
    else if (main.valid())
      start_up = profile_.threads[main.index()].start_cpu;
    add_row(main, process.start_time, start_up, SpecialSite::kStartUp, profile_.residual);
  }

  /// A thread that the program ended while the process went on: the kernel's work after its last clock is in
  /// the process clock alone.
  bool ended_early(ThreadId id) const {
    const Thread& thread = profile_.threads[id.index()];
    return main_thread_[thread.process.index()] != id && thread.end_cpu > Nanos{} && !thread.end_estimated;
  }

  /// The process clock beyond the clocks of its threads, in equal parts: nobody can read the clock of a
  /// thread that has ended. More than ends of threads can take is time of threads that no agent saw.
  void share_thread_ends() {
    std::vector<Nanos> ends(profile_.processes.size());
    for (uint32_t i = 0; i < ends.size(); ++i) {
      const Process& process = profile_.processes[i];
      if (process.end == format::ImageEnd::kExit)
        ends[i] = saturating_sub(process.end_cpu, process.start_cpu);
    }
    std::vector<uint64_t> ended(ends.size());
    for (uint32_t i = 0; i < profile_.threads.size(); ++i) {
      const Thread& thread = profile_.threads[i];
      const uint32_t process = thread.process.index();
      const bool is_main = main_thread_[process] == ThreadId{i};
      const Nanos end =
          thread.end_cpu > Nanos{} ? thread.end_cpu : std::max(thread.last_cpu, thread.start_cpu);
      const Nanos seen = is_main ? saturating_sub(end, thread.start_cpu) : end;
      ends[process] = saturating_sub(ends[process], seen);
      ended[process] += ended_early({i});
    }
    for (uint32_t i = 0; i < profile_.threads.size(); ++i) {
      const uint32_t process = profile_.threads[i].process.index();
      if (!ended_early({i})) continue;
      const Nanos each{ends[process].count / ended[process]};
      if (each <= kMostThreadEnd) move_end({i}, each);
    }
  }

  /// What the kernel took to end a process, mostly to give its memory back: what it was charged until it was
  /// reaped and no clock of it counts.
  Nanos process_end(ProcessId id) const {
    const Process& process = profile_.processes[id.index()];
    if (process.end != format::ImageEnd::kExit || process.end_cpu == Nanos{}) return {};
    if (process.children_cpu.count == format::kUnknownCpu) return {};  // which of it was theirs nobody knows
    const Nanos counted =
        std::min(process.end_cpu, Nanos{kMostCpuNs}) + process.end_gap + ticked_on_[id.index()];
    return saturating_sub(saturating_sub(process.reaped_cpu, process.children_cpu),
                          std::max(counted, clocks_of(id)));
  }

  /// First to the thread that ended the process, then to those that ended with it, as much as each can have
  /// used until the process was reaped. More than that stays not sampled.
  void share_process_ends() {
    std::vector<Nanos> rest(profile_.processes.size());
    std::vector<uint64_t> alive(rest.size());
    for (uint32_t i = 0; i < rest.size(); ++i) {
      rest[i] = process_end({i});
      if (last_thread_[i].valid()) rest[i] = saturating_sub(rest[i], give_end(last_thread_[i], rest[i]));
    }
    for (uint32_t i = 0; i < profile_.threads.size(); ++i) alive[process_of(i)] += ended_with_process({i});
    for (uint32_t i = 0; i < profile_.threads.size(); ++i)
      if (ended_with_process({i})) give_end({i}, {rest[process_of(i)].count / alive[process_of(i)]});
  }

  uint32_t process_of(uint32_t thread) const { return profile_.threads[thread].process.index(); }

  bool ended_with_process(ThreadId id) const {
    const Thread& thread = profile_.threads[id.index()];
    return thread.end_estimated && thread.end_cpu > Nanos{} && last_thread_[process_of(id.value)] != id;
  }

  /// Returns the part of `wanted` that the thread got.
  Nanos give_end(ThreadId id, Nanos wanted) {
    const Thread& thread = profile_.threads[id.index()];
    ThreadFacts& facts = facts_[id.index()];
    Nanos latest = profile_.processes[thread.process.index()].reaped_time;
    const RunStates& states = profile_.run_states;
    if (thread.track.valid() && states.source == RunStates::Source::kSweeps)
      latest = std::min(latest, states.tracks[thread.track.index()].end);
    const Nanos given = std::min(wanted, saturating_sub(latest, last_moment(id)));
    if (given == Nanos{}) return given;
    facts.ended_process = true;
    move_end(id, given);
    return given;
  }

  /// When its clock was last looked at. Destructors behind the agent's run on, and are sampled.
  Nanos last_moment(ThreadId id) const {
    const ThreadFacts& facts = facts_[id.index()];
    return std::max(facts.last_look, facts.last_sample);
  }

  /// A thread lives until the kernel is done with it; not beyond the sweep that did not see it any more.
  void move_end(ThreadId id, Nanos more) {
    Thread& thread = profile_.threads[id.index()];
    const RunStates& states = profile_.run_states;
    Nanos end = last_moment(id) + more;
    if (thread.track.valid() && states.source == RunStates::Source::kSweeps)
      end = std::min(end, states.tracks[thread.track.index()].end);
    thread.end_cpu = std::min(std::max(thread.end_cpu, thread.last_cpu), Nanos{kMostCpuNs}) + more;
    facts_[id.index()].kernel_end += more;
    thread.end_time = std::max(thread.end_time, end);
  }

  void add_thread(ThreadId id) {
    Thread& thread = profile_.threads[id.index()];
    Nanos last_tick = std::max(thread.last_cpu, thread.start_cpu);
    Nanos told = thread.sampled + std::min(thread.paused, Nanos{kMostCpuNs});
    Nanos ticked = saturating_sub(last_tick, thread.start_cpu);
    // Samples may be ahead of the thread's row when a file is read while it grows.
    thread.residual = saturating_sub(clocked(thread), std::max(ticked, told));
    Nanos end = std::max(thread.end_time, facts_[id.index()].last_sample);
    // The clock of a thread begins with it, in the kernel; that of a main thread may go back over other
    // images.
    if (main_thread_[thread.process.index()] != id)
      add_row(id, thread.start_time, thread.start_cpu, SpecialSite::kStartUp, profile_.residual);
    add_row(id, end, thread.paused, SpecialSite::kPaused, profile_.unsampled);
    profile_.lost_time +=
        add_row(id, end, saturating_sub(ticked, told), SpecialSite::kLost, profile_.unsampled);
    thread.residual = thread.no_timer
                          ? add_row(id, end, thread.residual, SpecialSite::kNotSampled, profile_.unsampled)
                          : add_row(id, end, thread.residual, SpecialSite::kResidual, profile_.residual);
  }

  /// Time without a tick stands below the routine that the thread was started with.
  PathId row_path(ThreadId thread, SpecialSite kind) {
    const bool below_start = kind == SpecialSite::kResidual || kind == SpecialSite::kNotSampled;
    SiteId start = thread.valid() && below_start ? facts_[thread.index()].start_routine : SiteId::none();
    PathId parent = start.valid() ? tree_.child(facts_[thread.index()].above_start, start) : PathTree::root();
    return tree_.child(parent, tree_.site(kind));
  }

  /// Charged by the kernel; without its word, the process clocks of each pid's last image.
  Nanos kernel_cpu() const {
    const Session& session = profile_.session;
    Nanos sum{std::min(session.user_cpu.count, kMostCpuNs) + std::min(session.system_cpu.count, kMostCpuNs)};
    if (sum == Nanos{}) {
      for (auto image = images_.begin(); image != images_.end(); ++image) {
        auto next = std::next(image);
        bool replaced = next != images_.end() &&
                        previous_image(profile_.processes[next->second.index()]) == image->second;
        if (!replaced && sum.count <= kMostCpuNs)
          sum += {std::min(end_clock(image->second).count, kMostCpuNs)};
      }
    }
    return {std::min(sum.count, kMostCpuNs)};
  }

  /// Returns the weight that was added to `account`, cut where the total would be no time any more.
  Nanos add_row(ThreadId thread, Nanos time, Nanos weight, SpecialSite kind, Nanos& account) {
    weight = std::min(weight, Nanos{kMostCpuNs - total_.count});
    if (weight == Nanos{}) return weight;
    rows_.push_back({thread, time, weight, row_path(thread, kind), kind});
    total_ += weight;
    account += weight;
    return weight;
  }

  Profile& profile_;
  PathTree& tree_;
  std::vector<ThreadFacts>& facts_;
  Nanos total_;  // of samples and rows
  std::vector<LedgerRow> rows_;
  std::vector<Nanos> clocked_;                                // by process: clocked() of its threads
  std::vector<ThreadId> main_thread_;                         // by process
  std::vector<ThreadId> last_thread_;                         // by process: that ended it, or none
  std::vector<Nanos> ticked_on_;                              // by process: CPU time of ticks after its end
  std::map<std::pair<int32_t, uint32_t>, ProcessId> images_;  // by pid and image
};

}  // namespace

std::vector<LedgerRow> make_ledger(Profile& profile, PathTree& tree, std::vector<ThreadFacts>& facts) {
  return LedgerMaker(profile, tree, facts).make();
}

}  // namespace varve::load
