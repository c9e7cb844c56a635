# SPDX-License-Identifier: MIT
"""gprofng: an experiment, which is a folder. It shows CPU time only, so its samples are that over the interval; its stacks are
told by the first level of its call tree."""
import glob
import os
import re
import shutil

from spending import output_of

TOTAL = re.compile(r"^\s*([\d.]+)\s+[\d.]+\s+[\d.]+\s+[\d.]+\s+<Total>", re.MULTILINE)
TREE_LINE = re.compile(r"^\s*([\d.]+)\s+[\d.]+(\s+)\+-(.*)$")
ROOT_NAMES = {"_start", "main", "__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main", "start_thread", "clone", "clone3",
              "__clone", "__clone3"}
STATIC = re.compile(r"<static>@0x([0-9a-f]+) \(<(libc\.so[^>]*|ld-linux[^>]*)>\)")


class Gprofng:
    def __init__(self, roots, costed):
        self.name = "gprofng"
        self.costed = costed
        self.roots = roots

    def absent(self):
        return None if shutil.which("gprofng") else "not installed"

    def version(self):
        return (output_of(["gprofng", "--version"]) or "").partition("\n")[0].replace("GNU ", "")

    def wrap(self, command, interval, profile):
        """It does not look for its program in PATH."""
        os.makedirs(profile)
        program = shutil.which(command[0]) or command[0]
        return ["gprofng", "collect", "app", "-p", str(interval), "-o", self.experiment(profile), program, *command[1:]], {}

    @staticmethod
    def experiment(profile):
        return os.path.join(profile, "run.er")

    def outcome(self, profile, interval, spent):
        """It reserves files and fills them with zeros, which are no data. Copies of binaries are no data of samples either."""
        found = {"bytes": sum(map(used_bytes, self.sample_files(profile))), "program_cpu": spent.cpu}
        total = output_of(["gprofng", "display", "text", "-functions", *self.experiments(profile)])
        match = TOTAL.search(total or "")
        if not match:
            return {**found, "failed": "no total in its list of functions"}
        seen = float(match[1])
        found.update(seen=seen, samples=round(seen * 1000 / interval))
        tree = output_of(["gprofng", "display", "text", "-calltree", *self.experiments(profile)])
        return {**found, **self.stacks(tree or "", interval)}

    def experiments(self, profile):
        return [self.experiment(profile), *sorted(glob.glob(os.path.join(self.experiment(profile), "*.er")))]

    def sample_files(self, profile):
        return [os.path.join(experiment, name) for experiment in self.experiments(profile) for name in ("profile", "data.frameinfo")]

    def stacks(self, tree, interval):
        """The outermost function of every stack is a child of the total: the least indented lines."""
        lines = [match for match in map(TREE_LINE.match, tree.splitlines()) if match]
        lines = [match for match in lines if match[3] != "<Total>"]
        if not lines:
            return {"stacks": 0, "whole": 0}
        indent = min(len(match[2]) for match in lines)
        tops = [(float(match[1]) * 1000 / interval, match[3].strip()) for match in lines if len(match[2]) == indent]
        return {"stacks": round(sum(count for count, _ in tops)),
                "whole": round(sum(count for count, name in tops if self.is_root(name)))}

    def is_root(self, name):
        if name.partition(" ")[0].partition("(")[0] in ROOT_NAMES:
            return True
        match = STATIC.match(name)
        return bool(match) and (match[2].startswith("ld-") or self.roots.starts(int(match[1], 16)))

    def prints(self, profile):
        return [("without inlines", ["gprofng", "display", "text", "-functions", *self.experiments(profile)])]


def used_bytes(path):
    if not os.path.exists(path):
        return 0
    with open(path, "rb") as file:
        return len(file.read().rstrip(b"\0"))
