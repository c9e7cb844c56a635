# SPDX-License-Identifier: MIT
"""The command behind `make bench`: measures what is missing, and makes test/bench/RESULTS.md of all that was measured."""
import argparse
import os
import sys

from alone import Alone
from beside import Beside
from compare import INTERVALS, Compare
from machine import machine
from printing import Printing
from render import render
from results import Results
from tools import all_tools, floor
from workloads import all_workloads, work_id

ALONE = ["observer", "start", "report", "view"]
SECTIONS = ["compare", "beside", "print", *ALONE, "render"]


def chosen(every, wanted, what):
    """Those whose names contain one of the wanted words; all where there is none."""
    found = [each for each in every if not wanted or any(word in each.name for word in wanted)]
    if not found:
        sys.exit(f"no {what} is called so; there are: {', '.join(each.name for each in every)}")
    return found


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--results", required=True, help="lines of JSON, kept between runs")
    parser.add_argument("--page", required=True, help="the tables")
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--programs", help="parts of names, with commas")
    parser.add_argument("--tools", help="parts of names, with commas")
    parser.add_argument("--rates", help="milliseconds, with commas")
    parser.add_argument("section", nargs="+", choices=SECTIONS)
    return parser.parse_args()


def split(text):
    return [word.strip() for word in (text or "").split(",") if word.strip()]


def main():
    arguments = parse()
    every_tool, every_workload = all_tools(arguments.build), all_workloads(arguments.build)
    tools = chosen([*every_tool, floor(arguments.build)], split(arguments.tools), "tool")
    profilers = [tool for tool in tools if tool in every_tool]
    workloads = chosen(every_workload, split(arguments.programs), "program")
    intervals = [int(rate) for rate in split(arguments.rates)] or INTERVALS
    results = Results(arguments.results, every_tool[0].build_id(), work_id())
    if not results.of("machine") or "compare" in arguments.section or "print" in arguments.section:
        results.replace("machine", {}, about=machine(every_tool))
    alone = Alone(arguments.build, arguments.work, arguments.runs)
    for section in arguments.section:
        if section == "compare":
            Compare(results, arguments.work, workloads, profilers, intervals).run(arguments.runs)
        elif section == "beside":
            others = {workload.name: workload for workload in all_workloads(arguments.build)}
            twins = [(workload, others[workload.name]) for workload in workloads]
            Beside(results, arguments.work, twins, tools, intervals).run(arguments.runs)
        elif section == "print":
            Printing(results, arguments.work, arguments.build, profilers).run()
        elif section in ALONE:
            getattr(alone, section)()
    text = render(results, [each.name for each in every_workload], [each.name for each in every_tool])
    with open(arguments.page, "w", encoding="utf-8") as file:
        file.write(text)
    print(f"tables: {os.path.relpath(arguments.page)}")


if __name__ == "__main__":
    main()
