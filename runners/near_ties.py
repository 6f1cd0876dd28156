"""Sums of as many large whole numbers each, but for one or two: what floats take for equal.

A row is dominant where its diagonal is more than all else in it, one side wins by one vote of
sixteen million. Who makes floats of both sums decides as well, but for sums that are next to each
other and longer than 24 bits. Lines of few numbers times a factor (`runners.scaled_numbers`) make
ties of what is compared along a line; what keys bring together has other places in each. So here
there are few of all else, two mostly, in which as many meet by chance, and all amounts are one
number at an end of their range, but for few that are one less. It is run original and candidate
side by side (`runners.fuzzing`), where a candidate's text names floats and its original's none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import numpy as np

from runners import piles, sizes
from runners.expressions import names
from runners.families import NEAR_TIES, captured_work
from runners.inputs import Arrays, filled, stream
from runners.piles import Range
from runners.spec import JobSpec, Work
from runners.text import LONGEST, Text
from runners.whole_families import WIDEST

# Runs; elements that meet, how many there are of what they meet in, and the least range of amounts.
RUNS, LENGTHS, FEW, LEAST_RANGE = 96, (24, 400), (1.0, 2.0, 2.0, 2.0, 3.0), 1 << 8
# Keys of so many kinds have all their combinations as often, how often; in so many elements.
KINDS, EVENLY, WHOLE = 2, 0.7, 8
# How many amounts are one less, and how often all are at the upper end.
LESS, UPPER = (1, 1, 2, 3, 5), 0.7
MOST_ELEMENTS = 1 << 16
_FLOATS = re.compile(
    r"float[234]?|double[234]?|half2?|__half2?|\w*2(?:float|double|half)(?:_r[nzdu])?|fabsf?"
    r"|\d+\.\d*f?|\d*\.\d+f?",
    re.ASCII,
)

Case = Mapping[str, float]


def asked(job: JobSpec) -> Iterator[tuple[Case, str, int]]:
    """Yield cases, the family and a seed: of candidates that alone work with floats."""
    work = job.work
    if captured_work(work) or not piles.whole_results(work) or not _amounts(work):
        return
    if not floats(job.kernel.source) or floats(job.baseline.source):
        return
    long = {name for one in _amounts(work) for name in names(one[0].shape or "1")}
    along = [name for name in sizes.sizing(work) if name in long]
    if not along:
        return
    base = min(work.cases, key=lambda case: work.elements(case.values)).values
    rng = stream(job.seed, NEAR_TIES)
    for turn in range(RUNS):
        name = along[turn % len(along)]
        few = {one: float(rng.choice(FEW)) for one in sizes.sizing(work)}
        most = min(LENGTHS[1], sizes.TIMES_LONGER * int(sizes.largest(work, name)))
        length = int(rng.integers(min(LENGTHS[0], most), most + 1))
        case = {**base, **few, name: float(length // WHOLE * WHOLE or length)}
        if 0 < work.elements(case) <= MOST_ELEMENTS:
            yield case, NEAR_TIES, job.seed + turn


def floats(source: str) -> bool:
    """Tell whether a text names floats, or numbers that are not whole.

    >>> floats("bool more = fabsf((float)c) > (float)r;"), floats("bool more = abs(c) > r; // 1.f")
    (True, False)
    """
    if len(source) > LONGEST:
        return False
    return any(map(_FLOATS.fullmatch, Text(source, macros=True).tokens))


def _amounts(work: Work) -> list[Range]:
    """Return the arrays of numbers that may be added up to more than a float holds."""
    return [
        one
        for one in piles.amounts(work)
        if one[2] - one[1] >= LEAST_RANGE and one[1] > -WIDEST and one[2] < WIDEST
    ]


def applied(family: str, work: Work, arrays: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays whose amounts are at an end of their range, but for few beside it.

    Keys are as they were drawn, or each combination of them is there as often.
    """
    out = dict(arrays)
    for one in _amounts(work):
        argument = one[0]
        if argument.name not in arrays:
            continue
        rng = stream(seed, family, argument.name)
        low, high = one[1], piles.last(one, case)
        upper = low >= 0 or rng.random() < UPPER
        count = len(arrays[argument.name]) // argument.type.size
        made = np.full(count, high if upper else low)
        places = rng.integers(0, max(1, count), int(rng.choice(LESS)))
        made[places] += -1 if upper else 1
        out[argument.name] = filled(arrays, argument, made)
    if stream(seed, family).random() < EVENLY:
        keys = [
            one for one in piles.read(work) if one[0].name in arrays and piles.is_key(work, one)
        ]
        for number, (argument, low, high) in enumerate(keys):
            count = len(arrays[argument.name]) // argument.type.size
            several = min(KINDS, piles.last((argument, low, high), case) - low + 1)
            # As the digits of a number, each place of it one of the keys.
            numbers = np.arange(count) // KINDS**number % several
            out[argument.name] = filled(arrays, argument, low + numbers)
    return out
