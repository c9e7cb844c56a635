# SPDX-License-Identifier: MIT
"""perf record on the processor's clock. Its samples are events; frames of the kernel are left out of its stacks, and so are
samples that have no others."""
import os
import re
import shutil

from spending import output_of

# An address, a name that may have anything in it, and the module in the last parentheses.
FRAME = re.compile(r"^\s+([0-9a-f]+) .*\(([^()]*)\)$")
KERNEL = 1 << 63


class Perf:
    def __init__(self, name, options, roots, costed):
        self.name = name
        self.costed = costed
        self.options = options
        self.roots = roots

    def absent(self):
        return None if shutil.which("perf") else "not installed"

    def version(self):
        return (output_of(["perf", "--version"]) or "").strip()

    def wrap(self, command, interval, profile):
        os.makedirs(profile)
        rate = str(round(1000 / interval))
        return ["perf", "record", "-q", "-e", "cpu-clock", "-F", rate, *self.options, "-o", self.data(profile), "--", *command], {}

    @staticmethod
    def data(profile):
        return os.path.join(profile, "perf.data")

    def outcome(self, profile, interval, spent):
        # perf waits for the program and starts nothing else while it records.
        found = {"bytes": os.path.getsize(self.data(profile)), "program_cpu": spent.children_cpu}
        text = output_of(["perf", "report", "--stats", "-i", self.data(profile)])
        if text is None:
            return {**found, "failed": "perf report cannot read it"}
        counted = re.search(r"SAMPLE events:\s+(\d+)", text)
        found["samples"] = int(counted[1]) if counted else 0
        found["seen"] = found["samples"] * interval / 1000
        script = output_of(["perf", "script", "--no-inline", "-F", "ip,sym,dso", "-i", self.data(profile)], limit=60)
        return {**found, **(self.stacks(script) if script is not None else {"note": "perf script took over 60 s"})}

    def stacks(self, script):
        stacks = whole = 0
        for block in script.split("\n\n"):
            matches = [match for match in map(FRAME.match, block.split("\n")) if match]
            frames = [(int(match[1], 16), match[2]) for match in matches]
            frames = [frame for frame in frames if frame[0] < KERNEL and not frame[1].startswith("[")]
            if frames:
                stacks += 1
                whole += self.roots.whole(frames)
        return {"stacks": stacks, "whole": whole}

    def prints(self, profile):
        """Ways to print the list: words, command. With self and total time, as that of varve has."""
        report = ["perf", "report", "--stdio", "--children", "-g", "none", "-i", self.data(profile)]
        return [("with inlines", [*report, "--inline"]), ("without inlines", [*report, "--no-inline"])]
