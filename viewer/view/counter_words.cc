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
  const char* sentence;  // {} is the number
};

constexpr Words kWords[] = {
    {Counter::kFileGrowFailed, true,
     "The profile could not grow in {} places: a full disk or a limit on file size (ulimit -f); recording "
     "ended there."},
    {Counter::kTimerCreateFailed, true,
     "{} CPU timers were refused: raise the limit on pending signals (ulimit -i) to sample every thread."},
    {Counter::kThreadsUnsampled, true,
     "{} threads ran without being sampled: no memory or no timer for them."},
    {Counter::kSamplesLost, true,
     "{} samples were lost: there was no room to write them; their time is [lost samples]."},
    {Counter::kModulesLost, true,
     "{} libraries loaded at run time could not be noted: addresses in them have no names."},
    {Counter::kMarksLost, true,
     "{} marks or pauses of the program could not be noted: there was no room, or they took a megabyte."},
    {Counter::kChildrenLost, true,
     "{} ended children could not be noted: there was no room, or they took a megabyte; what the kernel took "
     "to end them is [not sampled]."},
    {Counter::kClockRefused, true,
     "{} times the kernel refused the CPU clock of a thread (a seccomp filter?): its time is [not sampled]."},
    {Counter::kFiltered, true,
     "{} processes installed a seccomp filter that kills for system calls of the agent: they were recorded "
     "until then, what they ran later is [not sampled]."},
    {Counter::kEventsRefused, false,
     "{} threads had the ticks of their CPU timers: the kernel refused performance events, a debugger was "
     "there, or they are switched so often that events cost too much."},
    {Counter::kWaitsLost, false,
     "{} waits are not recorded: an exception of a signal handler left them, or a signal handler waited "
     "while "
     "one was being noted, or there was no room."},
    {Counter::kForeignSignals, false,
     "{} signals of the kind that ticks come by were not varve's and were passed on to the program."},
    {Counter::kTicksPaused, false, "{} ticks came while recording was paused; their time is [paused]."},
    {Counter::kExecFailed, false, "{} calls of exec failed; recording went on in the calling program."},
};

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
      sentences.push_back({fmt::format(fmt::runtime(words.sentence), sum), words.trouble});
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
