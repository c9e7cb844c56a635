# SPDX-License-Identifier: MIT
"""Rounds: each program bare and under each tool at each rate, in random order, so that what changes on the machine meanwhile
changes all of them. The first profile of each is looked at; of the others only the cost is kept."""
import os
import random
import shutil
import sys
import time

from tools import BARE

# Milliseconds of CPU time between two samples.
INTERVALS = [10, 4, 1]
# Seconds after which a run is given up, and its whole session killed: some profilers can hang their program.
LIMIT = 60


def say(text):
    print(text, file=sys.stderr, flush=True)


class Compare:
    def __init__(self, results, work, workloads, tools, intervals):
        self.results = results
        self.work = work
        self.workloads = workloads
        self.tools = {tool.name: tool for tool in tools}
        self.intervals = intervals
        self.start = time.time_ns()

    def run(self, runs):
        self.note_absent()
        for number in range(runs):
            for workload in self.workloads:
                todo = [] if workload.absent() else [each for each in self.wanted() if self.missing(workload, each, runs, number)]
                if todo:
                    say(f"round {number + 1} of {runs}: {workload.name}: {len(todo)} runs and a bare one")
                    self.round(workload, [(BARE, 0), *todo], f"{self.start}-{number}")

    def note_absent(self):
        for each in [*self.workloads, *self.tools.values()]:
            kind = "program" if each in self.workloads else "tool"
            self.results.replace("absent", {kind: each.name}, why=each.absent())

    def wanted(self):
        return [(name, interval) for name, tool in self.tools.items() if not tool.absent() for interval in self.intervals]

    def missing(self, workload, each, runs, number):
        """Whether this round is needed: rounds that are there already are not made again."""
        keys = {"program": workload.name, "tool": each[0], "rate": each[1]}
        if self.results.of("counts", **keys) and each[1] not in self.tools[each[0]].costed:
            return False
        return len(self.results.of("cost", **keys)) < min(runs, number + 1)

    def round(self, workload, configurations, name):
        workload.ready(self.work)
        random.shuffle(configurations)
        for tool, interval in configurations:
            self.one(workload, tool, interval, name)

    def one(self, workload, name, interval, round_name):
        tool = self.tools.get(name)
        profile = os.path.join(self.work, "profile")
        spent = workload.run(lambda command: tool.wrap(command, interval, profile) if tool else (command, {}), LIMIT)
        keys = {"program": workload.name, "tool": name, "rate": interval}
        of_varve = name.startswith("varve")
        if spent.code or spent.timed_out:
            why = f"no end within {LIMIT} s" if spent.timed_out else f"exit {spent.code}"
            say(f"{workload.name} under {name} at {interval} ms: {why}: {spent.errors.strip()[-300:]}")
            self.results.add("cost", of_varve, **keys, round=round_name, failed=why)
        else:
            self.results.add("cost", of_varve, **keys, round=round_name, cpu=spent.cpu, wall=spent.wall, **spent.extra)
        if tool and not self.results.of("counts", **keys):
            self.results.add("counts", of_varve, **keys, **outcome(tool, profile, interval, spent))
        shutil.rmtree(profile, ignore_errors=True)


def outcome(tool, profile, interval, spent):
    if spent.code or spent.timed_out:
        return {"failed": f"no end within {LIMIT} s" if spent.timed_out else f"exit {spent.code}"}
    try:
        return tool.outcome(profile, interval, spent)
    except (OSError, ValueError, StopIteration, IndexError) as error:
        return {"failed": f"its profile cannot be read ({type(error).__name__})"}
