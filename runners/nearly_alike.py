"""Two arrays that are nearly the same everywhere: what is left of them is small.

Who multiplies out the square of a difference, or takes sums of products in place of sums of
differences, is right as long as both sides are unlike: where counts are what was expected, points
lie on their centre and predictions are good, all digits cancel. Chance draws two arrays by
themselves. So here one of two has the numbers of the other, or a multiple of them, but for a small
part of each, the same part or another one at each place; the shorter one is there for every row of
the longer one, and whole numbers are beside floats that are nearly whole. It is run original and
candidate side by side (`runners.small_runs`).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import lone_powers, piles
from runners.cuda_types import from_float, to_float, values
from runners.families import free
from runners.inputs import Arrays, filled, interleave, stream
from runners.spec import Argument, Work
from runners.whole_numbers import factors

WORD = "nearly alike"
# By which part of a number, as powers of ten, another one is larger or smaller; of halves.
APART, APART_HALF = (-7.5, -1.0), (-2.5, -1.0)
# How often one is no more than a multiple of the other, by how much it may be, and how often a
# multiple is just that.
MULTIPLE, TIMES, EXACT, HALF = 0.35, (-1.0, -1.0, 2.0, -2.0, 0.5, 3.0, -6.0), 0.2, 0.5
# How often all are one number, all differ by the same part, and only the ones or only the others.
FLAT, EVEN, ONE_WAY = 0.4, 0.3, 0.3
# Up to which part of its range whole numbers go.
PARTS = (1.0, 1.0, 0.1, 0.01)

Case = Mapping[str, float]
Values = npt.NDArray[Any]
Ends = tuple[int, int]
Pair = tuple[Argument, Argument]


def _pairs(work: Work, case: Case) -> list[Pair]:
    """Return pairs of arrays, one of floats at least; the first is there for rows of the second."""
    whole = lone_powers.ends(work, case)
    each = [
        one
        for one in work.arguments
        if one.type.pointer and (free(one) or one.name in whole) and len(one.type.fields) == 1
    ]
    found = []
    for one, other in itertools.permutations(each, 2):
        if one.name in whole and other.name in whole:
            continue
        short, long = (factors(a.shape or "1") for a in (one, other))
        same = len(short) == len(long) and each.index(one) > each.index(other)
        if long[len(long) - len(short) :] == short and not same:
            found.append((one, other))
    return found


def usable(work: Work, case: Case) -> bool:
    """Tell whether there are two such arrays."""
    return bool(_pairs(work, case))


def applied(work: Work, arrays: Arrays, seed: int, turn: int, case: Case) -> Arrays:
    """Return arrays of which two are nearly alike; all else as it is."""
    rng = stream(seed, WORD, turn)
    pairs, whole = _pairs(work, case), lone_powers.ends(work, case)
    pairs = [one for one in pairs if all(a.name in arrays for a in one)]
    if not pairs:
        return arrays
    short, long = pairs[int(rng.integers(len(pairs)))]
    counts = [len(arrays[a.name]) // a.type.size * a.type.fields[0].lanes for a in (short, long)]
    if not all(counts) or counts[1] % counts[0]:
        return arrays
    # What both have: whole numbers where one of them is of whole numbers.
    limit = next((whole[a.name] for a in (short, long) if a.name in whole), None)
    common = _common(arrays, short, counts[0], limit, rng)
    shares = any(a.init == "uniform" for a in (short, long))
    halves = any(a.type.fields[0].scalar.name in {"half", "bfloat16"} for a in (short, long))
    out = dict(arrays)
    exact = short if short.name in whole else long if long.name in whole else None
    if exact is None:
        exact = (short, long)[int(rng.integers(2))]
    times = 1.0
    if limit is None and rng.random() < MULTIPLE:
        times = HALF if shares else float(rng.choice(TIMES))
    apart = times == 1.0 or rng.random() >= EXACT
    for argument, count in zip((short, long), counts, strict=True):
        made = np.resize(common, count)
        if argument is not exact:
            off = _off(count, halves, rng)
            made = made * times * (1 + (off if apart else 0.0))
        if shares and argument.name not in whole:
            made = np.clip(np.abs(made), 0.0, 1.0 - 2**-10)
        field = argument.type.fields[0]
        if argument.name in whole:
            # A float may be one more than the last number of a wide range.
            numbers = np.clip(made[:: field.lanes].astype(np.int64), *whole[argument.name])
            out[argument.name] = filled(arrays, argument, numbers)
        else:
            parts = [from_float(made, field.scalar)]
            out[argument.name] = interleave(parts, argument.type, count // field.lanes)
    return out


def _common(
    arrays: Arrays, argument: Argument, count: int, limit: Ends | None, rng: np.random.Generator
) -> Values:
    """Return the numbers that both arrays have."""
    if limit is not None:
        low, high = limit
        near = piles.within(0, low, high)
        part = float(rng.choice(PARTS))
        least, most = (near + int((end - near) * part) for end in (low, high))
        if rng.random() < FLAT:
            return np.full(count, float(rng.integers(least, most, endpoint=True)))
        return rng.integers(least, most, count, endpoint=True).astype(float)
    field = argument.type.fields[0]
    data = to_float(values(arrays[argument.name], argument.type, field), field.scalar)
    if rng.random() < FLAT:
        return np.full(count, float(data[int(rng.integers(len(data)))]))
    return np.asarray(data)


def _off(count: int, halves: bool, rng: np.random.Generator) -> Values:
    """Return by which part of it each number is another one."""
    size = 10.0 ** rng.uniform(*(APART_HALF if halves else APART))
    if rng.random() < EVEN:
        return np.full(count, size * float(rng.choice((1.0, -1.0))))
    off: Values = size * rng.normal(size=count)
    return np.abs(off) if rng.random() < ONE_WAY else off
