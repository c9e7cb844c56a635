# SPDX-License-Identifier: MIT
"""What `make bench` computes, on numbers whose answer is known. It runs no profiler and measures nothing."""
import os
import random
import tempfile
import unittest

from compare import Compare
from beside import Beside
from intervals import apart, median_interval, median_rank, paired_ratios, verdict, words
from render import render
from results import Results
from spending import spend
from stack_roots import Roots
from tool_gperftools import Gperftools
from tool_gprofng import Gprofng
from tool_perf import Perf
from workloads import Workload

PROGRAMS = ["xz"]
TOOLS = ["varve", "perf"]


class KnownRoots(Roots):
    def __init__(self):
        self.returns = {0x2724A, 0x1098EC}


def cost(tool, rate, number, cpu):
    return {"program": "xz", "tool": tool, "rate": rate, "round": number, "cpu": cpu, "wall": cpu}


class Intervals(unittest.TestCase):
    def test_ranks_are_those_of_the_tables(self):
        # Order statistics of a 95 % interval of the median, as printed in tables of the sign test.
        self.assertEqual([median_rank(count) for count in (1, 5, 6, 8, 9, 12, 20, 50)], [0, 0, 1, 1, 2, 3, 6, 18])

    def test_it_has_the_median_as_often_as_it_says(self):
        noise = random.Random(7)
        for count in (6, 9, 20):
            hits = 0
            for _ in range(4000):
                _, low, high = median_interval([noise.lognormvariate(0, 0.3) for _ in range(count)])
                hits += low <= 1 <= high
            # Three standard errors of 4000 draws at 95 % are 1 %.
            self.assertGreater(hits / 4000, 0.94)

    def test_too_few_runs_have_no_interval_and_no_verdict(self):
        self.assertEqual(median_interval([0.9, 0.8, 0.7]), (0.8, None, None))
        self.assertEqual(verdict([0.5] * 5), 0)
        self.assertEqual(words([0.9, 0.8, 0.7]), "0.800 (3 runs)")
        self.assertEqual(words([]), "-")

    def test_a_verdict_needs_the_whole_interval(self):
        self.assertEqual(verdict([0.9] * 6), -1)
        self.assertEqual(verdict([1.1] * 6), 1)
        self.assertEqual(verdict([0.9] * 5 + [1.01]), 0)

    def test_two_medians_are_apart_where_their_intervals_do_not_meet(self):
        self.assertEqual(apart([1.0] * 6, [1.1] * 6), -1)
        self.assertEqual(apart([1.1] * 6, [1.0] * 5 + [1.05]), 1)
        self.assertEqual(apart([1.0] * 5 + [1.2], [1.1] * 6), 0)
        self.assertEqual(apart([1.0] * 6, [1.1] * 5), 0)

    def test_ratios_are_of_the_same_round(self):
        rows = [cost("bare", 0, 1, 2.0), cost("varve", 10, 1, 3.0), cost("bare", 0, 2, 4.0), cost("varve", 10, 2, 5.0), cost("varve", 10, 3, 9.0)]
        self.assertEqual(paired_ratios(rows, ("varve", 10), ("bare", 0), "cpu"), [1.5, 1.25])


class Readers(unittest.TestCase):
    def test_a_stack_is_whole_by_its_outermost_frames(self):
        libc, program = "/lib/libc.so.6", "/bin/x"
        whole = KnownRoots().whole
        self.assertTrue(whole([(1, program), (0x2724A, libc), (2, program)]))
        self.assertTrue(whole([(1, program), (0x1098EB, libc)]))
        self.assertTrue(whole([(7, "/lib64/ld-linux-x86-64.so.2")]))
        self.assertFalse(whole([(0x2724A, program)]))
        self.assertFalse(whole([(0x2724A, libc), (1, program), (1, program), (1, program)]))
        self.assertFalse(whole([]))

    def test_perf_script(self):
        script = ("\tffffffff81000c82 asm_x ([kernel.kallsyms])\n\t  10 f(int (*)(int)) (/bin/x)\n\t 27249 __libc (/lib/libc.so.6)\n\n"
                  "\t  10 [unknown] (/bin/x)\n\n\tffffffff81000c82 asm_x ([kernel.kallsyms])\n\n")
        self.assertEqual(Perf("perf", ["-g"], KnownRoots(), []).stacks(script), {"stacks": 2, "whole": 1})

    def test_a_profile_of_gperftools(self):
        def word(*values):
            return b"".join(value.to_bytes(8, "little") for value in values)

        base = 0x7F0000000000
        data = word(0, 3, 0, 10000, 0) + word(3, 2, 0x400010, base + 0x2724A) + word(2, 1, 0x400010) + word(0, 1, 0)
        data += f"{base:x}-{base + 0x200000:x} r-xp 00000000 fe:00 1   /lib/libc.so.6\n".encode()
        found = {"samples": 0, "seen": 0.0, "stacks": 0, "whole": 0}
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            Gperftools(KnownRoots(), []).read(file.name, found)
        self.assertEqual((found["samples"], found["stacks"], found["whole"]), (5, 5, 3))
        self.assertAlmostEqual(found["seen"], 0.05)

    def test_a_call_tree_of_gprofng(self):
        tree = ("0.290 100.00   +-<Total>\n0.230  79.31     +-<static>@0x271c1 (<libc.so.6>)\n0.200  79.31     |  +-main\n"
                "0.060  20.69     +-<static>@0x271c1 (<other.so>)\n")
        self.assertEqual(Gprofng(KnownRoots(), []).stacks(tree, 10), {"stacks": 29, "whole": 23})

    def test_what_a_command_spends(self):
        self.assertEqual(spend(["sh", "-c", "echo oh >&2; exit 3"]).code, 3)
        self.assertTrue(spend(["sleep", "60"], limit=0.1).timed_out)


class FakeTool:
    name = "perf"
    costed = [10]

    def absent(self):
        return None


class FakeWorkload:
    name = "xz"


class Pages(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "results")

    def test_rounds_go_on_where_they_were(self):
        results = Results(self.path, "a", "w")
        for number in range(3):
            results.add("cost", **cost("perf", 10, number, 1.0))
        compare = Compare(Results(self.path, "a", "w"), "", [], [FakeTool()], [10, 4])
        self.assertEqual([compare.missing(FakeWorkload, ("perf", 10), 5, number) for number in range(5)], [False, False, False, True, True])
        self.assertTrue(compare.missing(FakeWorkload, ("perf", 4), 5, 0))
        compare.results.add("counts", program="xz", tool="perf", rate=4, samples=1)
        self.assertFalse(compare.missing(FakeWorkload, ("perf", 4), 5, 0))

    def test_pairs_go_on_where_they_were(self):
        results = Results(self.path, "a", "w")
        results.add("beside", program="xz", tool="perf", rate=10, cpu=1.0, bare=1.0)
        beside = Beside(results, "", [], [FakeTool()], [10, 4])
        self.assertEqual(beside.wanted("xz"), [("bare", 0), ("perf", 10)])
        FakeTool.programs = ["python3"]
        self.addCleanup(delattr, FakeTool, "programs")
        self.assertEqual(beside.wanted("xz"), [("bare", 0)])
        self.assertEqual([beside.missing(FakeWorkload, ("perf", 10), number) for number in range(2)], [False, True])

    def test_the_sides_of_a_pair_are_told_apart(self):
        shell = Workload("sh", ["sh"], lambda folder: ["sh", "-c", "exit 0"])
        shell.ready("")
        wraps = [lambda command: (command, {}), lambda command: (["sh", "-c", "exit 3"], {})]
        codes = [[spent.code for spent in Beside(None, "", [], [], []).at_once([shell, shell], wraps)] for _ in range(4)]
        self.assertEqual(codes, [[0, 3]] * 4)

    def test_results_of_another_build_and_failures_are_forgotten(self):
        results = Results(self.path, "a", "w")
        results.add("cost", True, **cost("varve", 10, 1, 1.0))
        results.add("cost", **cost("perf", 10, 1, 1.0))
        results.add("cost", program="xz", tool="perf", rate=4, round=1, failed="exit 1")
        with open(self.path, "a", encoding="utf-8") as file:
            file.write('{"kind": "cost", "prog')
        self.assertEqual([row["tool"] for row in Results(self.path, "b", "w").of("cost")], ["perf"])
        self.assertEqual(Results(self.path, "b", "other work").of("cost"), [])

    def test_the_page_says_what_there_is_and_what_is_not(self):
        results = Results(self.path, "a", "w")
        for number in range(6):
            results.add("cost", **cost("bare", 0, number, 1.0))
            results.add("cost", True, **cost("varve", 10, number, 1.01))
            results.add("cost", **cost("perf", 10, number, 1.5))
            results.add("beside", program="xz", tool="bare", rate=0, cpu=2.0, bare=2.0)
            results.add("beside", True, program="xz", tool="varve", rate=10, cpu=2.004, bare=2.0)
            results.add("beside", program="xz", tool="perf", rate=10, cpu=2.2, bare=2.0)
        results.add("counts", True, program="xz", tool="varve", rate=10, samples=99, seen=0.99, program_cpu=1.0, stacks=99, whole=99,
                    bytes=2376, ticks=99, handler=0.001, observer=0.0)
        results.add("counts", program="xz", tool="perf", rate=10, samples=0, seen=0, program_cpu=1.0, stacks=0, whole=0, bytes=100)
        results.add("print", what="cc1plus", tool="perf", how="with inlines", samples=10, bytes=100, over=60, mb=800.0)
        page = render(results, PROGRAMS, TOOLS)
        self.assertIn("| xz | 1.010 [1.010, 1.010] | 1.500 [1.500, 1.500] |", page)
        self.assertIn("| xz | 1.0000 [1.0000, 1.0000] | 1.0020 [1.0020, 1.0020] | 1.1000 [1.1000, 1.1000] |", page)
        self.assertIn("- 10 ms, what varve adds, beside 0.5 %: less (xz).", page)
        self.assertNotIn("what empty handler adds", page)
        self.assertIn("- 10 ms, varve and perf: lower (xz).", page)
        self.assertIn("| xz | 99 % (99.0 %) | **none** |", page)
        self.assertIn("| xz | 100 % | no samples |", page)
        self.assertIn("| xz | 24 / - | no samples |", page)
        self.assertIn("| cc1plus | perf | 10 | 10.0 | with inlines | over 60 | 800 |", page)
        for number in range(6):
            results.add("beside", program="xz", tool="empty handler", rate=1, cpu=2.05, bare=2.0)
            results.add("beside", True, program="xz", tool="varve", rate=1, cpu=2.06, bare=2.0)
        page = render(results, PROGRAMS, TOOLS)
        self.assertIn("| program | bare | empty handler | varve |", page)
        self.assertIn("- 1 ms, what empty handler adds, beside 2 %: more (xz).\n", page)
        self.assertIn("- 1 ms, varve and empty handler: higher (xz).\n", page)
        results.add("absent", tool="perf", why="not installed")
        self.assertIn("| xz | 99 % (99.0 %) | not installed |", render(results, PROGRAMS, TOOLS))


if __name__ == "__main__":
    unittest.main()
