# SPDX-License-Identifier: MIT
# known_waits.py WHAT TYPE FUNCTION [HOLDER]: what test 86 asks of the profile "waits" of a program that measured its own
# waits and printed them, as the last line of "out": the waits of the thread "waiter" for objects of a type that it first
# waited for in a function. Prints what is wrong. One process for all questions of a case: there are dozens of cases.
import csv
import json
import os
import subprocess
import sys


def rows(view, *options):
    command = [os.environ["VARVE"], "report", view, "--format", "csv", *options, "waits"]
    return list(csv.DictReader(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()))


def total(table, column):
    return sum(int(row[column] or 0) for row in table)


what, kind, function, *holder = sys.argv[1:]
truth = json.loads(open("out").readlines()[-1])
# The other thread's call may take long for want of a processor, and of a write nobody knows whether that was it.
own = [row for row in rows("waits", "--thread", "waiter") if row["type"] == kind and row["function"] == function]
wrong = []
if total(own, "wait_count") != truth["waits"]:
    wrong.append(f"{total(own, 'wait_count')} waits of {what}, not {truth['waits']}")
# A thread that is awake and has no processor yet does not wait any more, but its own clock counts it.
least, most = 0.97 * truth["waited_ns"] - truth["ready_ns"] - 1e6, 1.03 * truth["waited_ns"]
if not least <= total(own, "wait_ns") <= most:
    wrong.append(f"wait of {what} is {total(own, 'wait_ns')}, by its own clock {truth}")
holders = [row["top_holder"].split(":")[0] for row in own]
if holder and holders != holder:
    wrong.append(f"waits of {what} were ended by {holders}, not {holder}")
# By thread: what the objects have, and [other waits].
sums = total(rows("waits"), "wait_ns"), total(rows("threads"), "wait_ns")
if abs(sums[0] - sums[1]) > 10:
    wrong.append(f"objects and threads of {what} add up to {sums}")
print("; ".join(wrong))
