# SPDX-License-Identifier: MIT
"""What profilers say of programs that know the truth: shares of functions, beside what the program's threads measured of
themselves. `--check` is the short form for tests: varve alone, and an exit code."""
import argparse
import concurrent.futures
import os
import statistics
import subprocess
import sys
import tempfile

import judge
import profilers

# Name of the row, arguments of the program without the time, seconds; with which of varve's timers the short form has it. "auto" is
# the default, at its 10 ms.
CASES = [
    ("eight functions, random order", ["shares"], 8, ("cpu", "perf")),
    ("in step with a timer of 1 ms", ["in-phase", "1000"], 8, ()),
    ("in step with a timer of 4 ms", ["in-phase", "4000"], 8, ("perf", "auto")),
    ("in step with a timer of 8 ms", ["in-phase", "8000"], 8, ("perf", "auto")),
    ("in step with a timer of 10 ms", ["in-phase", "10000"], 8, ("perf", "auto")),
    ("two threads, equal work", ["fair", "2"], 4, ("cpu", "perf")),
    ("four threads, equal work", ["fair", "4"], 4, ()),
    ("threads of 1 ms", ["short", "1"], 2, ()),
    ("threads of 3 ms", ["short", "3"], 2, ("cpu", "perf")),
    ("threads of 8 ms", ["short", "8"], 2, ()),
    ("threads of 1 ms, three things in turn", ["stages", "1"], 4, ()),
    ("threads of 3 ms, three things in turn", ["stages", "3"], 8, ("cpu",)),
    ("threads of 15 ms, three things in turn", ["stages", "15"], 4, ()),
    ("system calls", ["calls"], 4, ("cpu", "perf")),
    ("100 frames deep", ["deep", "100"], 4, ()),
    ("500 frames deep", ["deep", "500"], 4, ()),
]

def measure(profiler, command, interval_ms, at):
    """The truth of the run, and the times and the number of samples found."""
    output = profiler.record(command, interval_ms, at)
    truth = {}
    for line in output.splitlines():
        name, _, number = line.partition("\t")
        if number.isdigit():
            truth[name] = int(number)
    if not truth:
        raise profilers.Unable("the program did not end as it should")
    return truth, *profiler.functions(at)


def cell(profiler, command, interval_ms, at):
    """(error of a share, standard errors, samples), or why there is none."""
    try:
        truth, found, samples = measure(profiler, command, interval_ms, at)
    except (profilers.Unable, OSError, subprocess.SubprocessError) as problem:
        return str(problem)
    return judge.worst_error(truth, found, samples) or "no samples of these functions"


def words(result):
    if isinstance(result, str):
        return result
    return f"{100 * result[0]:+.2f} points, {result[1]:.1f} s.e., n = {result[2]}"


def slow_downs(profiler, program, work, interval_ms):
    """One function made slower by 5, 10 and 20 %: its time against that of the others, beside the same of a run without."""
    row = []
    for percent in (5, 10, 20):
        ratios = []
        for slower in (0, percent):
            at = os.path.join(work, f"slow-{profiler.name.replace(' ', '-')}-{interval_ms}-{percent}-{slower}")
            truth, found, samples = measure(profiler, [program, "shares", "8000", str(slower)], interval_ms, at)
            share = judge.shares(found, truth)["f3"]
            ratios.append((share / (1 - share), 1 / (samples * share * (1 - share))))
        (before, a), (after, b) = ratios
        error = after / before * (a + b) ** 0.5  # of a ratio of odds, by the errors of their logarithms
        row.append(f"{100 * (after / before - 1):+.1f} % (s.e. {100 * error:.1f})")
    return row


def print_table(found_by, program, work, seconds):
    heads = [f"{p.name}, {rate} ms" for p in found_by for rate in p.rates_ms]
    print("| program | " + " | ".join(heads) + " |\n|---|" + "---|" * len(heads), flush=True)
    number = 0
    for name, arguments, length, _ in CASES:
        row = []
        for profiler in found_by:
            for rate in profiler.rates_ms:
                number += 1
                command = [program, arguments[0], str(int(length * seconds * 1000)), *arguments[1:]]
                row.append(words(cell(profiler, command, rate, os.path.join(work, f"p{number}"))))
        print(f"| {name} | " + " | ".join(row) + " |", flush=True)
    print("\nOne of eight functions made slower by 5, 10, 20 %: what two profiles say it is.\n\n| profiler | 5 % | 10 % | 20 % |\n|---|---|---|---|")
    for profiler in found_by:
        for rate in profiler.rates_ms:
            try:
                row = slow_downs(profiler, program, work, rate)
            except (profilers.Unable, OSError, TypeError, ZeroDivisionError) as problem:
                row = [str(problem), "", ""]
            print(f"| {profiler.name}, {rate} ms | " + " | ".join(row) + " |", flush=True)


def two_at_a_time(of, runs):
    """What `of` gives for each run. Of most programs one thread works at a time: two of them have a processor each."""
    together = [run for run in runs if run[0][1][0] != "fair"]
    with concurrent.futures.ThreadPoolExecutor(min(2, len(os.sched_getaffinity(0)))) as pool:
        yield from pool.map(of, together)
    yield from map(of, [run for run in runs if run not in together])


def check(program, build, work):
    """Failures, as sentences. One run of each, within a bound that all shares of a good profiler together keep in all but one of
    10,000 checks."""
    failures = []
    recorders = {timer: profilers.Varve(build, timer) for timer in ("cpu", "perf", "auto")}
    if not recorders["perf"].is_allowed(os.path.join(work, "allowed")):
        print("SKIPPED: varve --timer perf, which is not allowed here")
        del recorders["perf"], recorders["auto"]
    runs = [(case, recorders[timer]) for case in CASES for timer in case[3] if timer in recorders]
    compared = judge.FUNCTIONS * len(runs)
    limit = statistics.NormalDist().inv_cdf(1 - 1e-4 / 2 / compared)

    def of(run):
        (name, arguments, length, _), varve = run
        interval_ms, ms = (10, length * 300) if varve is recorders.get("auto") else (1, length * (150 if length > 4 else 250))
        command = [program, arguments[0], str(ms), *arguments[1:]]
        return name, varve, cell(varve, command, interval_ms, os.path.join(work, f"c{runs.index(run)}"))

    for name, varve, result in two_at_a_time(of, runs):
        print(f"{varve.name}, {name}: {words(result)}")
        if isinstance(result, str) or result[1] > limit:
            failures.append(f"{varve.name}, {name}: {words(result)}; {limit:.1f} are allowed")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--program", required=True, help="test/accuracy/truth.c, built")
    parser.add_argument("--length", type=float, default=1, help="multiple of the usual length of runs")
    parser.add_argument("--only", help="this profiler alone")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="varve-accuracy.") as work:
        if arguments.check:
            failures = check(arguments.program, arguments.build, work)
            sys.exit("\n".join(failures) if failures else 0)
        wanted = [p for p in profilers.all_profilers(arguments.build) if arguments.only in (None, p.name)]
        print_table(wanted, arguments.program, work, arguments.length)


if __name__ == "__main__":
    main()
