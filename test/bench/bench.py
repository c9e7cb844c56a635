# SPDX-License-Identifier: MIT
"""The measurements behind `make bench`. Everything is a ratio or a share within this run: absolute times mean nothing on
another machine. Pairs of runs alternate, medians are printed with the range of the middle half."""
import argparse
import bisect
import json
import os
import random
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import time

# A delivered signal, its handler's entry and sigreturn, which the handler cannot see of itself (measured: 1.4 to 2.3 us).
SIGNAL_US = 2.0

HEAVY_CXX = """
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <regex>
#include <unordered_map>
#include <variant>
int main() {
  std::regex pattern("a+b*(c|d)");
  std::map<std::string, std::function<int(int)>> functions;
  std::unordered_map<int, std::variant<int, std::string>> values;
  std::cout << std::regex_match("abc", pattern) << functions.size() << values.size();
}
"""
SHORT_CXX = "int f(int x) { return x + 1; }\n"
PYTHON = "import json\ns = 0\nfor i in range(6000000): s += i % 7\nfor i in range(300): json.loads(json.dumps(list(range(5000))))\n"
NODE = (
    "function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }\n"
    "let s = 0; for (let i = 0; i < 12; i++) s += fib(33);\n"
    "const o = {}; for (let i = 0; i < 400000; i++) o['k' + i] = JSON.stringify({i});\n"
    "console.log(s, Object.values(o).sort().length)\n"
)


class Bench:
    def __init__(self, build, work, runs):
        self.build = build
        self.varve = os.path.join(build, "varve")
        self.agent = os.path.join(build, "libvarve.so")
        self.generate = os.path.join(build, "bench", "generate_profile")
        self.work = work
        self.runs = runs
        self.profiles = 0

    def path(self, name, text=None):
        path = os.path.join(self.work, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return path

    def programs(self):
        """Name and command of each workload whose program is here."""
        data = self.path("data")
        with open(data, "wb") as file:
            noise = random.Random(1)
            words = [bytes(noise.choices(range(97, 123), k=noise.randint(3, 9))) for _ in range(4000)]
            file.write(b" ".join(noise.choices(words, k=3_000_000)))
        found = [
            ("cc1plus", ["g++", "-O2", "-std=c++20", "-c", self.path("heavy.cc", HEAVY_CXX), "-o", self.path("heavy.o")]),
            ("xz -T2", ["xz", "-T2", "-3", "-k", "-c", data]),
            ("python3", ["/usr/bin/python3", self.path("loop.py", PYTHON)]),
            ("node", ["node", self.path("loop.js", NODE)]),
        ]
        return [(name, command) for name, command in found if shutil.which(command[0])]

    def run(self, command, environment=None):
        """CPU seconds of a command and its children, and its wall time."""
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return cpu, time.monotonic() - start

    def record(self, command, *options):
        """The summary of a recorded run, with its profile under "profile"."""
        self.profiles += 1
        profile = self.path(f"p{self.profiles}")
        self.run([self.varve, "record", "-q", "-o", profile, *options, "--", *command])
        text = subprocess.run([self.varve, "report", "summary", "--format", "json", profile], capture_output=True, check=True).stdout
        return {**json.loads(text), "profile": profile}


def spread(values):
    """Median and the middle half, as text."""
    values = sorted(values)
    quarter = len(values) // 4
    return f"{statistics.median(values):.3f} [{values[quarter]:.3f} .. {values[-1 - quarter]:.3f}]"


def trimmed_mean(values):
    """Without the tenth at either end."""
    values = sorted(values)
    return statistics.mean(values[len(values) // 10 : len(values) - len(values) // 10])


def bench_handler(bench):
    """The handler by its own account plus the signal: a share of the program's CPU time; bytes of agent files a sample."""
    print(f"\nHandler's own time + {SIGNAL_US:g} us a tick, share of CPU time\n")
    print("| program | interval | samples | us a tick | share | bytes a sample | whole stacks |\n|---|---|---|---|---|---|---|")
    for name, command in bench.programs():
        for interval in ("10ms", "4ms", "1ms"):
            s = bench.record(command, "--interval", interval)
            files = sum(os.path.getsize(os.path.join(s["profile"], f)) for f in os.listdir(s["profile"]) if f.endswith(".agent"))
            handler = s["handler_ns"] + SIGNAL_US * 1000 * s["ticks"]
            print(
                f"| {name} | {interval} | {s['samples']} | {s['handler_ns'] / max(s['ticks'], 1) / 1000:.1f} "
                f"| {100 * handler / s['cpu_ns']:.3f} % | {files / max(s['samples'], 1):.1f} | {100 * s['whole_stack_share']:.2f} % |"
            )
            shutil.rmtree(s["profile"])


def bench_cost(bench):
    """Whole processes: CPU time recorded, without finalization, against bare, in alternating pairs."""
    print(f"\nCPU time with varve record --no-finalize over bare, {bench.runs} alternating pairs: median [middle half]\n")
    print("| program | 10ms | 4ms |\n|---|---|---|")
    for name, command in bench.programs():
        ratios = {"10ms": [], "4ms": []}
        for _ in range(bench.runs):
            for interval, into in ratios.items():
                profile = bench.path("cost")
                bare, _ = bench.run(command)
                cpu, _ = bench.run([bench.varve, "record", "-q", "--no-finalize", "--interval", interval, "-o", profile, "--", *command])
                into.append(cpu / bare)
                shutil.rmtree(profile)
        print(f"| {name} | {spread(ratios['10ms'])} | {spread(ratios['4ms'])} |", flush=True)


def bench_observer(bench):
    """The observer's own CPU time as a share of one processor; and what the same work costs beside it."""
    program = os.path.join(bench.build, "programs", "run_states")
    loads = [("64 threads", ["threads", "64", "4000"]), ("1000 threads", ["threads", "1000", "6000"]), ("switches", ["switches", "300000", "2"])]
    print("\nObserver's CPU time, share of one processor\n\n| load | switches | sweeps |\n|---|---|---|")
    for name, arguments in loads:
        shares = []
        for source in ("switches", "sweeps"):
            s = bench.record([program, *arguments], "--no-finalize", "--run-states", source)
            shares.append(f"{100 * s['observer_cpu_ns'] / s['elapsed_ns']:.2f} %")
            shutil.rmtree(s["profile"])
        print(f"| {name} | {' | '.join(shares)} |", flush=True)
    seconds = 10 * bench.runs
    print(f"\nCPU time of a piece of work with the recorder running over stopped, {seconds} s of random quarters of a second: mean [95 %]\n")
    print("| source | 2 threads |\n|---|---|")
    for source in ("switches", "sweeps"):
        print(f"| {source} | {beside_the_observer(bench, source, seconds)} |", flush=True)


def beside_the_observer(bench, source, seconds):
    """Runs as a whole scatter by ten percent; neighbouring quarters of a second of one run do not."""
    log, profile = bench.path("pieces"), bench.path("beside")
    steady = [os.path.join(bench.build, "programs", "steady"), "2", str(seconds * 1000), log]
    recorder = subprocess.Popen([bench.varve, "record", "-q", "--no-finalize", "--run-states", source, "-o", profile, "--", *steady])
    time.sleep(1)
    pairs, end = [], time.monotonic() + seconds - 2
    while time.monotonic() < end:
        pair = {}
        for on in random.sample((True, False), 2):
            os.kill(recorder.pid, signal.SIGCONT if on else signal.SIGSTOP)
            begin = time.monotonic_ns()
            time.sleep(0.25)
            pair[on] = (begin, time.monotonic_ns())
        pairs.append(pair)
    os.kill(recorder.pid, signal.SIGCONT)
    recorder.wait()
    shutil.rmtree(profile)
    pieces = {}
    with open(log, encoding="utf-8") as file:
        for line in file:
            thread, when, cpu = map(int, line.split())
            pieces.setdefault(thread, []).append((when, cpu))

    def cost(begin, end):
        cpu = done = 0
        for of in pieces.values():
            inside = of[bisect.bisect_left(of, (begin, 0)) : bisect.bisect_right(of, (end, 0))]
            if len(inside) > 1:
                cpu += inside[-1][1] - inside[0][1]
                done += len(inside) - 1
        return cpu / done if done else 0

    ratios = [cost(*pair[True]) / cost(*pair[False]) for pair in pairs if cost(*pair[False]) > 0]
    means = sorted(trimmed_mean(random.choices(ratios, k=len(ratios))) for _ in range(2000))
    return f"{trimmed_mean(ratios):.4f} [{means[50]:.4f} .. {means[1949]:.4f}]"


def bench_start(bench):
    """Short processes inside one recorded shell loop, against the same loop with an empty library preloaded. Profiles stay until
    the end: for a minute ext4 passes over the inodes of removed files, one by one, and hundreds of them cost every new file 0.3 ms."""
    empty = bench.path("empty.so")
    subprocess.run(["gcc", "-shared", "-x", "c", os.devnull, "-o", empty], check=True)
    short = bench.path("short.cc", SHORT_CXX)
    compiler = subprocess.run(["gcc", "-print-prog-name=cc1plus"], capture_output=True, check=True, text=True).stdout.strip()
    loops = [
        ("true", 200, f"i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i+1)); done"),
        ("cc1plus of one line", 100, f"i=0; while [ $i -lt 100 ]; do {compiler} -quiet {short} -o /dev/null; i=$((i+1)); done"),
    ]
    print("\nAdded CPU time a short process, ms: recorded less the same with an empty preloaded library: median [middle half]\n")
    print("| process | added ms |\n|---|---|")
    for name, count, script in loops:
        added = []
        for run in range(bench.runs):
            bare, _ = bench.run(["sh", "-c", script], {**os.environ, "LD_PRELOAD": empty})
            profile = bench.path(f"start-{count}-{run}")
            cpu, _ = bench.run([bench.varve, "record", "-q", "--no-finalize", "-o", profile, "--", "sh", "-c", script])
            added.append(1000 * (cpu - bare) / count)
        print(f"| {name} | {spread(added)} |", flush=True)


def bench_report(bench):
    """Reading: time and memory of `report hotspots` on finalized profiles, and of finalization."""
    print("\nReading\n\n| what | seconds | MB |\n|---|---|---|")

    def timed(what, command):
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            sys.exit(f"{command} failed")
        print(f"| {what} | {time.monotonic() - start:.2f} | {usage.ru_maxrss / 1024:.0f} |", flush=True)

    for count in (1_000_000, 10_000_000):
        profile = bench.path(f"generated-{count}")
        subprocess.run([bench.generate, profile, "--samples", str(count)], check=True, stdout=subprocess.DEVNULL)
        timed(f"hotspots of {count:,} samples", [bench.varve, "report", "hotspots", "--format", "csv", profile])
        shutil.rmtree(profile)
    profile = bench.path("generated-switches")
    subprocess.run([bench.generate, profile, "--samples", "100000", "--switches", "10000000"], check=True,
                   stdout=subprocess.DEVNULL)
    timed("concurrency of 10,000,000 switches", [bench.varve, "report", "concurrency", "--format", "csv", profile])
    shutil.rmtree(profile)
    for name, command in bench.programs():
        if name in ("cc1plus", "node"):
            profile = bench.record(command, "--no-finalize")["profile"]
            timed(f"{name}: looking all names up", [bench.varve, "report", "hotspots", "--format", "csv", profile])
            profile = bench.record(command)["profile"]
            timed(f"{name}: hotspots, names stored", [bench.varve, "report", "hotspots", "--format", "csv", profile])


def bench_view(bench):
    """Screens of varve view, without a terminal: no wait for the line."""
    for count in (1_000_000, 10_000_000):
        profile = bench.path(f"viewed-{count}")
        subprocess.run([bench.generate, profile, "--samples", str(count), "--switches", str(count)], check=True,
                       stdout=subprocess.DEVNULL)
        print(f"\nScreens at 200x60, {count:,} samples and switches\n", flush=True)
        subprocess.run([os.path.join(bench.build, "bench", "view_bench"), profile], check=True)
        shutil.rmtree(profile)


def main():
    sections = {"handler": bench_handler, "cost": bench_cost, "observer": bench_observer, "start": bench_start, "report": bench_report, "view": bench_view}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("section", nargs="+", choices=sections)
    arguments = parser.parse_args()
    bench = Bench(arguments.build, arguments.work, arguments.runs)
    for section in arguments.section:
        sections[section](bench)


if __name__ == "__main__":
    main()
