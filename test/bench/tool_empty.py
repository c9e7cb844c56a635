# SPDX-License-Identifier: MIT
"""No profiler, but what the machine takes for one: ticks with a handler that does nothing (empty_ticks.c). Only of programs with
one thread that works all the time, to which varve gives the same ticks at intervals below the scheduler's."""
import os

from spending import spend

FLOOR = "empty handler"


class EmptyHandler:
    programs = ["cc1plus", "python3", "sqlite3"]

    def __init__(self, build, costed):
        self.name = FLOOR
        self.costed = costed
        self.library = os.path.join(os.path.abspath(build), "bench", "empty_ticks.so")

    def absent(self):
        if not os.path.exists(self.library):
            return f"{os.path.basename(self.library)} is not built"
        command, environment = self.wrap(["/bin/true"], 1, None)
        return f"{FLOOR}: perf events are refused" if spend(command, environment).code else None

    def wrap(self, command, interval, profile):
        del profile
        return command, {"LD_PRELOAD": self.library, "EMPTY_TICKS_US": str(1000 * interval)}
