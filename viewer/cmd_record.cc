// SPDX-License-Identifier: MIT
// varve record CMD: options, preflight, the recording, and an end like the command's. All that is printed
// goes to stderr; stdout is the target's. Context: viewer.
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>

#include "common/sample_format.h"
#include "common/wait_format.h"
#include "viewer/command.h"
#include "viewer/crash_report.h"
#include "viewer/record/descriptors.h"
#include "viewer/record/observe/switch_rings.h"
#include "viewer/record/preflight.h"
#include "viewer/record/profile_directory.h"
#include "viewer/record/recording.h"
#include "viewer/record/tick_choice.h"
#include "viewer/render/escape.h"
#include "viewer/stored_views.h"

namespace varve {
namespace {

using record::RecordOptions;
using record::observe::RunStates;

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
  constexpr Nanos kYear{365 * 86'400 * kNanosPerSecond.count};
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
       "ticks; at performance events of its CPU time (perf), which keep to any interval and are not allowed "
       "to every user; or at events, where they are allowed, for intervals below the kernel's tick, and from "
       "it on for threads that wait often (auto).",
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
           "Record waits for locks, conditions, threads, processes, input, output and time, and who ended "
           "them. Those of 50us, or of TIME in {} (a number alone is us), have a stack; shorter ones are "
           "counted.",
           kTimeUnits),
       set_waits(options.wait_min)},
      {"Scope", "--no-follow", "", "", "Record the command alone, not the processes it starts.",
       set_flag(options.no_follow)},
      {"Scope", "--delay", "TIME", "",
       fmt::format("Begin to record this long after the start, in {}; a number alone is s.", kTimeUnits),
       set_duration(options.delay, "s", {1}, kYear)},
      {"Scope", "--duration", "TIME", "",
       fmt::format(
           "Stop recording after this long, in {}; a number alone is s. The command goes on, and varve "
           "waits for it.",
           kTimeUnits),
       set_duration(options.duration, "s", {1}, kYear)},
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

int run_record(std::span<const std::string> arguments) {
  set_failure_exit(record::kExitOwnFailure);
  RecordOptions options;
  Start start = start_command(record_table(options), arguments);
  if (!start.go_on) return start.exit_code;
  if (options.command.empty()) {
    return fail("record", "name a command to record: varve record [options] CMD [ARG...]", kExitUsage);
  }
  if (std::string why = record::observe::why_no_switches();
      options.run_states == RunStates::kSwitches && !why.empty()) {
    return fail("record", why + "; use --run-states sweeps", kExitUsage);
  }
  record::guard_standard_descriptors();
  record::InheritedDescriptors descriptors;
  const auto ticks = record::TickChoice::make(options.timer, options.interval);
  if (!ticks) {
    return fail("record", ticks.error() + "; use --timer cpu", kExitUsage);
  }
  bool named = !options.output.empty();
  record::PreflightRequest request{options.command, record::find_agent(options.wait_min.count != 0),
                                   named ? options.output : record::default_profile_name(options.command[0]),
                                   !named};
  record::Verdict verdict = record::preflight(request);
  if (const record::Finding* problem = verdict.problem()) {
    return fail("record",
                problem->remedy.empty() ? problem->sentence
                                        : fmt::format("{}; {}", problem->sentence, problem->remedy),
                verdict.exit_code);
  }
  for (const record::Finding& finding : verdict.findings)
    if (finding.severity == record::Severity::kWarning && !options.quiet)
      say(fmt::format("{}; {}", finding.sentence, finding.remedy));
  const auto status = record::record_command({options, verdict, *ticks, descriptors, store_views, say});
  if (status) return end_like(*status);
  return fail("record", status.error().sentence, status.error().exit_code);
}

}  // namespace

const Command kRecordCommand = {"record", describe_record, run_record};

}  // namespace varve
