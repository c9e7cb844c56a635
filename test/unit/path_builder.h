// SPDX-License-Identifier: MIT
// Profiles for tests of the critical path, told as what happened: threads with their times, waits and
// releases, in milliseconds since the run began. In memory; run states follow from the waits, as an observer
// of switches would see them. Not ProfileBuilder: nothing is written and read back. Context: tests.
#pragma once

#include <string>
#include <vector>

#include "viewer/analyze/critical_path.h"
#include "viewer/load/profile.h"

namespace varve::test {

class PathBuilder {
 public:
  static constexpr uint64_t kStart = 5'000'000'000;  // of the run, on CLOCK_MONOTONIC

  explicit PathBuilder(double elapsed_ms);

  /// Of the only process, unless told otherwise. The first one is the main thread.
  ThreadId thread(const std::string& name, double start, double end, ThreadId creator = {},
                  double created = 0, ProcessId process = {0});
  ProcessId process(int32_t pid, int32_t ppid, double start, double end);
  /// In any order.
  void wait(ThreadId thread, format::ObjectKind kind, uint64_t object, double begin, double end,
            uint32_t count = 1);
  void release(ThreadId thread, format::ObjectKind kind, uint64_t object, double time);
  int32_t tid(ThreadId thread) const { return profile_.threads[thread.index()].tid; }
  load::Profile& profile() { return profile_; }

  /// Threads are active but in their waits, and switches say so.
  void observe();
  analyze::CriticalPath path();

 private:
  load::Profile profile_;
};

/// "0-10 Cruise main, 10-12 Overhead main to T2": times in ms since the start of the run, and every segment
/// begins where the one before ended. Parts without a length are not there.
std::string words(const load::Profile& profile, const analyze::CriticalPath& path);

/// Clay P. Breshears, Using Intel Thread Profiler: Philosophy and Theory, figure 1: E0 to E12 here at 0, 10,
/// ..., 120 ms.
PathBuilder breshears_example();

}  // namespace varve::test
