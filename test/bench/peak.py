# SPDX-License-Identifier: MIT
"""peak.py SECONDS COMMAND...: runs a command without output and prints, as JSON, its time, the memory of its largest process
and how it ended. Small on purpose: the kernel counts what the parent has as the child's peak, until the child is larger. It
ends what takes longer than SECONDS."""
import json
import os
import signal
import sys
import time


def main():
    limit, command = float(sys.argv[1]), sys.argv[2:]
    nowhere = os.open(os.devnull, os.O_RDWR)
    start = time.monotonic()
    child = os.posix_spawnp(command[0], command, os.environ, setsid=True, file_actions=[(os.POSIX_SPAWN_DUP2, nowhere, to) for to in (0, 1, 2)])
    late = []

    def end(*_):
        late.append(True)
        os.killpg(child, signal.SIGKILL)

    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, limit)
    _, status, usage = os.wait4(child, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(json.dumps({"seconds": time.monotonic() - start, "mb": usage.ru_maxrss / 1024, "code": status, "late": bool(late)}))


main()
