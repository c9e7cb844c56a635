# SPDX-License-Identifier: MIT
"""The machine, as far as it matters to numbers: no names and paths of it."""
import glob
import gzip
import os
import platform
import re

from spending import output_of

VERSIONS = {"g++": ["g++", "--version"], "xz": ["xz", "--version"], "python3": ["/usr/bin/python3", "--version"], "sqlite3": ["sqlite3", "--version"],
            "redis-server": ["redis-server", "--version"], "node": ["node", "--version"], "make": ["make", "--version"]}


def timer_frequency():
    """The scheduler's ticks a second, by the kernel's configuration, where it can be read."""
    for path in ["/proc/config.gz", *glob.glob(f"/boot/config-{platform.release()}")]:
        try:
            with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
                match = re.search(r"^CONFIG_HZ=(\d+)", file.read(), re.MULTILINE)
                if match:
                    return match[1]
        except OSError:
            continue
    return "not known"


def first(path, pattern, otherwise="not known"):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            match = re.search(pattern, file.read(), re.MULTILINE)
            return match[1].strip() if match else otherwise
    except OSError:
        return otherwise


def version_of(command):
    """The first thing in the first line that looks like a version."""
    match = re.search(r"\d+(\.\d+)+", (output_of(command) or "").partition("\n")[0])
    return match[0] if match else "absent"


def machine(tools):
    """Rows of words."""
    virtual = " (virtual)" if "hypervisor" in first("/proc/cpuinfo", r"^flags\s*:(.*)$", "") else ""
    system = first("/etc/os-release", r"^PRETTY_NAME=\"?([^\"]*)")
    model = first("/proc/cpuinfo", r"^model name.*: (.*)$")
    paranoid = first("/proc/sys/kernel/perf_event_paranoid", r"(-?\d+)")
    memory = int(first("/proc/meminfo", r"^MemTotal: *([0-9]+)", "0")) / 2**20
    rows = {
        "Processors": f"{len(os.sched_getaffinity(0))} of {model}{virtual}",
        "Memory": f"{memory:.0f} GiB",
        "System": f"{system}, Linux {platform.release().partition('-')[0]}, {' '.join(platform.libc_ver())}",
        "Scheduler's ticks a second": timer_frequency(),
        "perf_event_paranoid": paranoid + (", as root" if os.geteuid() == 0 else ", as a user"),
        "Programs": ", ".join(f"{name} {version_of(command)}" for name, command in VERSIONS.items()),
    }
    rows["Profilers"] = ", ".join(dict.fromkeys(tool.version() if not tool.absent() else f"{tool.name}: {tool.absent()}" for tool in tools))
    return rows
