# SPDX-License-Identifier: MIT
"""varve itself. Recording is measured without looking names up, as that of the others is; that is measured with printing."""
import glob
import hashlib
import json
import os
import shutil

from spending import file_sizes, output_of

# A delivered signal, its handler's entry and sigreturn, which the handler cannot see of itself (measured: 1.4 to 2.3 us).
SIGNAL_US = 2.0
# What varve record makes when the run is over.
STORED = {"symbols", "code", "decoded", "views"}


class Varve:
    def __init__(self, name, build, options, costed):
        self.name = name
        self.costed = costed
        self.varve = os.path.join(build, "varve")
        self.agents = [os.path.join(build, name) for name in ("libvarve.so", "no-waits/libvarve.so")]
        self.options = options

    def absent(self):
        return None

    def version(self):
        return (output_of([self.varve, "--version"]) or "varve").strip()

    def build_id(self):
        """Results of another build are not of this one."""
        digest = hashlib.sha256()
        for path in (self.varve, *self.agents):
            with open(path, "rb") as file:
                digest.update(file.read())
        return digest.hexdigest()[:16]

    def wrap(self, command, interval, profile, finalize=False):
        finalizing = [] if finalize else ["--no-finalize"]
        return [self.varve, "record", "-q", *finalizing, *self.options, "--interval", f"{interval}ms", "-o", profile, "--", *command], {}

    def outcome(self, profile, interval, spent):
        del interval, spent
        summary = summary_of(self.varve, profile)
        every = glob.glob(os.path.join(profile, "*"))
        return {
            "bytes": file_sizes(path for path in every if path.endswith(".agent")),
            "all_bytes": file_sizes(every),
            "program_cpu": summary["cpu_ns"] / 1e9,
            "samples": summary["samples"],
            "seen": (summary["sampled_ns"] + summary["residual_placed_ns"]) / 1e9,
            "stacks": summary["samples"],
            "whole": round(summary["samples"] * summary["whole_stack_share"]),
            "ticks": summary["ticks"],
            "handler": summary["handler_ns"] / 1e9,
            "observer": summary["observer_cpu_ns"] / 1e9,
            "accounted": (summary["sampled_ns"] + summary["residual_ns"]) / summary["cpu_ns"],
        }

    def prints(self, profile):
        """The profile has its names. In a copy that has not, the list has to look them up as those of the others do."""
        bare = profile + "-without-names"
        os.makedirs(bare)
        for path in glob.glob(os.path.join(profile, "*")):
            if os.path.basename(path) not in STORED:
                shutil.copy(path, bare)
        hotspots = [self.varve, "report", "hotspots"]
        return [("with inlines", [*hotspots, profile]), ("with inlines, all names looked up", [*hotspots, bare])]


def summary_of(varve, profile):
    """What `varve report` says of a profile in numbers; ValueError where it cannot read it."""
    return json.loads(output_of([varve, "report", "summary", "--format", "json", profile]) or "")
