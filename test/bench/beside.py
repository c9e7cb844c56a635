# SPDX-License-Identifier: MIT
"""Pairs: a program bare and the same program under a profiler, begun at once on one processor, which the scheduler gives to the
two in turn every few milliseconds. What the machine does meanwhile, a neighbour of the virtual machine or another frequency,
it does to both, so their CPU times differ by what the profiler adds. (With a processor each, the intervals of two bare runs were 6 to
56 % wide on a virtual machine; so they are 0.4 to 5.) Everything that a tool starts is on that processor, too, and the run takes
twice as long: what a profiler spends by the clock on the wall counts twice, and there are more switches to record. Threads of a program
do not run at once. Wall times mean nothing here: compare.py has those."""
import os
import random
import shutil
import sys
import threading

from compare import LIMIT, say
from tool_empty import FLOOR
from tools import BARE


class Beside:
    def __init__(self, results, work, twins, tools, intervals):
        self.results = results
        self.work = work
        self.twins = twins  # two of each workload, for two folders
        self.tools = {BARE: None, **{tool.name: tool for tool in tools}}
        self.intervals = intervals
        self.processor = max(os.sched_getaffinity(0))

    def run(self, runs):
        sides = [os.path.join(self.work, name) for name in ("side1", "side2")]
        for number in range(runs):
            for pair in self.twins:
                wanted = [] if pair[0].absent() else self.wanted(pair[0].name)
                todo = [each for each in wanted if self.missing(pair[0], each, number)]
                if not todo:
                    continue
                say(f"pairs {number + 1} of {runs}: {pair[0].name}: {len(todo)}")
                for workload, folder in zip(pair, sides):
                    os.makedirs(folder, exist_ok=True)
                    workload.ready(folder)
                random.shuffle(todo)
                for name, interval in todo:
                    self.one(pair, name, interval)

    def wanted(self, program):
        """A pair of two bare ones says how well pairs can tell."""
        tools = [tool for tool in self.tools.values() if tool and program in getattr(tool, "programs", [program]) and not tool.absent()]
        return [(BARE, 0)] + [(tool.name, interval) for tool in tools for interval in self.intervals if interval in tool.costed]

    def missing(self, workload, each, number):
        return len(self.results.of("beside", program=workload.name, tool=each[0], rate=each[1])) <= number

    def one(self, pair, name, interval):
        tool, profile = self.tools[name], os.path.join(self.work, "profile")
        wraps = [lambda command: (command, {}), lambda command: tool.wrap(command, interval, profile) if tool else (command, {})]
        spent = self.at_once(random.sample(pair, 2), wraps)
        keys = {"program": pair[0].name, "tool": name, "rate": interval}
        of_build = name.startswith("varve") or name == FLOOR
        failed = [f"exit {each.code}" for each in spent if each.code or each.timed_out]
        if failed:
            say(f"{pair[0].name} beside {name} at {interval} ms: {failed[0]}: {spent[1].errors.strip()[-300:]}")
            self.results.add("beside", of_build, **keys, failed=failed[0])
        else:
            self.results.add("beside", of_build, **keys, cpu=spent[1].cpu, bare=spent[0].cpu)
        shutil.rmtree(profile, ignore_errors=True)

    def at_once(self, pair, wraps):
        """What the two spend, in the order of `wraps`; which of them begins is chance."""
        spent = [None, None]

        def side(index):
            os.sched_setaffinity(0, {self.processor})  # of this thread, and so of what it starts
            spent[index] = pair[index].run(wraps[index], 2 * LIMIT)

        threads = [threading.Thread(target=side, args=(index,)) for index in random.sample((0, 1), 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if None in spent:
            sys.exit("a side of a pair could not be run")
        return spent
