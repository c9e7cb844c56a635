#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads an observer file, after common/FORMAT.md and with none of varve's code, and prints it as JSON: sums of every track, and time by level.

Fails where the file says what cannot be: time that runs backwards, states of unknown or ended threads, stretches that overlap.
usage: run_states.py PROFILE [BEGIN END]   sums between two times of CLOCK_MONOTONIC only (switches)
"""
import itertools
import json
import operator
import struct
import sys

KINDS = ["other", "lock", "condition", "io", "sleep", "join"]
STATES = ["running", "blocked", "ready"]
STEPS = []  # of the number of running threads (switches): time, +1 or -1


def varints(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0
    assert shift == 0, "ends inside a number"


class Track:
    def __init__(self, start):
        self.start, self.end = start, None
        self.state, self.since = "blocked", start
        self.ns = dict.fromkeys(STATES, 0)
        self.quanta, self.processors, self.waits = 0, set(), {}
        self.voluntary = self.involuntary = None

    def enter(self, state, time, begin, end):
        assert time >= self.since and self.end is None, "time runs backwards"
        if (state == "running") != (self.state == "running"):
            STEPS.append((time, 1 if state == "running" else -1))
        self.ns[self.state] += max(0, min(time, end) - max(self.since, begin))
        self.state, self.since = state, time


def levels():
    """Time by number of running threads, between the first switch and the last. Steps of one instant are one: by themselves the
    number might be less than none meanwhile."""
    time_at, level, since = [0], 0, None
    for time, steps in itertools.groupby(sorted(STEPS), key=operator.itemgetter(0)):
        if since is not None:
            time_at[level] += time - since
        level, since = level + sum(step for _, step in steps), time
        time_at += [0] * (level + 1 - len(time_at))
    return time_at


def read(directory, begin=0, end=2**63):
    data = open(directory + "/observer", "rb").read()
    session = open(directory + "/session", "rb").read()
    assert data[:8] == b"\x8bVRV\r\n\x1a\n" and data[14:16] == b"\x04\0", "no observer file"
    assert data[16:32] == session[16:32], "not of this run"
    tracks, sweeps, lost, events, last = {}, [], 0, 0, 0
    at = 64
    while at + 64 <= len(data):
        kind, _, _, capacity, used, _, _, first = struct.unpack_from("<IHHIIIIQ", data, at)
        if kind == 0:
            at += 64
            continue
        assert data[at:at + 4] == b"RUNS" and 64 + used <= capacity
        record, stop, time, at = at + 64, at + 64 + used, first, at + capacity
        while record < stop:
            size, kind, flags = struct.unpack_from("<HBB", data, record)
            assert size >= 4 and record + size <= stop, "a record beyond its chunk"
            body = data[record + 4:record + size]
            record += size
            if kind == 10:
                number, pid, tid, ppid, _, start, name = struct.unpack_from("<IiiiIQ16s", body)
                track = tracks.setdefault(number, Track(start))
                track.pid, track.tid, track.ppid = pid, tid, ppid
                track.name, track.start_seen = name.split(b"\0")[0].decode(), bool(flags & 1)
            elif kind == 11:
                number, ended, voluntary, involuntary = struct.unpack_from("<IQII", body)
                track = tracks[number]
                track.enter("blocked", ended, begin, end)
                track.end, track.voluntary, track.involuntary = ended, voluntary, involuntary
            elif kind == 12:
                numbers = varints(body)
                for delta in numbers:
                    time += delta
                    number, what = divmod(next(numbers), 4)
                    assert time >= last
                    last, events = time, events + 1
                    tracks[number].enter(STATES[what], time, begin, end)
                    if what == 0:
                        tracks[number].quanta += 1
                        tracks[number].processors.add(next(numbers))
            elif kind == 13:
                numbers = varints(body)
                stretch = (first + next(numbers), next(numbers))
                if not sweeps or sweeps[-1] != stretch:
                    assert not sweeps or stretch[0] >= sum(sweeps[-1]), "stretches overlap"
                    sweeps.append(stretch)
                for number in numbers:
                    track = tracks[number]
                    assert track.end is None
                    track.ns["running"] += next(numbers)
                    track.ns["ready"] += next(numbers)
                    track.quanta += next(numbers)
                    track.processors.add(next(numbers))
            elif kind == 14:
                number, _ = struct.unpack_from("<IQ", body)
                tracks[number].waits[KINDS[flags]] = tracks[number].waits.get(KINDS[flags], 0) + 1
            elif kind == 15:
                lost += struct.unpack_from("<IQQ", body)[2]
    result = []
    for number in sorted(tracks):
        track = tracks[number]
        if sweeps and track.end:
            track.ns["blocked"] = max(0, track.end - track.start - track.ns["running"] - track.ns["ready"])
        row = {key: value for key, value in vars(track).items() if key not in ("ns", "since")}
        row.update(track.ns, processors=sorted(track.processors))
        result.append(row)
    texts = session.split(b"\0")
    facts = {key.decode(): value.decode() for key, value in zip(texts, texts[1:]) if key.startswith(b"observer")}
    return {"levels": levels(), "tracks": result, "sweeps": len(sweeps), "events": events, "lost": lost, "facts": facts}


if __name__ == "__main__":
    print(json.dumps(read(sys.argv[1], *map(int, sys.argv[2:4]))))
