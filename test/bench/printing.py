# SPDX-License-Identifier: MIT
"""How long each tool takes to print the list of functions by their own time, and how much memory: for a compiler with about
20,000 samples (few symbols, no stack like another), and for a small program with debug information that is full of inlined
calls."""
import json
import os
import shutil
import statistics
import subprocess
import sys

from compare import LIMIT, say
from spending import output_of, spend

PEAK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peak.py")
# Commands that take longer are not waited for.
PRINT_LIMIT = 60
# Short ones are repeated, and the median is taken.
REPEATED_BELOW, REPEATS = 3, 5
# Kinds of types in the source, each with its own instances: two compilers at once take 80 s of CPU time for as many.
TYPES = 84
INSTANCES = """
struct Key{0} {{ int value; bool operator<(const Key{0}& other) const {{ return value < other.value; }} }};
int use{0}(std::vector<Key{0}>& keys) {{
  std::map<Key{0}, std::vector<Key{0}>> sorted;
  std::deque<std::function<int(Key{0})>> calls;
  std::set<std::pair<Key{0}, int>> pairs;
  for (const Key{0}& key : keys) sorted[key].push_back(key), pairs.emplace(key, {0});
  std::sort(keys.begin(), keys.end());
  std::stable_sort(keys.begin(), keys.end());
  calls.emplace_back([&](Key{0} key) {{ return key.value + static_cast<int>(sorted.size() + pairs.size()); }});
  return calls.front()(keys.front());
}}
"""
HEADERS = "".join(f"#include <{name}>\n" for name in ("algorithm", "deque", "functional", "map", "set", "vector"))


class Printing:
    def __init__(self, results, work, build, tools):
        self.results = results
        self.work = work
        self.build = build
        self.tools = [tool for tool in tools if not tool.absent() and tool.name != "varve, samples only"]

    def run(self):
        for what, command, limit in (("cc1plus, long", self.compilers, 5 * LIMIT), ("inlined calls, repeating stacks", self.demo, LIMIT)):
            for tool in self.tools:
                if not self.results.of("print", what=what, tool=tool.name):
                    say(f"printing {what}: {tool.name}")
                    self.one(what, tool, command(tool), limit)

    def compilers(self, tool):
        """gperftools takes no more samples than the scheduler has ticks, a quarter of the others', and gets more work."""
        count = TYPES if tool.name == "gperftools" else TYPES // 4
        text = os.path.join(self.work, f"instances{count}.ii")
        if not os.path.exists(text):
            source = HEADERS + "".join(INSTANCES.format(i) for i in range(count))
            subprocess.run(["g++", "-std=c++20", "-E", "-x", "c++", "-", "-o", text], input=source.encode(), check=True)
        compiler = subprocess.run(["g++", "-print-prog-name=cc1plus"], check=True, capture_output=True, text=True).stdout.strip()
        one = f"{compiler} -quiet -fpreprocessed -std=c++20 -O2 {text} -o {os.devnull}"
        return ["sh", "-c", f"{one} & {one} & wait"]

    def demo(self, _):
        return [os.path.join(self.build, "varve-demo")]

    def one(self, what, tool, command, limit):
        profile = os.path.join(self.work, "printed")
        finalize = {"finalize": True} if tool.name == "varve" else {}
        wrapped, environment = tool.wrap(command, 1, profile, **finalize)
        spent = spend(wrapped, environment, self.work, limit)
        keys = {"what": what, "tool": tool.name}
        of_varve = tool.name == "varve"
        try:
            found = {} if spent.code or spent.timed_out else tool.outcome(profile, 1, spent)
            samples = found.get("samples", 0)
            for how, report in tool.prints(profile) if samples else []:
                self.results.add("print", of_varve, **keys, how=how, samples=samples, bytes=found["bytes"], **timed(report))
        except (OSError, ValueError, StopIteration, IndexError):
            samples = 0
        if not samples:
            self.results.add("print", of_varve, **keys, how="", failed="no profile to print")
        for path in (profile, profile + "-without-names"):
            shutil.rmtree(path, ignore_errors=True)


def timed(command):
    """Seconds and megabytes of a command that prints."""
    times, most = [], 0
    while len(times) < REPEATS:
        text = output_of([sys.executable, "-I", "-S", PEAK, str(PRINT_LIMIT), *command], limit=2 * PRINT_LIMIT)
        spent = json.loads(text or "")
        most = max(most, spent["mb"])
        if spent["late"]:
            return {"over": PRINT_LIMIT, "mb": most}
        if spent["code"]:
            return {"failed": "does not print it"}
        times.append(spent["seconds"])
        if spent["seconds"] > REPEATED_BELOW:
            break
    return {"seconds": statistics.median(times), "mb": most}
