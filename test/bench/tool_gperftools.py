# SPDX-License-Identifier: MIT
"""gperftools' CPU profiler: one file a process, of machine words. A header, records of a count and program counters, a record
that ends them, and the memory map as text."""
import array
import glob
import os
import shutil

from spending import file_sizes, output_of
from stack_roots import is_libc, is_loader

LIBRARY = "libprofiler.so.0"
HEADER_WORDS = 5
PERIOD_WORD = 3


class Gperftools:
    def __init__(self, roots, costed):
        self.name = "gperftools"
        self.costed = costed
        self.roots = roots
        self.library = next(iter(glob.glob(f"/usr/lib/*/{LIBRARY}") + glob.glob(f"/usr/lib*/{LIBRARY}")), None)

    def absent(self):
        if not self.library:
            return f"{LIBRARY} not installed"
        return None if shutil.which("google-pprof") else "google-pprof not installed"

    def version(self):
        text = output_of(["dpkg-query", "-W", "-f", "${Version}", "libgoogle-perftools4"])
        return f"gperftools {text or '(version not known)'}"

    def wrap(self, command, interval, profile):
        os.makedirs(profile)
        return command, {"LD_PRELOAD": self.library, "CPUPROFILE": os.path.join(profile, "cpu"),
                         "CPUPROFILE_FREQUENCY": str(round(1000 / interval))}

    def outcome(self, profile, interval, spent):
        paths = sorted(glob.glob(os.path.join(profile, "cpu*")))
        found = {"bytes": file_sizes(paths), "program_cpu": spent.cpu, "samples": 0, "seen": 0.0, "stacks": 0, "whole": 0}
        for path in paths:
            if os.path.getsize(path):
                self.read(path, found)
        return found

    def read(self, path, found):
        with open(path, "rb") as file:
            data = file.read()
        words = array.array("Q", data[: len(data) // 8 * 8])
        at, period = HEADER_WORDS, words[PERIOD_WORD]
        records = []
        while at + 2 < len(words) and words[at]:
            count, depth = words[at], words[at + 1]
            records.append((count, words[at + 2 : at + 2 + depth]))
            at += 2 + depth
        regions = root_regions(data[(at + 3) * 8 :].decode(errors="replace"))
        for count, addresses in records:
            found["samples"] += count
            found["stacks"] += count
            found["seen"] += count * period / 1e6
            found["whole"] += count * self.roots.whole([frame_in(regions, address) for address in addresses[-3:]])

    def prints(self, profile):
        """The program is the first file of the map that is executable: who asks has to name it, so this does."""
        paths = sorted(path for path in glob.glob(os.path.join(profile, "cpu*")) if os.path.getsize(path))
        with open(paths[0], "rb") as file:
            text = file.read().decode(errors="replace")
        program = next(line.split()[-1] for line in text.splitlines() if " r-xp " in line and "/" in line)
        return [("google-pprof --text", ["google-pprof", "--text", program, *paths])]


def root_regions(text):
    """Executable parts of the C library and the loader: begin, end, offset in the file, path."""
    regions = []
    for line in text.splitlines():
        fields = line.split()
        if len(fields) >= 6 and "x" in fields[1] and (is_libc(fields[5]) or is_loader(fields[5])):
            begin, end = (int(part, 16) for part in fields[0].split("-"))
            regions.append((begin, end, int(fields[2], 16), fields[5]))
    return regions


def frame_in(regions, address):
    for begin, end, offset, path in regions:
        if begin <= address < end:
            return address - begin + offset, path
    return address, ""
