"""Different numbers with the same sum, the same sum of squares, of cubes, and so on.

Who tells whether two rows hold the same numbers in another order by their sums, and by sums of
squares to be sure, takes some for the same that are not: 0, 3, 5, 6 and 1, 2, 4, 7. The numbers
below a power of two with an even number of bits set, and those with an odd number, have as many
powers alike as the power has bits, less one. So here two arrays of one shape, or neighbouring rows
of one, hold these beside others that both have, in one order or each in its own; in some rows they
hold the same. It is run original and candidate side by side (`runners.small_runs`).

E. Prouhet, Mémoire sur quelques relations entre les puissances des nombres (1851).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from runners import lone_powers, piles
from runners.inputs import Arrays, filled, stream
from runners.piles import Range
from runners.spec import Work
from runners.whole_numbers import shortest_row

WORD = "equal sums"
# Bits of the numbers that are taken apart; how often both have an order of their own, and how many
# rows hold the same numbers.
BITS, SHUFFLED, SAME = (2, 3, 3, 4, 5, 6), 0.6, 0.3

Case = Mapping[str, float]
Places = npt.NDArray[np.int64]


def _pairs(work: Work) -> list[tuple[Range, Range]]:
    """Return the arrays of whole numbers that may hold the same: two of one shape, or one twice."""
    each = lone_powers.arrays(work)
    two = [
        (one, other)
        for one, other in itertools.combinations(each, 2)
        if one[0].shape == other[0].shape
    ]
    return [*two, *((one, one) for one in each)]


def _row(one: Range, case: Case) -> int:
    """Return how long the rows of an array are; all of it where it has none."""
    return shortest_row(one[0].shape or "1", case, one[0].elements(case))


def _bits(pair: tuple[Range, Range], case: Case) -> list[int]:
    """Return how many bits there is room for, in a row and in both ranges."""
    one, other = pair
    row = _row(one, case)
    if one is other and 2 * row > one[0].elements(case):
        return []
    span = min(piles.last(a, case) for a in pair) - max(a[1] for a in pair)
    return [bits for bits in BITS if 1 << bits - 1 <= row and (1 << bits) - 1 <= span]


def usable(work: Work, case: Case) -> bool:
    """Tell whether there are rows that may hold such numbers at a case."""
    return any(_bits(pair, case) for pair in _pairs(work))


def parts(bits: int) -> tuple[Places, Places]:
    """Return the numbers of so many bits with an even number of them set, and the others.

    >>> [one.tolist() for one in parts(3)]
    [[0, 3, 5, 6], [1, 2, 4, 7]]
    """
    every = np.arange(1 << bits)
    odd = np.asarray([one.bit_count() % 2 for one in every.tolist()], np.bool_)
    return every[~odd], every[odd]


def applied(work: Work, arrays: Arrays, seed: int, turn: int, case: Case) -> Arrays:
    """Return arrays of which two, or the rows of one, have equal sums; all else as it is."""
    rng, out = stream(seed, WORD, turn), dict(arrays)
    pairs = [
        pair
        for pair in _pairs(work)
        if _bits(pair, case) and all(a[0].name in arrays for a in pair)
    ]
    if not pairs:
        return out
    pair = pairs[int(rng.integers(len(pairs)))]
    one, other = pair
    some = _bits(pair, case)
    bits, row = some[int(rng.integers(len(some)))], _row(one, case)
    count = len(arrays[one[0].name]) // one[0].type.size
    ends = max(a[1] for a in pair), min(piles.last(a, case) for a in pair)
    several = -(-count // row)
    left, right = _made(several if one is not other else -(-several // 2), row, ends, bits, rng)
    if one is other:
        rows = np.stack([left, right], axis=1).reshape(-1)[:count]
        out[one[0].name] = filled(arrays, one[0], rows)
    else:
        for argument, made in ((one[0], left), (other[0], right)):
            out[argument.name] = filled(arrays, argument, made.reshape(-1)[:count])
    return out


def _made(
    several: int, row: int, ends: tuple[int, int], bits: int, rng: np.random.Generator
) -> tuple[Places, Places]:
    """Return rows of two kinds that have equal sums."""
    low, high = ends
    even, odd = parts(bits)
    step = int(rng.integers(1, (high - low) // ((1 << bits) - 1), endpoint=True))
    first = low + int(rng.integers(high - low - step * ((1 << bits) - 1), endpoint=True))
    both = rng.integers(low, high, (several, row - len(even)), endpoint=True)
    left, right = (
        np.concatenate([np.tile(first + step * some, (several, 1)), both], axis=1)
        for some in (even, odd)
    )
    same = rng.random(several) < SAME
    right[same] = left[same]
    if rng.random() < SHUFFLED:
        left, right = rng.permuted(left, axis=1), rng.permuted(right, axis=1)
    return left, right
