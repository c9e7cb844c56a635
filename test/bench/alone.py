# SPDX-License-Identifier: MIT
"""Measurements of varve that no other profiler has a part in, printed as tables: the observer, short processes, reading and
screens of large profiles."""
import bisect
import os
import random
import shutil
import signal
import statistics
import subprocess
import time

from intervals import words
from spending import Running, spend
from tool_varve import summary_of

SHORT_CXX = "int f(int x) { return x + 1; }\n"


class Alone:
    def __init__(self, build, work, runs):
        self.build = build
        self.varve = os.path.join(build, "varve")
        self.work = work
        self.runs = runs

    def path(self, name):
        return os.path.join(self.work, name)

    def generated(self, name, *options):
        """A profile that was never recorded: as large as is wanted."""
        profile = self.path(name)
        subprocess.run([os.path.join(self.build, "bench", "generate_profile"), profile, *options], check=True, stdout=subprocess.DEVNULL)
        return profile

    def observer(self):
        """The observer's own CPU time as a share of one processor; and what the same work costs beside it."""
        program = os.path.join(self.build, "programs", "run_states")
        loads = [("64 threads", ["threads", "64", "4000"]), ("1000 threads", ["threads", "1000", "6000"]), ("switches", ["switches", "300000", "2"])]
        print("\nObserver's CPU time, share of one processor\n\n| load | switches | sweeps |\n|---|---|---|")
        for name, arguments in loads:
            shares = []
            for source in ("switches", "sweeps"):
                profile = self.path("observed")
                subprocess.run([self.varve, "record", "-q", "--no-finalize", "--run-states", source, "-o", profile, "--", program, *arguments],
                               check=True, stdout=subprocess.DEVNULL)
                summary = summary_of(self.varve, profile)
                shares.append(f"{100 * summary['observer_cpu_ns'] / summary['elapsed_ns']:.2f} %")
                shutil.rmtree(profile)
            print(f"| {name} | {' | '.join(shares)} |", flush=True)
        seconds = 10 * self.runs
        print(f"\nCPU time of a piece of work with the recorder running over stopped, {seconds} s of random quarters of a second: mean [95 %]\n")
        print("| source | 2 threads |\n|---|---|")
        for source in ("switches", "sweeps"):
            print(f"| {source} | {self.beside_the_observer(source, seconds)} |", flush=True)

    def beside_the_observer(self, source, seconds):
        """Runs as a whole scatter by ten percent; neighbouring quarters of a second of one run do not."""
        log, profile = self.path("pieces"), self.path("beside")
        steady = [os.path.join(self.build, "programs", "steady"), "2", str(seconds * 1000), log]
        recorder = Running([self.varve, "record", "-q", "--no-finalize", "--run-states", source, "-o", profile, "--", *steady])
        time.sleep(1)
        pairs, end = [], time.monotonic() + seconds - 2
        while time.monotonic() < end:
            pair = {}
            for on in random.sample((True, False), 2):
                os.kill(recorder.process.pid, signal.SIGCONT if on else signal.SIGSTOP)
                begin = time.monotonic_ns()
                time.sleep(0.25)
                pair[on] = (begin, time.monotonic_ns())
            pairs.append(pair)
        os.kill(recorder.process.pid, signal.SIGCONT)
        recorder.finish()
        shutil.rmtree(profile)
        pieces = read_pieces(log)
        ratios = [cost(pieces, *pair[True]) / cost(pieces, *pair[False]) for pair in pairs if cost(pieces, *pair[False]) > 0]
        means = sorted(trimmed_mean(random.choices(ratios, k=len(ratios))) for _ in range(2000))
        return f"{trimmed_mean(ratios):.4f} [{means[50]:.4f} .. {means[1949]:.4f}]"

    def start(self):
        """Short processes inside one recorded shell loop, against the same loop with an empty library preloaded. Profiles stay
        until the end: for a minute ext4 passes over the inodes of removed files, one by one, and hundreds of them cost every new
        file 0.3 ms."""
        empty, short = self.path("empty.so"), self.path("short.cc")
        subprocess.run(["gcc", "-shared", "-x", "c", os.devnull, "-o", empty], check=True)
        with open(short, "w", encoding="utf-8") as file:
            file.write(SHORT_CXX)
        compiler = subprocess.run(["gcc", "-print-prog-name=cc1plus"], capture_output=True, check=True, text=True).stdout.strip()
        loops = [
            ("true", 200, "i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i+1)); done"),
            ("cc1plus of one line", 100, f"i=0; while [ $i -lt 100 ]; do {compiler} -quiet {short} -o /dev/null; i=$((i+1)); done"),
        ]
        print("\nAdded CPU time a short process, ms: recorded less the same with an empty preloaded library: median [95 %]\n")
        print("| process | added ms |\n|---|---|")
        for name, count, script in loops:
            added = []
            for run in range(self.runs):
                bare = spend(["sh", "-c", script], {"LD_PRELOAD": empty}).cpu
                profile = self.path(f"start-{count}-{run}")
                recorded = spend([self.varve, "record", "-q", "--no-finalize", "-o", profile, "--", "sh", "-c", script]).cpu
                added.append(1000 * (recorded - bare) / count)
            print(f"| {name} | {words(added)} |", flush=True)

    def report(self):
        """Reading large profiles: time and memory."""
        print("\nReading\n\n| what | seconds | MB |\n|---|---|---|")
        for count in (1_000_000, 10_000_000):
            self.timed(f"hotspots of {count:,} samples", "hotspots", "--samples", str(count))
        self.timed("concurrency of 10,000,000 switches", "concurrency", "--samples", "100000", "--switches", "10000000")

    def timed(self, what, view, *options):
        profile = self.generated("read", *options)
        spent = spend([self.varve, "report", view, "--format", "csv", profile])
        shutil.rmtree(profile)
        if spent.code:
            raise RuntimeError(f"{what}: {spent.errors}")
        print(f"| {what} | {spent.wall:.2f} | {spent.peak_mb:.0f} |", flush=True)

    def view(self):
        """Screens of varve view, without a terminal: no wait for the line."""
        for count in (1_000_000, 10_000_000):
            profile = self.generated("viewed", "--samples", str(count), "--switches", str(count))
            print(f"\nScreens at 200x60, {count:,} samples and switches\n", flush=True)
            subprocess.run([os.path.join(self.build, "bench", "view_bench"), profile], check=True)
            shutil.rmtree(profile)


def trimmed_mean(values):
    """Without the tenth at either end."""
    values = sorted(values)
    return statistics.mean(values[len(values) // 10 : len(values) - len(values) // 10])


def read_pieces(log):
    """By thread: when each piece of work was done, and the thread's CPU clock then."""
    pieces = {}
    with open(log, encoding="utf-8") as file:
        for line in file:
            thread, when, cpu = map(int, line.split())
            pieces.setdefault(thread, []).append((when, cpu))
    return pieces


def cost(pieces, begin, end):
    """CPU time of a piece between two moments; 0 where none was done."""
    cpu = done = 0
    for of in pieces.values():
        inside = of[bisect.bisect_left(of, (begin, 0)) : bisect.bisect_right(of, (end, 0))]
        if len(inside) > 1:
            cpu += inside[-1][1] - inside[0][1]
            done += len(inside) - 1
    return cpu / done if done else 0
