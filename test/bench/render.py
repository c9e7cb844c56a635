# SPDX-License-Identifier: MIT
"""Makes the page of tables from what was measured. It measures nothing and rounds nothing away: what failed, was absent or has
too few runs says so in its cell."""
from intervals import apart, paired_ratios, verdict, words
from tool_empty import FLOOR
from tool_varve import SIGNAL_US
from tools import BARE

HEAD = """# varve beside other profilers

Made by `make bench`; `make bench NEW=1` repeats it, and `RUNS=20` has narrower intervals (test/bench/run.sh lists what else can be
chosen). Seconds of one machine mean nothing on another, so what is compared are ratios and shares. A cell `1.0120 [0.9950, 1.0310]` is
the median of ratios and an interval that has the true median with 95 % (order statistics; at least six of them). Where the interval has
1 in it, nothing was shown.

- *varve* is `varve record` as it is by default, with context switches and waits; *varve, samples only* records what the others do
  (`--run-states off --waits off`). *perf* is `perf record -e cpu-clock`, *gperftools* its CPU profiler, preloaded, *gprofng*
  `gprofng collect app`. Looking names up is no part of the runs; it is in the last table. *empty handler* is no profiler: the
  ticks that varve takes at 1 ms, of programs with one busy thread, with a handler that only counts: what the machine takes for them.
- An interval of 10 ms is 100 samples for a second of CPU time, 4 ms 250, 1 ms 1000.
"""
BESIDE = """Each cell is of pairs: the program bare and the program under a profiler, begun at once on one processor, which they have in turn,
so that both see the same machine; the column *bare* is of pairs of two bare runs and says how well pairs can tell. All CPU time is counted: the
profiler's own process too, its start, and what it does after the program has ended. Of redis-server the server's is. On one processor
a run takes twice as long, so what a profiler spends by the clock on the wall (varve's observer) counts twice, and threads do not run at once.
"""
WALL = """One after the other, with the whole machine: these scatter more, and a cell of "(1 run)" shows nothing. For redis-server the wall
time is that of the requests.
"""
SAMPLES = """Samples, of those that are due: CPU time of the program over the interval; in parentheses the CPU time for which they stand, of that
of the program. What a program used is what the kernel charged to it, under that profiler. Timers of CPU clocks expire on scheduler
ticks only: varve's weights and perf's high-resolution timer make up for that, the others show a part of the time as the whole. Time
that no sample of varve's stands for is in its ledger, in the residual; where short threads are many, their first samples stand for an
interval each, as all samples of the others do.
"""
WHOLE = """The share of stacks (all rates together) that reach the root. varve's unwinder knows it; of the others a stack counts where one of
its three outermost frames is a call by which the C library starts main or a thread (`test/programs/root_frames.c`), or where it
ends in the dynamic loader; one that ends in main is cut off, as perf's of sqlite3 are, whose main alone has more stack than perf copies.
perf: user frames of `perf script`, samples without any left out. gperftools: its file. gprofng: the first level of its call tree.
"""
BYTES = """Sample files over samples. varve: the agents' files (of *varve* with its waits, modules and threads), not the record of context
switches; perf: perf.data; gperftools: all processes' files; gprofng: `profile` and `data.frameinfo` without the zeros at their ends, not
its copies of binaries (3 to 110 MB a run). What a file costs by itself weighs on few samples; the next table has many.
"""
PRINTS = """The list of functions by their own time, as text: median of five, a long one once. A command that takes over 60 s is ended.
"""


class Page:
    def __init__(self, results, programs, tools):
        self.results = results
        self.programs = programs
        self.tools = tools
        self.text = HEAD
        self.absent = {row.get("program") or row.get("tool"): row["why"] for row in results.of("absent") if row["why"]}

    def add(self, text):
        self.text += text + "\n"

    def table(self, columns, rows):
        self.add("\n" + line(columns) + "\n" + line(["---"] * len(columns)))
        for row in rows:
            self.add(line(row))

    def machine(self):
        for row in self.results.of("machine"):
            self.table(["machine", ""], row["about"].items())

    def matrix(self, cell, tools=None):
        """A row a program, a column a tool; what is absent says why, what was not asked for has no row."""
        rows = []
        for program in self.programs:
            cells = [self.absent.get(program) or self.absent.get(tool) or cell(program, tool) for tool in tools or self.tools]
            rows.append([program, *cells])
        rows = [row for row in rows if any(cell != "-" for cell in row[1:])]
        self.table(["program", *(tools or self.tools)], rows or [["nothing measured", *["-" for _ in tools or self.tools]]])

    # --- cost ---
    def rounds(self, program):
        return [row for row in self.results.of("cost", program=program) if "failed" not in row]

    def ratio(self, program, tool, interval, key):
        failed = [row["failed"] for row in self.results.of("cost", program=program, tool=tool, rate=interval) if "failed" in row]
        return f"failed: {failed[0]}" if failed else words(paired_ratios(self.rounds(program), (tool, interval), (BARE, 0), key))

    def costed(self, interval):
        """Tools with more than the one run for their counts, or all where no tool has."""
        runs = {tool: max(len(self.results.of("cost", tool=tool, rate=interval, program=program)) for program in self.programs)
                for tool in self.tools}
        most = max(runs.values())
        return [tool for tool in self.tools if runs[tool] == most or runs[tool] > 1]

    def cost(self):
        for interval in (10, 1):
            self.add(f"\n## CPU time against bare, {interval} ms\n\n{BESIDE if interval == 10 else ''}".rstrip())
            tools = [tool for tool in [FLOOR, *self.tools] if self.results.of("beside", tool=tool, rate=interval)]
            self.matrix(lambda program, tool, at=interval: self.pairs(program, tool, at), [BARE, *tools])
        for interval in (10, 1):
            self.add(f"\n## Wall time against bare, {interval} ms\n\n{WALL if interval == 10 else ''}".rstrip())
            self.matrix(lambda program, tool, at=interval: self.ratio(program, tool, at, "wall"), self.costed(interval))
        self.requests()

    def of_pairs(self, program, tool, interval):
        return self.results.of("beside", program=program, tool=tool, rate=0 if tool == BARE else interval)

    def beside(self, program, tool, interval):
        """Ratios of pairs."""
        return [row["cpu"] / row["bare"] for row in self.of_pairs(program, tool, interval) if "failed" not in row]

    def pairs(self, program, tool, interval):
        failed = [row["failed"] for row in self.of_pairs(program, tool, interval) if "failed" in row]
        return f"failed: {failed[0]}" if failed else words(self.beside(program, tool, interval), 4)

    def requests(self):
        for program in self.programs:
            rows = self.rounds(program)
            if any("requests" in row for row in rows):
                self.add(f"\n## Requests a second of {program}, against bare")
                self.table(["interval", *self.tools],
                           [[f"{interval} ms", *(words(paired_ratios(rows, (tool, interval), (BARE, 0), "requests")) for tool in self.tools)]
                            for interval in (10, 1)])

    def claims(self):
        """Only what intervals support."""
        self.add("\n## What these runs show of varve's CPU time\n")
        before = self.text
        ours = [tool for tool in self.tools if tool.startswith("varve")]
        for interval, most in ((10, 0.005), (1, 0.02)):
            for tool in [FLOOR, *ours]:
                self.bound(tool, interval, most)
            for tool in ours:
                for other in [FLOOR, *self.tools]:
                    if other not in ours:
                        self.claim(tool, other, interval)
        if self.text == before:
            self.add("Nothing: too few pairs were measured.")

    def bound(self, tool, interval, most):
        """Whether what a tool adds is below a share."""
        said = {-1: [], 0: [], 1: []}
        for program in self.programs:
            ratios = self.beside(program, tool, interval)
            if len(ratios) > 1:
                said[verdict([ratio / (1 + most) for ratio in ratios])].append(program)
        self.say(f"{interval} ms, what {tool} adds, beside {100 * most:g} %", said, {-1: "less", 1: "more", 0: "not told apart"})

    def claim(self, of, than, interval):
        said = {-1: [], 0: [], 1: []}
        for program in self.programs:
            ratios, others = self.beside(program, of, interval), self.beside(program, than, interval)
            if len(ratios) > 1 and len(others) > 1:
                said[apart(ratios, others)].append(program)
        self.say(f"{interval} ms, {of} and {than}", said, {-1: "lower", 1: "higher", 0: "not told apart"})

    def say(self, what, said, words_of):
        parts = [f"{words_of[which]} ({'; '.join(said[which])})" for which in (-1, 1, 0) if said[which]]
        if parts:
            self.add(f"- {what}: {', '.join(parts)}.")

    # --- what profiles have ---
    def counts(self, program, tool, interval):
        rows = self.results.of("counts", program=program, tool=tool, rate=interval)
        return rows[0] if rows else None

    def accounting(self):
        self.add("\n## varve's own accounting\n\nThe handler's time by its own clock: microseconds a tick, and as a share of the program's CPU time with "
                 f"{SIGNAL_US:g} us a tick for\nthe signal, which it cannot see. Beside it what the observer of context switches took.")

        def cell(program, column):
            interval = int(column.split()[0])
            row = self.counts(program, "varve", interval)
            if not row or "handler" not in row:
                return "-"
            handler = row["handler"] + SIGNAL_US * row["ticks"] / 1e6
            return (f"{1e6 * row['handler'] / max(row['ticks'], 1):.1f} us, {100 * handler / row['program_cpu']:.2f} %; "
                    f"observer {100 * row['observer'] / row['program_cpu']:.2f} %")

        self.matrix(cell, ["10 ms", "4 ms", "1 ms"])

    def samples(self):
        for interval in (10, 4, 1):
            self.add(f"\n## Samples of ideal, {interval} ms\n\n{SAMPLES if interval == 10 else ''}".rstrip())
            self.matrix(lambda program, tool, at=interval: samples_cell(self.counts(program, tool, at), at))

    def whole(self):
        def cell(program, tool):
            rows = [row for row in self.results.of("counts", program=program, tool=tool) if row.get("stacks")]
            stacks = sum(row["stacks"] for row in rows)
            return share(sum(row["whole"] for row in rows), stacks) if stacks else self.none(program, tool)

        self.add(f"\n## Whole stacks\n\n{WHOLE}".rstrip())
        self.matrix(cell)

    def none(self, program, tool):
        """Why there is nothing to say."""
        rows = self.results.of("counts", program=program, tool=tool)
        return next((f"failed: {row['failed']}" for row in rows if "failed" in row),
                    next((row["note"] for row in rows if "note" in row), "no samples" if rows else "-"))

    def sizes(self):
        def cell(program, tool):
            rows = [self.counts(program, tool, interval) for interval in (10, 1)]
            each = [f"{row['bytes'] / row['samples']:,.0f}" if row and row.get("samples") else "-" for row in rows]
            return " / ".join(each) if each != ["-", "-"] else self.none(program, tool)

        self.add(f"\n## Bytes a sample, 10 ms / 1 ms\n\n{BYTES}".rstrip())
        self.matrix(cell)

    def prints(self):
        self.add(f"\n## Printing the hotspot list\n\n{PRINTS}".rstrip())
        rows = [[row["what"], row["tool"], f"{row['samples']:,}", f"{row['bytes'] / row['samples']:,.1f}", row["how"], *print_cells(row)]
                if row.get("samples") else [row["what"], row["tool"], "0", "-", row.get("failed", ""), "-", "-"]
                for row in self.results.of("print")]
        self.table(["profile", "tool", "samples", "bytes a sample", "hotspot list", "seconds", "MB"], rows)


def line(cells):
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def share(part, whole):
    """A hundred percent is all, not nearly all."""
    return "100 %" if part == whole else f"{min(100 * part / whole, 99.9):.1f} %"


def samples_cell(row, interval):
    if not row:
        return "-"
    if "failed" in row:
        return f"failed: {row['failed']}"
    if not row["samples"] or not row["program_cpu"]:
        return "**none**"
    return f"{100 * row['samples'] * interval / 1000 / row['program_cpu']:.0f} % ({100 * row['seen'] / row['program_cpu']:.1f} %)"


def print_cells(row):
    if "failed" in row:
        return [f"failed: {row['failed']}", "-"]
    if "over" in row:
        return [f"over {row['over']}", f"{row['mb']:.0f}"]
    return [f"{row['seconds']:.2f}", f"{row['mb']:.0f}"]


def render(results, programs, tools):
    page = Page(results, programs, tools)
    page.machine()
    page.cost()
    page.claims()
    page.accounting()
    page.samples()
    page.whole()
    page.sizes()
    page.prints()
    return page.text
