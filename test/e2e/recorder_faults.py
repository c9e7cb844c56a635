#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# recorder_faults.py RECORDER LIBRARY TARGET STEP: varve record with LIBRARY (test/faults/refuse_recorder.c) preloaded, whose N-th call
# fails, for N = 1, 1 + STEP, ... until none is hit. Either the target is not begun, for a reason in one sentence; or it does what it
# does bare, and the profile opens or there is a sentence why not. Prints what is wrong, ends with 1 then.
import os, re, shutil, subprocess, sys

recorder, library, target, step = sys.argv[1:]
OWN_CODES = (2, 125, 126)


def run(*command, **environment):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, **environment})


def trouble(bare, n):
    """What is wrong with a run whose n-th call fails, and which call that was: none if there were fewer."""
    for old in ("log", ): os.path.exists(old) and os.remove(old)
    shutil.rmtree("p", ignore_errors=True)
    try:
        record = run(recorder, "record", "-o", "p", target, LD_PRELOAD=library, VARVE_FAULT=str(n), VARVE_FAULT_LOG=os.path.abspath("log"))
    except subprocess.TimeoutExpired:
        return ["it hangs"], "?"
    call = open("log").read().strip() if os.path.exists("log") else ""
    wrong = []
    lines = record.stderr.splitlines()
    if any(not line.startswith("varve") for line in lines): wrong.append(f"it says {record.stderr!r}")
    if record.returncode in OWN_CODES and record.stdout == "":
        if len(lines) != 1: wrong.append(f"it ends with {record.returncode}, and not in one sentence: {record.stderr!r}")
        left = [name for name in os.listdir(".") if name.startswith(".p.") or name == "p"]
        if left: wrong.append(f"it leaves {left}")
        for name in left: shutil.rmtree(name, ignore_errors=True)
        return wrong, call
    if record.stdout != bare.stdout or record.returncode != bare.returncode:
        return wrong + [f"the target printed {record.stdout!r} and ended with {record.returncode}: {record.stderr!r}"], call
    for view in ("quality", "summary", "hotspots"):
        report = run(recorder, "report", view, "p")
        if report.returncode and len(report.stderr.splitlines()) != 1: wrong.append(f"report {view}: {report.stderr!r}")
        if report.returncode < 0: wrong.append(f"report {view} ends by signal {-report.returncode}")
    return wrong, call


def main():
    bare, failures, runs, n = run(target), 0, 0, 1
    while True:
        wrong, call = trouble(bare, n)
        for each in wrong: print(f"call {n}, {call}: {each}")
        failures += bool(wrong)
        if not call: break
        runs += 1
        n += int(step)
    print(f"recorder: {runs} runs with a call refused, {failures} wrong")
    return failures != 0 or runs == 0


sys.exit(main())
