# SPDX-License-Identifier: MIT
"""The profilers that are compared, as a table. A tool has a name and says whether it is absent() and its version(); wrap()
gives the command and environment that record a command; outcome() says what a profile has: samples, CPU time that they stand
for ("seen"), CPU time of the program, stacks and whole ones, bytes; prints() has commands that print the hotspot list. In every round
it runs at the intervals that are "costed", at others once, for what its profile has."""
from stack_roots import Roots
from tool_empty import EmptyHandler
from tool_gperftools import Gperftools
from tool_gprofng import Gprofng
from tool_perf import Perf
from tool_varve import Varve

BARE = "bare"


def all_tools(build):
    roots = Roots(build)
    return [
        Varve("varve", build, [], costed=[10, 1]),
        # As the others: no run states, no waits.
        Varve("varve, samples only", build, ["--run-states", "off", "--waits", "off"], costed=[10]),
        Perf("perf -g", ["-g"], roots, costed=[10]),
        # The one that collects whole stacks at any rate.
        Perf("perf dwarf", ["--call-graph", "dwarf"], roots, costed=[10, 1]),
        Gperftools(roots, costed=[10]),
        # Its ticks are 100 ms apart, whatever it is asked for.
        Gprofng(roots, costed=[10]),
    ]


def floor(build):
    """Which no profiler that ticks by the same events can be below. It has pairs only."""
    return EmptyHandler(build, costed=[1])
