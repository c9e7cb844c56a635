// SPDX-License-Identifier: MIT
// See band_words.h.
// Context: viewer.
#include "viewer/view/band_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/session_keys.h"
#include "common/units.h"

namespace varve::view {
namespace {

using analyze::SliceState;

struct Letter {
  char letter;
  SliceState state;
  const char* meaning;
};
constexpr Letter kLetters[] = {
    {'R', {RunState::kRunning, WaitKind::kOther}, "running"},
    {'r', {RunState::kReady, WaitKind::kOther}, "ready"},
    {'L', {RunState::kBlocked, WaitKind::kLock}, "lock"},
    {'C', {RunState::kBlocked, WaitKind::kCondition}, "condition"},
    {'I', {RunState::kBlocked, WaitKind::kIo}, "I/O"},
    {'S', {RunState::kBlocked, WaitKind::kSleep}, "sleep"},
    {'J', {RunState::kBlocked, WaitKind::kJoin}, "join"},
    {'-', {RunState::kBlocked, WaitKind::kOther}, "other or unseen wait"},
    {' ', {RunState::kExited, WaitKind::kOther}, ""},
};

/// Threads are looked at and rings are read so often at least.
constexpr Nanos kLateEnd{200 * kNanosPerMilli.count};

}  // namespace

std::string_view band_name(analyze::Band band) {
  static constexpr std::array kNames = {"Idle", "Poor", "Ok", "Ideal", "Over", "unknown"};
  return kNames[size_t(band)];
}

std::string lower_case(std::string_view name) {
  std::string text(name);
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  return text;
}

std::string_view class_name(analyze::LevelClass level_class) {
  static constexpr std::array kNames = {"Idle", "Serial", "Undersubscribed", "Parallel", "Oversubscribed"};
  return kNames[size_t(level_class)];
}

std::string_view scale_name(analyze::Scale scale) {
  return scale == analyze::Scale::kConcurrency ? "concurrency" : "utilization";
}

std::string_view source_name(load::RunStates::Source source) {
  static constexpr std::array kNames = {"none", "switches", "sweeps"};
  return kNames[size_t(source)];
}

char state_letter(SliceState state) {
  for (const Letter& each : kLetters)
    if (each.state == state) return each.letter;
  return ' ';
}

std::string_view letter_meaning(char letter) {
  for (const Letter& each : kLetters)
    if (each.letter == letter) return each.meaning;
  return "";
}

std::string number_words(double number) { return fmt::format("{:.4g}", number); }

std::string unknown_states_words(const load::Profile& profile) {
  const load::Session& session = profile.session;
  if (const std::string_view trouble = session.text(session_key::kObserverTrouble); !trouble.empty())
    return fmt::format(": {}.", trouble);
  const std::string_view observer = session.text(session_key::kObserver);
  if (!observer.empty() && observer != "off") return ": the file with them is missing or damaged.";
  const std::string_view reason = session.text(session_key::kObserverReason);
  const std::string why = reason.empty() ? "" : fmt::format(" ({})", reason);
  if (!session.finished && observer.empty())
    return why + ": the recorder had written none, or had no room for them.";
  return why + "; record with --run-states auto.";
}

std::string states_end_words(const load::Profile& profile) {
  const Nanos observed = profile.since_start(profile.run_states.end);
  const Nanos elapsed = profile.session.elapsed;
  if (!profile.run_states.known() || observed + kLateEnd >= elapsed) return "";
  const std::string_view trouble = profile.session.text(session_key::kObserverTrouble);
  return fmt::format("{:.2f} of {:.2f} s{}", in_seconds(observed), in_seconds(elapsed),
                     trouble.empty() ? "" : fmt::format(" ({})", trouble));
}

std::string paused_words(const load::Profile& profile) {
  const analyze::TimeRange run{profile.session.start_time.count, profile.run_states.end.count};
  const uint64_t paused = run.length() - analyze::CountedTime(profile.pauses).in(run);
  if (!profile.run_states.known() || paused == 0) return "";
  return fmt::format("{:.2f} of {:.2f} s", in_seconds({paused}), in_seconds(profile.session.elapsed));
}

std::string source_words(const load::Profile& profile) {
  using Origin = load::RunStates::Source;
  const load::RunStates& states = profile.run_states;
  const std::string_view reason = profile.session.text(session_key::kObserverReason);
  const std::string why = reason.empty() ? "" : fmt::format(" ({})", reason);
  if (!states.known()) return "The run states of threads were not recorded" + unknown_states_words(profile);
  std::string words;
  if (states.source == Origin::kSwitches) {
    const bool hidden = !profile.session.text(session_key::kObserverHiddenProcess).empty();
    words = hidden ? "Run states are those of every switch of a thread, but for processes that the kernel "
                     "hides: varve report quality names them."
                   : "Run states are exact: every switch of a thread was recorded.";
    if (states.lost)
      words = fmt::format("Run states come from switches of threads, of which {} were lost.", states.lost);
  } else {
    const uint64_t period = profile.session.number(session_key::kObserverPeriodNs);
    words = fmt::format("Run states come from looks at all threads{}: what is shorter shows as a mean{}.",
                        period ? fmt::format(" every {:.0f} ms", double(period) / 1e6) : "", why);
  }
  if (const std::string end = states_end_words(profile); !end.empty())
    words += fmt::format(" They end after {}: what came later is in no band and no level.", end);
  if (profile.session.processors == 0 && profile.session.text(session_key::kAffinity).empty())
    words += " How many processors there were is not in the profile: it is taken for one.";
  if (profile.session.text(session_key::kFollow) == "0")
    words += " They are those of the command's own process alone (--no-follow).";
  if (const std::string paused = paused_words(profile); !paused.empty())
    words += fmt::format(" What was paused, {}, is in no band and no level.", paused);
  return words;
}

bool levels_are_of_all(const Request& request) {
  const analyze::Filter& filter = request.filter;
  return filter.thread.given() || filter.module.given() || filter.function.given() ||
         request.metric != analyze::kCpu;
}

void add_scope_note(View& view, const Request& request) {
  if (levels_are_of_all(request))
    view.notes.push_back(
        "Levels are those of all threads: --thread, --module, --function and --metric do not change them, "
        "--process and --time do.");
}

}  // namespace varve::view
