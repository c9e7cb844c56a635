# SPDX-License-Identifier: MIT
"""How far what a profiler found is from the truth, in standard errors of what its samples can tell."""
import math

FUNCTIONS = 8  # of the program at most


def shares(times, names):
    """Of the functions named, of their sum; None where there is no time at all."""
    total = sum(times.get(name, 0) for name in names)
    return {name: times.get(name, 0) / total for name in names} if total else None


def worst_error(truth, found, samples):
    """The largest error of a share: (error, in standard errors, function). The standard error is that of `samples`
    independent ones, sqrt(p (1 - p) / n); a tick of resolution is no error, so one sample is taken off."""
    names = list(truth)
    true, seen = shares(truth, names), shares(found, names)
    if seen is None or samples == 0:
        return None
    worst = (0.0, 0.0, names[0])
    for name in names:
        p = true[name]
        error = seen[name] - p
        beyond = max(abs(error) - 1 / samples, 0)
        z = beyond / math.sqrt(p * (1 - p) / samples) if 0 < p < 1 else 0
        worst = max(worst, (z, error, name), key=lambda each: (each[0], abs(each[1])))
    return worst[1], worst[0], worst[2]
