// SPDX-License-Identifier: MIT
// One table: a counter, its sentence, and whether it is trouble.
// Context: viewer.
#include "viewer/view/counter_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace varve::view {
namespace {

using format::Counter;

struct Words {
  Counter counter;
  bool trouble;
  const char *one, *many;  // {} is the number
  const char* rest;
};

constexpr Words kWords[] = {
    {Counter::kFileGrowFailed, true, "The profile could not grow in {} place",
     "The profile could not grow in {} places",
     ": a full disk or a limit on file size (ulimit -f); recording ended there."},
    {Counter::kGrowRefused, true, "The profile could not grow for a while in {} place",
     "The profile could not grow for a while in {} places",
     ": a limit of descriptors (ulimit -n) or of memory; what had no place in time is lost."},
    {Counter::kTimerCreateFailed, true, "{} CPU timer was refused", "{} CPU timers were refused",
     ": raise the limit on pending signals (ulimit -i) to sample every thread."},
    {Counter::kSmallStacks, true, "{} time a thread had an alternate signal stack without room for a tick",
     "{} times a thread had an alternate signal stack without room for a tick",
     ": while that is so it has no samples."},
    {Counter::kTicksWithoutRoom, false, "{} tick had too little room on an alternate signal stack",
     "{} ticks had too little room on alternate signal stacks", ": their time is in the samples after them."},
    {Counter::kThreadsUnsampled, true, "{} thread ran without being sampled",
     "{} threads ran without being sampled", ": no memory or no timer for them."},
    {Counter::kSamplesLost, true, "{} sample was lost", "{} samples were lost",
     ": there was no room to write them; their time is [lost samples]."},
    {Counter::kModulesLost, true, "{} file of code could not be noted", "{} files of code could not be noted",
     ": addresses in them have no names."},
    {Counter::kMarksLost, true, "{} mark or pause of the program could not be noted",
     "{} marks or pauses of the program could not be noted", ": there was no room, or they took a megabyte."},
    {Counter::kChildrenLost, true, "{} ended child could not be noted",
     "{} ended children could not be noted",
     ": there was no room, or they took a megabyte; what the kernel took to end them is [not sampled]."},
    {Counter::kClockRefused, true, "{} time the kernel refused the CPU clock of a thread",
     "{} times the kernel refused the CPU clock of a thread",
     " (a seccomp filter?): its time is [not sampled]."},
    {Counter::kFiltered, true, "{} process installed a seccomp filter",
     "{} processes installed a seccomp filter",
     " that kills for system calls of the agent, or a mode of prctl(2) in which they do: it was recorded "
     "until then, what ran later is [not sampled]."},
    {Counter::kEventsRefused, false, "{} thread had the ticks of its CPU timer",
     "{} threads had the ticks of their CPU timers",
     ": the kernel refused performance events, a debugger was there, or switches were so frequent that "
     "events "
     "cost too much."},
    {Counter::kEventsInStep, false, "{} time a thread got performance events for its ticks",
     "{} times a thread got performance events for its ticks",
     ": it waits so often that it may work in step with the kernel's tick, where CPU timers see some moments "
     "of "
     "its work only."},
    {Counter::kWaitsLost, false, "{} wait is not recorded", "{} waits are not recorded",
     ": left by an exception of a signal handler, or of a handler that ran while another was being noted, or "
     "there was no room."},
    {Counter::kForeignSignals, false, "{} signal of the kind that ticks come by was not varve's",
     "{} signals of the kind that ticks come by were not varve's", ", and went on to the program."},
    {Counter::kTicksPaused, false, "{} tick came while recording was paused",
     "{} ticks came while recording was paused", "; the time is [paused]."},
    {Counter::kExecFailed, false, "{} call of exec failed", "{} calls of exec failed",
     "; recording went on in the calling program."},
};

std::string sentence_of(const Words& words, uint64_t count) {
  return fmt::format(fmt::runtime(count == 1 ? words.one : words.many), count) + words.rest;
}

uint64_t sum_of(const load::Profile& profile, Counter which) {
  uint64_t sum = 0;
  for (const load::Process& process : profile.processes) sum += process.counter(which);
  return sum;
}

/// An errno is no count: the first that any process noted.
int last_errno(const load::Profile& profile) {
  for (const load::Process& process : profile.processes) {
    if (const uint64_t error = process.counter(Counter::kLastErrno); error != 0) return int(error);
  }
  return 0;
}

}  // namespace

std::vector<CounterSentence> counter_sentences(const load::Profile& profile) {
  std::vector<CounterSentence> sentences;
  for (const Words& words : kWords) {
    if (const uint64_t sum = sum_of(profile, words.counter); sum != 0) {
      sentences.push_back({sentence_of(words, sum), words.trouble});
    }
  }
  if (const int error = last_errno(profile); error != 0) {
    sentences.push_back({fmt::format("The last refusal of the kernel was: {}.", std::strerror(error)), true});
  }
  std::stable_sort(
      sentences.begin(), sentences.end(),
      [](const CounterSentence& a, const CounterSentence& b) { return a.trouble && !b.trouble; });
  return sentences;
}

}  // namespace varve::view
