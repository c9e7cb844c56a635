# SPDX-License-Identifier: MIT
"""What ratios of runs say: their median, with an interval that assumes nothing about how runs scatter. It is no test of
anything by itself: a claim is an interval that lies on one side of 1."""
import math
import statistics

LEVEL = 0.95


def median_rank(count, level=LEVEL):
    """The k for which the median lies between the k-th smallest and the k-th largest of `count` values with at least that
    probability, by the binomial distribution; 0 where so few values cannot tell (below six for 95 %)."""
    rank, tail = 0, 0.0
    while True:
        tail += math.comb(count, rank) / 2**count
        if 2 * tail > 1 - level or rank >= count // 2:
            return rank
        rank += 1


def median_interval(values, level=LEVEL):
    """Median, low end and high end; the ends are None where there are too few values."""
    values = sorted(values)
    rank = median_rank(len(values), level)
    if not rank:
        return statistics.median(values), None, None
    return statistics.median(values), values[rank - 1], values[-rank]


def paired_ratios(rows, numerator, denominator, key):
    """Ratios of two configurations over the rounds that have both. Rows are those of one program: a round's name under
    "round", who ran under "tool" and "rate"."""
    sides = {numerator: {}, denominator: {}}
    for row in rows:
        side = sides.get((row["tool"], row["rate"]))
        if side is not None and row.get(key):
            side[row["round"]] = row[key]
    above, below = sides[numerator], sides[denominator]
    return [above[name] / below[name] for name in above if name in below]


def verdict(values):
    """-1: the median is below 1, 1: it is above, 0: these values do not tell."""
    _, low, high = median_interval(values) if values else (1, None, None)
    if low is None:
        return 0
    return -1 if high < 1 else 1 if low > 1 else 0


def apart(values, others):
    """The same of two medians that were not measured against each other: their intervals must not meet."""
    if not values or not others:
        return 0
    (_, low, high), (_, other_low, other_high) = median_interval(values), median_interval(others)
    if low is None or other_low is None:
        return 0
    return -1 if high < other_low else 1 if low > other_high else 0


def words(values, digits=3):
    """As a cell of a table."""
    if not values:
        return "-"
    median, low, high = median_interval(values)
    runs = "1 run" if len(values) == 1 else f"{len(values)} runs"
    shown = [f"{value:.{digits}f}" for value in (median, low, high) if value is not None]
    return f"{shown[0]} ({runs})" if low is None else f"{shown[0]} [{shown[1]}, {shown[2]}]"
