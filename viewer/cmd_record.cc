// SPDX-License-Identifier: MIT
// varve record CMD: options, preflight, launch, supervision, finalization, one closing line. All that is
// printed goes to stderr; stdout is the target's. Context: viewer.
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/session_keys.h"
#include "viewer/command.h"
#include "viewer/record/clock.h"
#include "viewer/record/closing_line.h"
#include "viewer/record/filter_trial.h"
#include "viewer/record/finalize.h"
#include "viewer/record/host_facts.h"
#include "viewer/record/launcher.h"
#include "viewer/record/observe/observer.h"
#include "viewer/record/observe/switch_rings.h"
#include "viewer/record/perf_map_keeper.h"
#include "viewer/record/preflight.h"
#include "viewer/record/profile_directory.h"
#include "viewer/record/session_writer.h"
#include "viewer/record/shell_words.h"
#include "viewer/record/supervisor.h"
#include "viewer/record/tick_choice.h"
#include "viewer/record/trim.h"
#include "viewer/render/escape.h"
#include "viewer/stored_views.h"

namespace varve {
namespace {

namespace keys = session_key;
using record::observe::RunStates;

/// varve's own failure, as env, nohup and timeout have it: not one of the command's usual codes.
constexpr int kExitOwnFailure = 125;

struct RecordOptions {
  std::string output;
  Nanos interval{10 * kNanosPerMilli.count};
  record::Timer timer = record::Timer::kAuto;
  Nanos delay;
  Nanos duration;
  uint64_t stack_depth = 1024;
  RunStates run_states = RunStates::kAuto;
  Nanos wait_min{format::kDefaultWaitMinNs};  // zero: waits are not recorded
  bool no_follow = false;
  bool no_finalize = false;
  bool quiet = false;
  std::vector<std::string> command;
};

/// on, off or min=TIME.
Setter set_waits(Nanos& wait_min) {
  return [&wait_min](std::string_view value) -> Setting {
    constexpr std::string_view kLeast = "min=";
    if (value == "on") return wait_min = {format::kDefaultWaitMinNs}, Setting{};
    if (value == "off") return wait_min = {}, Setting{};
    if (!value.starts_with(kLeast)) return tl::unexpected<std::string>("is not on, off or min=TIME");
    return set_duration(wait_min, "us", {1000}, kNanosPerSecond)(value.substr(kLeast.size()));
  };
}

OptionTable record_table(RecordOptions& options) {
  constexpr Nanos kDay{86'400 * kNanosPerSecond.count};
  OptionTable table;
  table.command = "record";
  table.summary = "Run a command and record where its threads spend their CPU time.";
  table.usages = {"[options] [--] CMD [ARG...]"};
  table.verbatim = &options.command;
  table.options = {
      {"Output", "-o,--output", "DIR", "CMD.varve",
       "Make the profile directory DIR, which must not exist. Without it, an older profile of the same name "
       "is kept as CMD.varve.1, CMD.varve.2 and so on.",
       set_text(options.output)},
      {"Output", "-q,--quiet", "", "", "Print nothing but errors.", set_flag(options.quiet)},
      {"Output", "--no-finalize", "", "",
       "Do not look up names, files and lines after the run; varve report then does it each time, and needs "
       "the binaries.",
       set_flag(options.no_finalize)},
      {"Sampling", "--interval", "TIME", "10ms",
       fmt::format("CPU time of a thread between two samples, from 100us to 1s, in {}; a number alone is ms.",
                   kTimeUnits),
       set_duration(options.interval, "ms", {100 * 1000}, kNanosPerSecond)},
      {"Sampling", "--timer", "SOURCE", "auto",
       "Take samples at each thread's CPU timer (cpu), which the kernel looks at when its own scheduler "
       "ticks; "
       "at performance events of its CPU time (perf), which keep to any interval and are not allowed to "
       "every "
       "user; or at events for intervals below the kernel's tick, where they are allowed (auto).",
       set_choice(
           options.timer,
           {{"auto", record::Timer::kAuto}, {"cpu", record::Timer::kCpu}, {"perf", record::Timer::kPerf}})},
      {"Sampling", "--stack-depth", "N", "1024",
       "Keep at most N frames of a stack, from 3 to 4096; of a deeper one its two ends.",
       set_number(options.stack_depth, format::kMinStackDepth, format::kMaxStackDepth)},
      {"Sampling", "--run-states", "SOURCE", "auto",
       "See when each thread runs, is ready or waits: by the kernel's context switch records (switches), by "
       "looks at /proc every 10 ms or more (sweeps), by the first of these that is allowed (auto), or not "
       "(off).",
       set_choice(options.run_states, {{"auto", RunStates::kAuto},
                                       {"switches", RunStates::kSwitches},
                                       {"sweeps", RunStates::kSweeps},
                                       {"off", RunStates::kOff}})},
      {"Sampling", "--waits", "on|off|min=TIME", "on",
       fmt::format(
           "Record waits for locks, conditions, threads and time, and who ended them. Those of 50us, or of "
           "TIME in {} (a number alone is us), have a stack; shorter ones are counted.",
           kTimeUnits),
       set_waits(options.wait_min)},
      {"Scope", "--no-follow", "", "", "Record the command alone, not the processes it starts.",
       set_flag(options.no_follow)},
      {"Scope", "--delay", "TIME", "",
       fmt::format("Begin to record this long after the start, in {}; a number alone is s.", kTimeUnits),
       set_duration(options.delay, "s", {1}, kDay)},
      {"Scope", "--duration", "TIME", "",
       fmt::format(
           "Stop recording after this long, in {}; a number alone is s. The command goes on, and varve "
           "waits for it.",
           kTimeUnits),
       set_duration(options.duration, "s", {1}, kDay)},
  };
  return table;
}

OptionTable describe_record() {
  static RecordOptions unread;
  return record_table(unread);
}

/// To a stderr that is full or closed nothing is said: the command's exit code matters more.
void say(std::string_view sentence) {
  std::fputs(fmt::format("varve: {}\n", render::escape(sentence)).c_str(), stderr);
}

/// The session's facts, as far as they are known before the command runs.
void write_facts(record::SessionWriter& session, const RecordOptions& options, const record::Verdict& verdict,
                 const record::TickChoice& ticks) {
  session.text(keys::kVersion, VARVE_VERSION);
  session.text(keys::kCommand, record::shell_quoted(options.command));
  for (const std::string& word : options.command) session.text(keys::kArgument, word);
  session.text(keys::kProgram, verdict.program);
  if (char* directory = getcwd(nullptr, 0)) {
    session.text(keys::kDirectory, directory);
    free(directory);
  }
  for (const auto& [key, value] : record::host_facts()) session.text(key, value);
  session.text(keys::kIntervalNs, fmt::format("{}", options.interval.count));
  session.text(keys::kTimer, ticks.events() ? "perf" : "cpu");
  if (!ticks.why_not().empty()) session.text(keys::kTimerReason, ticks.why_not());
  session.text(keys::kKernelTickNs, fmt::format("{}", record::kernel_tick().count));
  session.text(keys::kStackDepth, fmt::format("{}", options.stack_depth));
  if (options.run_states == RunStates::kOff) session.text(keys::kObserver, "off");
  session.text(keys::kFollow, options.no_follow ? "0" : "1");
  session.text(keys::kWaitMinNs, fmt::format("{}", options.wait_min.count));
  if (options.delay.count) session.text(keys::kDelayNs, fmt::format("{}", options.delay.count));
  if (options.duration.count) session.text(keys::kDurationNs, fmt::format("{}", options.duration.count));
  for (const record::Finding& finding : verdict.findings)
    if (finding.severity == record::Severity::kWarning) session.text(keys::kWarning, finding.sentence);
}

void write_end(record::SessionWriter& session, const record::RunEnd& end) {
  session.text(keys::kElapsedNs, fmt::format("{}", end.elapsed.count));
  session.text(keys::kExitStatus, fmt::format("{}", end.status));
  session.text(keys::kFinished, "1");
  session.seal();
}

/// Ends this process as the command ended, so that a shell sees no difference. A second core would be ours.
int end_like(int status) {
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  int number = WTERMSIG(status);
  rlimit none{};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  std::signal(number, SIG_DFL);
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, number);
  sigprocmask(SIG_UNBLOCK, &mask, nullptr);
  kill(getpid(), number);
  return 128 + number;  // where that signal cannot end us
}

class Recording {
 public:
  Recording(const RecordOptions& options, const record::Verdict& verdict, const record::TickChoice& ticks,
            record::InheritedDescriptors& descriptors)
      : options_(options),
        verdict_(verdict),
        ticks_(ticks),
        descriptors_(descriptors),
        observer_(options.run_states) {}

  int run();

 private:
  tl::expected<void, std::string> prepare();
  int refuse_start(int error);
  bool before_exec(pid_t command);
  record::RunEnd watch(pid_t command);
  void finish(const record::RunEnd& end);
  void begin_finalizing();
  bool finalized(const record::RunEnd& end);

  const RecordOptions& options_;
  const record::Verdict& verdict_;
  const record::TickChoice& ticks_;
  record::InheritedDescriptors& descriptors_;
  record::InheritedSignals signals_;
  std::optional<record::ProfileDirectory> directory_;
  std::optional<record::SessionWriter> session_;
  std::optional<record::GroupWitness> group_;
  std::optional<record::PerfMapKeeper> perf_maps_;
  Nanos start_;  // of the run, CLOCK_MONOTONIC: just before exec
  record::observe::Observer observer_;
  std::string no_observer_;         // why the command was not let go
  bool recording_stopped_ = false;  // early: the command goes on
  std::optional<record::Finalization> finalization_;
};

tl::expected<void, std::string> Recording::prepare() {
  bool named = !options_.output.empty();
  auto directory = record::ProfileDirectory::prepare(
      named ? options_.output : record::default_profile_name(options_.command[0]));
  if (!directory) return tl::unexpected(directory.error());
  directory_.emplace(std::move(*directory));
  // Who works in step with the scheduler's tick gets a late event at the end of a wait only.
  const bool at_once = ticks_.at_once() || options_.wait_min.count == 0;
  record::AgentSettings settings{options_.interval,   uint32_t(options_.stack_depth),
                                 !options_.no_follow, options_.delay.count != 0,
                                 ticks_.events(),     at_once,
                                 options_.wait_min,   record::tried_filters()};
  auto session = record::SessionWriter::create(directory_->descriptor(), settings);
  if (!session) return tl::unexpected(session.error());
  session_.emplace(std::move(*session));
  write_facts(*session_, options_, verdict_, ticks_);
  perf_maps_.emplace(directory_->descriptor(), record::clock_now(CLOCK_REALTIME));
  return directory_->publish(!named);
}

int Recording::refuse_start(int error) {
  observer_.stop(*session_);
  directory_->discard();
  if (!no_observer_.empty()) return complain("record", no_observer_), kExitOwnFailure;
  complain("record", fmt::format("cannot run '{}': {}", options_.command[0], std::strerror(error)));
  return error == ENOENT ? 127 : error == EAGAIN || error == ENOMEM ? kExitOwnFailure : 126;
}

/// The run begins now: the child was made, and waits.
bool Recording::before_exec(pid_t command) {
  group_.emplace();  // the younger child of the two, and before there is another thread
  auto observed = observer_.begin({command, !options_.no_follow, options_.wait_min.count != 0},
                                  directory_->descriptor(), session_->header());
  if (!observed) return no_observer_ = observed.error(), false;
  start_ = record::clock_now(CLOCK_MONOTONIC);
  session_->text(keys::kStartMonotonicNs, fmt::format("{}", start_.count));
  session_->text(keys::kStartRealtimeNs, fmt::format("{}", record::clock_now(CLOCK_REALTIME).count));
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
                        record::FinalizeOptions{!options_.no_finalize, progress, store_views});
}

/// A signal that would end a program, pending in the set that the recorder blocks.
bool interrupted() {
  sigset_t ends;
  sigemptyset(&ends);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&ends, number);
  timespec at_once{};
  return sigtimedwait(&ends, nullptr, &at_once) > 0;
}

/// While the finalization ran nobody could tell.
bool no_child_lives() { return waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD; }

/// Waits for the finalization. False: the user did not want to.
bool Recording::finalized(const record::RunEnd& end) {
  record::ChildTask& task = finalization_->task();
  if (end.own_child_status) task.reaped(*end.own_child_status);
  while (!task.ended_within(20))
    if (interrupted()) {
      finalization_.reset();
      say(fmt::format(
          "interrupted; the profile in {} is whole, but varve report has to look up its names each time",
          directory_->path()));
      return false;
    }
  return true;
}

void Recording::finish(const record::RunEnd& end) {
  if (!recording_stopped_) begin_finalizing();
  if (finalization_ && !finalized(end)) return;
  if (!end.all_ended && no_child_lives())
    record::trim_agent_files(directory_->descriptor(), record::Trim::kTail);
  if (!finalization_) return;
  const record::Finalized profile = finalization_->result();
  if (!options_.quiet || !profile.loaded) say(record::closing_line(profile, end, directory_->path()));
  std::string why = record::why_few_samples(profile, end, options_.interval);
  if (!why.empty() && !options_.quiet) say(why);
  if (profile.loaded && !profile.trouble.empty()) say(profile.trouble);
  if (!observer_.trouble().empty() && !options_.quiet) say(observer_.trouble());
}

record::RunEnd Recording::watch(pid_t command) {
  record::SupervisorPlan plan;
  plan.follow = !options_.no_follow;
  if (options_.delay.count) plan.delay = options_.delay;
  if (options_.duration.count) plan.duration = options_.duration;
  plan.say = [this](std::string_view sentence) {
    if (!options_.quiet) say(sentence);
  };
  plan.on_early_stop = [this] {
    observer_.stop(*session_);  // its thread must not be there when a child is forked
    begin_finalizing();
    return finalization_ ? finalization_->task().pid() : 0;
  };
  return record::supervise(command, start_, plan, signals_, *group_, *session_, *perf_maps_);
}

int Recording::run() {
  if (auto ready = prepare(); !ready) {
    if (directory_) directory_->discard();
    complain("record", ready.error());
    return kExitOwnFailure;
  }
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  auto command = record::launch(
      {options_.command, record::target_environment(verdict_.preload, directory_->absolute_path())}, signals_,
      [this](pid_t child) { return before_exec(child); });
  if (!command) return refuse_start(command.error());
  descriptors_.give_up();
  session_->text(keys::kMainPid, fmt::format("{}", *command));
  record::RunEnd end = watch(*command);
  observer_.stop(*session_);
  write_end(*session_, end);
  if (end.all_ended) record::trim_agent_files(directory_->descriptor(), record::Trim::kAll);
  finish(end);
  return end_like(end.status);
}

int run_record(std::span<const std::string> arguments) {
  RecordOptions options;
  Start start = start_command(record_table(options), arguments);
  if (!start.go_on) return start.exit_code;
  if (options.command.empty()) {
    complain("record", "name a command to record: varve record [options] CMD [ARG...]");
    return kExitUsage;
  }
  if (std::string why = record::observe::why_no_switches();
      options.run_states == RunStates::kSwitches && !why.empty()) {
    complain("record", why + "; use --run-states sweeps");
    return kExitUsage;
  }
  record::guard_standard_descriptors();
  record::InheritedDescriptors descriptors;
  const auto ticks = record::TickChoice::make(options.timer, options.interval);
  if (!ticks) {
    complain("record", ticks.error() + "; use --timer cpu");
    return kExitUsage;
  }
  bool named = !options.output.empty();
  record::PreflightRequest request{options.command, record::find_agent(options.wait_min.count != 0),
                                   named ? options.output : record::default_profile_name(options.command[0]),
                                   !named};
  record::Verdict verdict = record::preflight(request);
  if (const record::Finding* problem = verdict.problem()) {
    complain("record", problem->remedy.empty() ? problem->sentence
                                               : fmt::format("{}; {}", problem->sentence, problem->remedy));
    return verdict.exit_code;
  }
  for (const record::Finding& finding : verdict.findings)
    if (finding.severity == record::Severity::kWarning && !options.quiet)
      say(fmt::format("{}; {}", finding.sentence, finding.remedy));
  return Recording(options, verdict, *ticks, descriptors).run();
}

}  // namespace

const Command kRecordCommand = {"record", describe_record, run_record};

}  // namespace varve
