# SPDX-License-Identifier: MIT
"""Whether a stack reaches its root, for profilers that do not say: its outermost frames have a call by which the C library
starts main or a thread (test/programs/root_frames.c), or it ends in the loader. Code of the C library is found by its name."""
import os

from spending import output_of

# The calls that start main and threads are within this many frames of the end: start_thread and clone3; _start itself is
# the program's.
OUTERMOST = 3
# A function without a symbol goes by where it begins; the call stands within this many bytes.
WITHIN = 512


def is_libc(path):
    return os.path.basename(path).startswith("libc.so")


def is_loader(path):
    return os.path.basename(path).startswith("ld-linux")


class Roots:
    def __init__(self, build):
        text = output_of([os.path.join(build, "programs", "root_frames")]) or ""
        self.returns = {int(line, 16) for line in text.split()}

    def whole(self, frames):
        """Frames, innermost first: offset in the file of the module, and its path. Some tools give return addresses, others
        the byte before."""
        if frames and is_loader(frames[-1][1]):
            return True
        return any(is_libc(path) and (offset in self.returns or offset + 1 in self.returns) for offset, path in frames[-OUTERMOST:])

    def starts(self, offset):
        """Whether a function of the C library that begins here is one of those."""
        return any(0 <= address - offset < WITHIN for address in self.returns)
