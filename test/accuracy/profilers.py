# SPDX-License-Identifier: MIT
"""How each profiler records a program, and what it says of its functions: time with what they call, in its own unit, and the number of
samples behind all of it. A profiler that is not here, or cannot say, gives a sentence in place of that."""
import csv
import glob
import os
import re
import shutil
import subprocess


class Unable(Exception):
    pass


def plain(name):
    """Without what a compiler adds to the names of its copies, such as .constprop.0."""
    return re.sub(r"(\.[a-z]+)?\.\d+$", "", name)


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", **more)
    if done.returncode:
        raise Unable(f"{os.path.basename(command[0])} ended with {done.returncode}")
    return done.stdout


class Varve:
    def __init__(self, build, timer):
        self.name = f"varve --timer {timer}"
        self.rates_ms = (10, 1)
        self.varve, self.options = os.path.join(build, "varve"), ["--timer", timer]

    def is_allowed(self, at):
        return not subprocess.run([self.varve, "record", "-q", "-o", at, *self.options, "true"], capture_output=True).returncode

    def record(self, command, interval_ms, at):
        interval = ["--interval", f"{interval_ms}ms"]
        return run([self.varve, "record", "-q", "-o", at, *interval, *self.options, "--", *command])

    def functions(self, at):
        rows = list(csv.DictReader(run([self.varve, "report", "hotspots", at, "--format", "csv"]).splitlines()))
        times = {row["function"]: int(row["total_ns"]) for row in rows}
        return times, sum(int(row["samples"] or 0) for row in rows)


class Perf:
    name, rates_ms = "perf", (10, 1)

    def record(self, command, interval_ms, at):
        os.mkdir(at)
        rate = ["-e", "cpu-clock", "-F", str(1000 // interval_ms), "-g"]
        return run(["perf", "record", "-q", *rate, "-o", f"{at}/data", "--", *command])

    def functions(self, at):
        """By the frames of each sample: perf report has no column for time with callees that a script can read."""
        text = run(["perf", "script", "-i", f"{at}/data", "-F", "ip,sym"])
        times, samples = {}, 0
        for stack in text.split("\n\n"):
            names = {plain(line.split(None, 1)[1].split("+")[0]) for line in stack.splitlines() if len(line.split(None, 1)) > 1}
            samples += bool(stack.strip())
            for name in names:
                times[name] = times.get(name, 0) + 1
        return times, samples


class Gperftools:
    name, rates_ms = "gperftools", (10, 1)

    def record(self, command, interval_ms, at):
        libraries = glob.glob("/usr/lib/*/libprofiler.so.0")
        if not libraries:
            raise Unable("not installed")
        os.mkdir(at)
        self.program = command[0]
        more = {"LD_PRELOAD": libraries[0], "CPUPROFILE": f"{at}/data", "CPUPROFILE_FREQUENCY": str(1000 // interval_ms)}
        return run(command, env={**os.environ, **more})

    def functions(self, at):
        times, samples = {}, 0
        # flat, flat%, sum%, cumulative, cumulative%, function
        row = re.compile(r"^ *(\d+) +[\d.]+% +[\d.]+% +(\d+) +[\d.]+% (.*)$")
        for line in run(["google-pprof", "--text", self.program, f"{at}/data"]).splitlines():
            if found := row.match(line):
                times[plain(found[3])] = int(found[2])
                samples += int(found[1])
        return times, samples


class Gprofng:
    name, rates_ms = "gprofng", (10,)

    def record(self, command, interval_ms, at):
        return run(["gprofng", "collect", "app", "-p", f"{interval_ms}m", "-O", f"{at}.er", *command])

    def functions(self, at):
        text = run(["gprofng", "display", "text", "-metrics", "i.totalcpu:name", "-functions", f"{at}.er"])
        times = {}
        for line in text.splitlines():
            if found := re.match(r"^ *(\d+\.\d+) +(\S+)$", line):
                times[plain(found[2])] = float(found[1])
        total = times.pop("<Total>", 0)
        return times, round(total / 0.1)  # Debian's takes one each 100 ms, whatever it is asked for


def all_profilers(build):
    """Those that are here."""
    needs = {"perf": "perf", "gperftools": "google-pprof", "gprofng": "gprofng"}
    peers = [peer for peer in (Perf(), Gperftools(), Gprofng()) if shutil.which(needs[peer.name])]
    return [Varve(build, "auto"), Varve(build, "cpu"), Varve(build, "perf"), *peers]
