# SPDX-License-Identifier: MIT
"""How far what a profiler found is from the truth, in standard errors of what its samples can tell."""
import math

FUNCTIONS = 8  # of the program at most


def shares(times, names):
    """Of the functions named, of their sum; None where there is no time at all."""
    total = sum(times.get(name, 0) for name in names)
    return {name: times.get(name, 0) / total for name in names} if total else None


def worst_error(truth, found, samples):
    """The largest error of a share: (error, in standard errors, samples). The standard error is that of so many
    independent ones, sqrt(p (1 - p) / n)."""
    names = list(truth)
    true, seen = shares(truth, names), shares(found, names)
    if seen is None or samples == 0:
        return None
    worst = (0.0, 0.0)
    for name in names:
        p = true[name]
        error = seen[name] - p
        z = abs(error) / math.sqrt(p * (1 - p) / samples) if 0 < p < 1 else 0
        worst = max(worst, (z, error))
    return worst[1], worst[0], samples
