#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# faults.py KIND LIMIT RECORDER TARGET: records TARGET with an agent whose N-th call of KIND fails (test/faults), for N = 1, 2, 3 ...
# until none is hit, or for 1, 2, 4, 16, 64 ... only where LIMIT is few. Each time the target must print and return what it does
# without varve, in time; the profile must open; its sums must hold; and where something is missing a reason must be given.
# With N+ instead of N: LIMIT all+ and few+ refuse all later calls too. Prints what is wrong, ends with 1 then.
import json, os, re, shutil, subprocess, sys

kind, limit, recorder, target = sys.argv[1:]
later, few = limit.endswith("+"), limit.startswith("few")
THREADS = 8  # of fault_target; its exec makes a second image of one
REASON = {
    "open": "Too many open files|not read", "mmap": "Cannot allocate memory", "fallocate": "space|room", "clock_gettime": "CPU clock", "timer_create": "timer.*unavail",
    "timer_settime": "timer.*permitted", "sigaction": "SIGPROF.*permitted",
}
# Who is refused a timer has an event where that is allowed, and then nothing is missing; an event is asked for first by perf only.
TIMER = {"timer_create": "cpu", "timer_settime": "cpu", "perf_event_open": "perf"}
TEXT = "Cannot allocate|permitted|Too many|No space|unavail|Input/output"
REASON["any"] = "|".join([*REASON.values(), TEXT])


def run(*command, **environment):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, **environment})


def lacks(summary):
    """What is not in the profile: a reason must be given for it."""
    missing = []
    if summary["samples"] == 0: missing.append("samples")
    if summary["threads"] < THREADS: missing.append("threads")
    if summary["unsampled_ns"] > summary["cpu_ns"] * 0.05 + 4e6: missing.append("time")
    return missing


def trouble(bare, n):
    """What is wrong with a run whose n-th call fails, and whether any was refused."""
    log, profile = f"log.{kind}", f"p.{kind}"
    if os.path.exists(log): os.remove(log)
    shutil.rmtree(profile, ignore_errors=True)
    try:
        record = run(recorder, "record", "--timer", TIMER.get(kind, "auto"), "--interval", "4ms", "-o", profile, target, VARVE_FAULT=f"{kind}:{n}{'+' * later}",
                     VARVE_FAULT_LOG=os.path.abspath(log))
    except subprocess.TimeoutExpired:
        return ["it hangs"], True
    hit = os.path.exists(log)
    wrong = []
    if record.stdout != bare.stdout: wrong.append(f"it printed {record.stdout!r}")
    if record.returncode != bare.returncode: wrong.append(f"it ended with {record.returncode}")
    quality, summary = run(recorder, "report", "quality", profile), run(recorder, "report", "summary", "--format", "json", profile)
    if quality.returncode or summary.returncode: return wrong + [f"no report: {quality.stderr} {summary.stderr}"], hit
    sums = json.loads(summary.stdout)
    if sums["sampled_ns"] + sums["residual_ns"] + sums["unsampled_ns"] != sums["cpu_ns"]: wrong.append(f"sums {sums}")
    kernel = sums["user_ns"] + sums["system_ns"] if "user_ns" in sums else sums["cpu_ns"]
    if abs(sums["cpu_ns"] - kernel) > kernel * 0.05 + 5e6: wrong.append(f"CPU time of {sums['cpu_ns']}, the kernel charged {kernel}")
    missing = lacks(sums)
    if missing and not re.search(REASON.get(kind, TEXT), quality.stdout):
        wrong.append(f"no {', '.join(missing)}, and no reason:\n{quality.stdout}{record.stderr}")
    return wrong, hit


def main():
    bare = run(target)
    failures, hits, n = 0, 0, 1
    while True:
        wrong, hit = trouble(bare, n)
        for each in wrong: print(f"{kind}:{n}{'+' * later}: {each}")
        failures += bool(wrong)
        if not hit: break
        hits += 1
        n = n + 1 if not few else 4 * n if n > 1 else 2
    print(f"{kind}: {hits} runs with a call refused, {failures} wrong")
    return failures != 0 or hits == 0


sys.exit(main())
