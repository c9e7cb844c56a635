// SPDX-License-Identifier: MIT
// The recording of one command. All that it says goes to stderr: stdout is the target's. Context: viewer.
#include "viewer/record/recording.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "common/session_keys.h"
#include "viewer/record/clock.h"
#include "viewer/record/closing_line.h"
#include "viewer/record/filter_trial.h"
#include "viewer/record/group_witness.h"
#include "viewer/record/host_facts.h"
#include "viewer/record/launcher.h"
#include "viewer/record/perf_map_keeper.h"
#include "viewer/record/profile_directory.h"
#include "viewer/record/session_writer.h"
#include "viewer/record/shell_words.h"
#include "viewer/record/supervisor.h"
#include "viewer/record/trim.h"

namespace varve::record {
namespace {

namespace keys = session_key;
using observe::RunStates;

/// Who works in step with the scheduler's tick may have no tick before the end of a wait, where it is looked
/// at: without looks there all threads have events from their start on.
bool events_at_once(const RecordOptions& options, const TickChoice& ticks) {
  return ticks.at_once() || (options.wait_min.count == 0 && !ticks.in_step());
}

/// The session's facts, as far as they are known before the command runs.
void write_facts(SessionWriter& session, const RecordOptions& options, const Verdict& verdict,
                 const TickChoice& ticks) {
  session.text(keys::kVersion, VARVE_VERSION);
  session.text(keys::kCommand, shell_quoted(options.command));
  for (const std::string& word : options.command) session.text(keys::kArgument, word);
  session.text(keys::kProgram, verdict.program);
  if (char* directory = getcwd(nullptr, 0)) {
    session.text(keys::kDirectory, directory);
    free(directory);
  }
  for (const auto& [key, value] : host_facts()) session.text(key, value);
  session.text(keys::kIntervalNs, fmt::format("{}", options.interval.count));
  session.text(keys::kTimer, ticks.events() && !ticks.in_step() ? "perf" : "cpu");
  session.text(keys::kFirstTimer, ticks.events() && events_at_once(options, ticks) ? "perf" : "cpu");
  if (!ticks.why_not().empty()) session.text(keys::kTimerReason, ticks.why_not());
  session.text(keys::kKernelTickNs, fmt::format("{}", kernel_tick().count));
  session.text(keys::kStackDepth, fmt::format("{}", options.stack_depth));
  if (options.run_states == RunStates::kOff) session.text(keys::kObserver, "off");
  session.text(keys::kFollow, options.no_follow ? "0" : "1");
  session.text(keys::kWaitMinNs, fmt::format("{}", options.wait_min.count));
  if (options.delay.count) session.text(keys::kDelayNs, fmt::format("{}", options.delay.count));
  if (options.duration.count) session.text(keys::kDurationNs, fmt::format("{}", options.duration.count));
  for (const Finding& finding : verdict.findings)
    if (finding.severity == Severity::kWarning) session.text(keys::kWarning, finding.sentence);
}

/// The number of lengths comes before "finished", so that a reader can tell a session that was cut off.
void write_end(SessionWriter& session, const RunEnd& end, const std::vector<load::FileLength>& lengths) {
  session.text(keys::kElapsedNs, fmt::format("{}", end.elapsed.count));
  session.text(keys::kExitStatus, fmt::format("{}", end.status));
  session.text(keys::kFileLengths, fmt::format("{}", lengths.size()));
  session.text(keys::kFinished, "1");
  for (const auto& [name, bytes] : lengths)
    session.text(keys::kFileLength, fmt::format("{} {}", bytes, name));
  session.seal();
}

class Recording {
 public:
  explicit Recording(const RecordingPlan& plan) : plan_(plan), observer_(plan.options.run_states) {}

  tl::expected<int, NotRecorded> run();

 private:
  tl::expected<void, std::string> prepare();
  NotRecorded refuse_start(int error);
  bool before_exec(pid_t command);
  RunEnd watch(pid_t command);
  void finish(const RunEnd& end);
  void begin_finalizing();
  bool finalized(const RunEnd& end);

  const RecordingPlan& plan_;
  const RecordOptions& options_ = plan_.options;
  InheritedSignals signals_;
  std::optional<ProfileDirectory> directory_;
  std::optional<SessionWriter> session_;
  std::optional<GroupWitness> group_;
  std::optional<PerfMapKeeper> perf_maps_;
  Nanos start_;  // of the run, CLOCK_MONOTONIC: just before exec
  observe::Observer observer_;
  std::string no_observer_;         // why the command was not let go
  bool recording_stopped_ = false;  // early: the command goes on
  std::optional<Finalization> finalization_;
};

tl::expected<void, std::string> Recording::prepare() {
  bool named = !options_.output.empty();
  auto directory =
      ProfileDirectory::prepare(named ? options_.output : default_profile_name(options_.command[0]));
  if (!directory) return tl::unexpected(directory.error());
  directory_.emplace(std::move(*directory));
  AgentSettings settings{options_.interval,     uint32_t(options_.stack_depth),
                         !options_.no_follow,   options_.delay.count != 0,
                         plan_.ticks.events(),  events_at_once(options_, plan_.ticks),
                         plan_.ticks.in_step(), options_.wait_min,
                         tried_filters()};
  auto session = SessionWriter::create(directory_->descriptor(), settings);
  if (!session) return tl::unexpected(session.error());
  session_.emplace(std::move(*session));
  write_facts(*session_, options_, plan_.verdict, plan_.ticks);
  perf_maps_.emplace(directory_->descriptor(), clock_now(CLOCK_REALTIME));
  return directory_->publish(!named);
}

NotRecorded Recording::refuse_start(int error) {
  observer_.stop(*session_);
  directory_->discard();
  if (!no_observer_.empty()) return {no_observer_, kExitOwnFailure};
  const bool ours = error == EAGAIN || error == ENOMEM;
  const int failed = ours ? kExitOwnFailure : 126;
  return {fmt::format("cannot run '{}': {}{}", options_.command[0], std::strerror(error),
                      error == EAGAIN ? "; no process more can be made: look at ulimit -u" : ""),
          error == ENOENT ? 127 : failed};
}

/// The run begins now: the child was made, and waits.
bool Recording::before_exec(pid_t command) {
  group_.emplace();  // the younger child of the two, and before there is another thread
  auto observed = observer_.begin({command, !options_.no_follow, options_.wait_min.count != 0},
                                  directory_->descriptor(), session_->header());
  if (!observed) return no_observer_ = observed.error(), false;
  start_ = clock_now(CLOCK_MONOTONIC);
  session_->text(keys::kStartMonotonicNs, fmt::format("{}", start_.count));
  session_->text(keys::kStartRealtimeNs, fmt::format("{}", clock_now(CLOCK_REALTIME).count));
  observer_.let_go(start_);
  return true;
}

/// In a process of its own: the command may go on meanwhile, the user may lose patience, and the libraries
/// that read other people's debug information may crash.
void Recording::begin_finalizing() {
  recording_stopped_ = true;
  perf_maps_->collect();
  if (options_.quiet && options_.no_finalize) return;  // nothing to say, nothing to store
  bool progress = !options_.quiet && isatty(STDERR_FILENO);
  finalization_.emplace(directory_->path(),
                        FinalizeOptions{!options_.no_finalize, progress, plan_.store_more});
}

/// A signal that would end this program, pending in the set that the recorder blocks.
bool interrupted(const InheritedSignals& signals) {
  sigset_t ends;
  sigemptyset(&ends);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
    if (!signals.ignores(number)) sigaddset(&ends, number);
  timespec at_once{};
  return sigtimedwait(&ends, nullptr, &at_once) > 0;
}

/// While the finalization ran nobody could tell.
bool no_child_lives() { return waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD; }

/// Waits for the finalization. False: the user did not want to.
bool Recording::finalized(const RunEnd& end) {
  ChildTask& task = finalization_->task();
  if (end.own_child_status) task.reaped(*end.own_child_status);
  while (!task.ended_within(20))
    if (interrupted(signals_)) {
      finalization_.reset();
      plan_.say(fmt::format(
          "interrupted; the profile in {} is whole, but varve report has to look up its names each time",
          directory_->path()));
      return false;
    }
  return true;
}

void Recording::finish(const RunEnd& end) {
  if (!recording_stopped_) begin_finalizing();
  if (finalization_ && !finalized(end)) return;
  if (!end.all_ended && no_child_lives()) trim_agent_files(directory_->descriptor(), Trim::kTail);
  if (!finalization_) return;
  const Finalized profile = finalization_->result();
  if (!options_.quiet || !profile.loaded) plan_.say(closing_line(profile, end, directory_->path()));
  std::string why = why_few_samples(profile, end, options_.interval);
  if (!why.empty() && !options_.quiet) plan_.say(why);
  if (profile.loaded && !profile.trouble.empty()) plan_.say(profile.trouble);
  if (!observer_.trouble().empty() && !options_.quiet) plan_.say(observer_.trouble());
}

RunEnd Recording::watch(pid_t command) {
  SupervisorPlan plan;
  plan.follow = !options_.no_follow;
  if (options_.delay.count) plan.delay = options_.delay;
  if (options_.duration.count) plan.duration = options_.duration;
  plan.say = [this](std::string_view sentence) {
    if (!options_.quiet) plan_.say(sentence);
  };
  plan.on_early_stop = [this] {
    observer_.stop(*session_);  // its thread must not be there when a child is forked
    begin_finalizing();
    return finalization_ ? finalization_->task().pid() : 0;
  };
  return supervise(command, start_, plan, signals_, *group_, *session_, *perf_maps_);
}

tl::expected<int, NotRecorded> Recording::run() {
  if (auto ready = prepare(); !ready) {
    if (directory_) directory_->discard();
    return tl::unexpected(NotRecorded{ready.error(), kExitOwnFailure});
  }
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  auto command =
      launch({options_.command, target_environment(plan_.verdict.preload, directory_->absolute_path())},
             signals_, [this](pid_t child) { return before_exec(child); });
  if (!command) return tl::unexpected(refuse_start(command.error()));
  plan_.descriptors.give_up();
  session_->text(keys::kMainPid, fmt::format("{}", *command));
  RunEnd end = watch(*command);
  observer_.stop(*session_);
  // What was finalized before belongs to the chunks as they were then.
  if (end.all_ended)
    trim_agent_files(directory_->descriptor(), recording_stopped_ ? Trim::kTail : Trim::kAll);
  write_end(*session_, end, file_lengths(directory_->descriptor()));
  finish(end);
  return end.status;
}

}  // namespace

tl::expected<int, NotRecorded> record_command(const RecordingPlan& plan) { return Recording(plan).run(); }

}  // namespace varve::record
