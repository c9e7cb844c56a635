// SPDX-License-Identifier: MIT
// Keys of the kText records in the session file (key NUL value NUL). Numbers are decimal text. A key that is
// missing or does not parse leaves its field of load::Session empty; the last record of a key wins. Not the
// place for counters of the agent: those are format::Counter. Context: viewer; written by viewer/record, read
// by viewer/load.
#pragma once

namespace varve::session_key {

inline constexpr char kCommand[] = "command";        // shell-quoted argv
inline constexpr char kHost[] = "host";              // uname -n
inline constexpr char kKernel[] = "kernel";          // uname -r
inline constexpr char kVersion[] = "version";        // of varve record
inline constexpr char kDirectory[] = "directory";    // working directory of the command
inline constexpr char kProcessors[] = "processors";  // online ones
inline constexpr char kAffinity[] = "affinity";      // processors that the recorder may use, "0-3,8"
inline constexpr char kCores[] = "cores";            // physical cores among those
inline constexpr char kUsable[] =
    "usable";  // what threads of the run could use: "NS CORES LIST" since NS after exec; one record a change
inline constexpr char kCgroupCpuMax[] =
    "cgroup_cpu_max";  // cpu.max as read: "QUOTA PERIOD" in us, or "max PERIOD"
inline constexpr char kIntervalNs[] = "interval_ns";  // between ticks of a thread's CPU clock
inline constexpr char kTimer[] = "timer";             // what ticks come from: "cpu" (at first), "perf"
inline constexpr char kFirstTimer[] = "first_timer";  // what the first ticks of a thread come from, likewise
inline constexpr char kTimerReason[] =
    "timer_reason";  // a sentence: why not "perf", where the interval is below the kernel's tick
inline constexpr char kKernelTickNs[] = "kernel_tick_ns";          // CPU timers expire no more often
inline constexpr char kStackDepth[] = "stack_depth";               // frames
inline constexpr char kStartMonotonicNs[] = "start_monotonic_ns";  // just before exec
inline constexpr char kStartRealtimeNs[] = "start_realtime_ns";    // the same moment, since the epoch
inline constexpr char kElapsedNs[] = "elapsed_ns";    // from exec to the end of the last followed process
inline constexpr char kExitStatus[] = "exit_status";  // of the command, as of wait4
inline constexpr char kFinished[] = "finished";       // "1" once the recorder saw the end of the run
inline constexpr char kFollow[] = "follow";           // "0" with --no-follow
inline constexpr char kWaitMinNs[] = "wait_min_ns";   // waits from this on have a stack; "0" with --waits off
inline constexpr char kDelayNs[] = "delay_ns";        // --delay
inline constexpr char kDurationNs[] = "duration_ns";  // --duration
inline constexpr char kObserver[] = "observer";       // what gave run states: "switches", "sweeps" or "off"
inline constexpr char kObserverReason[] =
    "observer_reason";  // a sentence: why the observer is not "switches", where nobody asked for another
inline constexpr char kObserverTrouble[] =
    "observer_trouble";  // a sentence: why run states end before the run does
inline constexpr char kObserverCpuNs[] = "observer_cpu_ns";        // CPU time of the observer's thread
inline constexpr char kObserverPeriodNs[] = "observer_period_ns";  // mean time from one sweep to the next
inline constexpr char kObserverLost[] = "observer_lost";           // switch records that found no room
inline constexpr char kObserverRefusedLooks[] =
    "observer_refused_looks";  // looks at what a thread waits for that the kernel did not allow
inline constexpr char kObserverStacks[] = "observer_stacks";  // of waits, seen from outside
inline constexpr char kObserverStacksMoved[] =
    "observer_stacks_moved";  // those not kept: the thread went on during the look
inline constexpr char kObserverRefusedProcesses[] =
    "observer_refused_processes";  // whose threads' waits the kernel did not let the observer look at
inline constexpr char kObserverHidden[] =
    "observer_hidden";  // processes, perhaps of the run, that /proc does not show to this user
inline constexpr char kObserverHiddenProcess[] =
    "observer_hidden_process";  // "NAME (PID)", one record each: without run states from an exec on
inline constexpr char kArgument[] = "argument";   // the words of the command, one record each, in order
inline constexpr char kProgram[] = "program";     // path of the file that was executed
inline constexpr char kMachine[] = "machine";     // uname -m
inline constexpr char kCpuModel[] = "cpu_model";  // first "model name" of /proc/cpuinfo
inline constexpr char kUser[] = "user_id";        // effective uid of the recorder
inline constexpr char kMainPid[] = "main_pid";    // of the command
inline constexpr char kWarning[] = "warning";     // a sentence of the preflight; one record each
inline constexpr char kStopReason[] =
    "stop_reason";  // why recording ended before the run: "duration", "interrupt"
inline constexpr char kStopMonotonicNs[] = "stop_monotonic_ns";  // when, CLOCK_MONOTONIC
inline constexpr char kOutsidePid[] =
    "outside_pid";  // "FILE PID": the number by which the observer knows the process of an agent file, where
                    // it has a pid namespace of its own; one record each
inline constexpr char kFileLength[] = "file_length";    // "BYTES NAME", one record each: agents' files, up to
                                                        // their last record, and the observer's
inline constexpr char kFileLengths[] = "file_lengths";  // how many of those records there are
inline constexpr char kStillRunning[] = "still_running";  // followed processes that went on without us

}  // namespace varve::session_key
