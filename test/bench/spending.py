# SPDX-License-Identifier: MIT
"""Starts commands and says what they spent: CPU time of the whole command, wall time, peak memory. Ends only what it
started."""
import dataclasses
import os
import signal
import subprocess
import tempfile
import time

TICKS = os.sysconf("SC_CLK_TCK")


@dataclasses.dataclass
class Spent:
    cpu: float  # seconds: the command and all that it waited for
    children_cpu: float  # of these, what it waited for; to a hundredth of a second
    wall: float
    peak_mb: float  # of the largest process; never below what this script itself has (see peak.py)
    code: int
    errors: str
    timed_out: bool = False
    extra: dict = dataclasses.field(default_factory=dict)


class Running:
    """A command that runs, in a session of its own, so that its end can be that of its children."""

    def __init__(self, command, environment=None, folder=None, output=subprocess.DEVNULL):
        self.errors = tempfile.TemporaryFile()
        self.start = time.monotonic()
        self.process = subprocess.Popen(command, env={**os.environ, **(environment or {})}, cwd=folder, stdin=subprocess.DEVNULL,
                                        stdout=output, stderr=self.errors, start_new_session=True)

    def ended(self, seconds):
        """Whether it ended within that time. It stays a zombie, so that its numbers can be read."""
        if seconds is None:
            os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT)
            return True
        end = self.start + seconds
        while time.monotonic() < end:
            if os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG):
                return True
            time.sleep(0.01)
        return False

    def finish(self, limit=None):
        """Waits, for `limit` seconds since its start at most, and says what it spent."""
        timed_out = not self.ended(limit)
        if timed_out:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.ended(None)
        wall = time.monotonic() - self.start
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        children = (int(fields[13]) + int(fields[14])) / TICKS
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.errors.seek(0)
        errors = self.errors.read().decode(errors="replace")
        self.errors.close()
        return Spent(usage.ru_utime + usage.ru_stime, children, wall, usage.ru_maxrss / 1024, self.process.returncode, errors, timed_out)


def spend(command, environment=None, folder=None, limit=None, output=subprocess.DEVNULL):
    return Running(command, environment, folder, output).finish(limit)


def output_of(command, environment=None, limit=120):
    """What a command that must succeed prints; None where it does not, or takes too long."""
    with tempfile.TemporaryFile() as file:
        spent = spend(command, environment, limit=limit, output=file)
        if spent.code or spent.timed_out:
            return None
        file.seek(0)
        return file.read().decode(errors="replace")


def file_sizes(paths):
    return sum(os.path.getsize(path) for path in paths if os.path.isfile(path))
