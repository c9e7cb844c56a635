// SPDX-License-Identifier: MIT
// Words for the end of a recording. See closing_line.h.
// Context: viewer.
#include "viewer/record/closing_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "viewer/load/tick_phase.h"
#include "viewer/record/host_facts.h"
#include "viewer/record/shell_words.h"

namespace varve::record {
namespace {

constexpr uint64_t kFew = 20;  // a share of 20 samples has an error of 10 % and more

std::string plural(uint64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", with_commas(count), count == 1 ? one : many);
}

/// What `record --interval` takes that is less.
std::string_view or_more_often(Nanos interval) {
  constexpr uint64_t kMs = 1'000'000, kLeast = kMs / 10;
  if (interval.count > kMs) return ", or use --interval 1ms";
  return interval.count > kLeast ? ", or use --interval 100us" : "";
}

}  // namespace

std::string with_commas(uint64_t number) {
  std::string digits = fmt::format("{}", number), text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i && (digits.size() - i) % 3 == 0) text.push_back(',');
    text.push_back(digits[i]);
  }
  return text;
}

std::string time_text(Nanos time) {
  double seconds = double(time.count) / double(kNanosPerSecond.count);
  if (seconds >= 600) return fmt::format("{} min {} s", uint64_t(seconds) / 60, uint64_t(seconds) % 60);
  if (seconds >= 10) return fmt::format("{:.1f} s", seconds);
  if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
  return fmt::format("{:.{}f} ms", seconds * 1000, seconds < 0.01 ? 1 : 0);
}

std::string closing_line(const Finalized& profile, const RunEnd& end, const std::string& directory) {
  std::string quoted = shell_quoted(directory);
  if (!profile.loaded)
    return access(directory.c_str(), F_OK) == 0 ? fmt::format("{}; profile in {}", profile.trouble, quoted)
                                                : profile.trouble;
  std::string where = profile.processes > 1
                          ? fmt::format("{} of {}", plural(profile.threads, "thread", "threads"),
                                        plural(profile.processes, "process", "processes"))
                          : plural(profile.threads, "thread", "threads");
  std::string line = fmt::format("{}, {} of CPU time in {}; profile in {}; next: varve report {}",
                                 plural(profile.samples, "sample", "samples"), time_text(profile.cpu), where,
                                 quoted, quoted);
  if (end.still_running)
    line += fmt::format(" ({} not recorded any more)",
                        end.still_running == 1 ? "1 process went on,"
                                               : fmt::format("{} processes went on,", end.still_running));
  return line;
}

std::string why_few_samples(const Finalized& profile, const RunEnd& end, Nanos interval) {
  if (profile.no_space)
    return fmt::format("recording ended early: no room for the profile ({})",
                       std::strerror(profile.last_errno));
  if (profile.grow_refused)
    return fmt::format("for a while the profile could not grow ({}): varve report quality says what is lost",
                       std::strerror(profile.last_errno));
  if (profile.empty_files)
    return fmt::format("{} not recorded: no room for the profile on its disk, or within ulimit -f",
                       plural(profile.empty_files, "program was", "programs were"));
  if (profile.refused_processes)
    return fmt::format("{} not recorded: {}",
                       plural(profile.refused_processes, "program was", "programs were"),
                       load::refusal_words(profile.first_refusal));
  if (profile.filtered)
    return fmt::format(
        "{} recorded only until a seccomp filter of its own that kills for system calls of the agent, or a "
        "mode of prctl(2) in which they do",
        plural(profile.filtered, "program was", "programs were"));
  if (profile.loaded && profile.threads_unsampled)
    return fmt::format("{} not sampled: the kernel refused a timer, or memory ({}){}",
                       plural(profile.threads_unsampled, "thread was", "threads were"),
                       std::strerror(profile.last_errno),
                       profile.last_errno == EAGAIN ? "; see ulimit -i" : "");
  if (profile.loaded && profile.small_stacks)
    return fmt::format("{} not sampled at the end: an alternate signal stack without room for a tick",
                       plural(profile.small_stacks, "thread was", "threads were"));
  std::string so = profile.samples ? "few samples" : "no samples";
  const bool few = profile.samples < kFew;
  // Ticks that come before recording begins say nothing of samples.
  if (profile.loaded && few && profile.agent_files && end.never_began)
    return so + ": the command ended before --delay was over";
  if (profile.loaded && few && 2 * profile.held_back.count > profile.cpu.count)
    return fmt::format(
        "{}: the signals of the timers were held back; the program blocks SIGPROF, or a sanitizer delays "
        "it{}",
        so, profile.in_step ? ", or it works in step with the kernel's tick: record with --timer perf" : "");
  if (profile.loaded && profile.in_step) return load::kInStepAdvice;
  if (!profile.loaded || !few) return "";
  if (!profile.agent_files)
    return so + ": the agent did not start in the command; varve check COMMAND tells why";
  Nanos seen = saturating_sub(profile.cpu, profile.unsampled);
  const bool enough = profile.cpu.count / interval.count >= kFew && seen.count / interval.count < kFew;
  if (enough || (profile.unsampled > seen && profile.unsampled > interval))
    return fmt::format(
        "{}: {} of {} of CPU time were spent where the agent is not, or was not recording; see varve "
        "report quality",
        so, time_text(profile.unsampled), time_text(profile.cpu));
  const std::string little = fmt::format(
      "{}: {} of CPU time is little at one sample each {}; {}{}", so, time_text(profile.cpu),
      time_text(interval), end.stop == RunEnd::Stop::kDuration ? "make --duration longer" : "run it longer",
      or_more_often(interval));
  if (profile.cpu.count / interval.count < kFew) return little;
  if (profile.residual > profile.sampled)
    return so + ": most threads ended before their first tick; their time is counted, but has no stacks";
  if (profile.overruns > profile.ticks)
    return fmt::format("{}: the kernel's clock is coarser than {}, so that ticks came merged; run it longer",
                       so, time_text(interval));
  return little;
}

}  // namespace varve::record
