"""Whole numbers that few are by chance: one that most of a row are, ties, a loop's worst case.

A counter that runs over shows where something else is counted nearly as often, a shortcut that
decides by a lead where there is a tie, and a loop that is cut short at numbers made for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isqrt, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from runners.expressions import ExpressionError, count

# Of so many places of a row all but one are the same.
OF = 8
# Values of a row: what most are, and others; or two of half a row each, and one in their middle.
VALUES = 4
# What other values are looked for among, and pairs of a range at least so wide.
MOST_LOOKED_AT, LEAST_RANGE = 1 << 16, (1 << 16) - 1
# How many pairs of a kind are taken.
FIBONACCIS, POWERS, SQUARES = 4, 2, 2

Values = npt.NDArray[Any]


def row_lengths(shape: str, case: Mapping[str, float]) -> list[int]:
    """Return the lengths of rows and planes of a shape that is a product; itself where it is none.

    The last factor changes fastest, as it does in C.

    >>> row_lengths("b*c*(h+2)", {"b": 9.0, "c": 5.0, "h": 8.0})
    [10, 50]
    >>> row_lengths("n+4", {"n": 9.0})
    [13]
    """
    *others, last = factors(shape)
    try:
        found = [count(last, case)]
        for factor in reversed(others[1:]):
            found.append(found[-1] * count(factor, case))
    except ExpressionError:
        return []
    return list(dict.fromkeys(length for length in found if length > 1))


def shortest_row(shape: str, case: Mapping[str, float], elements: int) -> int:
    """Return how long the rows of an array of so many elements are; all of it where it has none.

    >>> shortest_row("n*d", {"n": 9.0, "d": 4.0}, 36), shortest_row("n*d", {"n": 9.0, "d": 1.0}, 9)
    (4, 9)
    """
    return min(min(row_lengths(shape, case), default=elements), elements)


def unit(shape: str) -> int:
    """Return the product of the numbers among a shape's factors: what is passed at a time.

    >>> unit("n*96"), unit("2*blocks*3"), unit("(w+31)/32"), unit("300")
    (96, 6, 1, 300)
    """
    return prod(int(one) for one in map(str.strip, factors(shape)) if one.isdecimal())


def factors(shape: str) -> list[str]:
    """Return what a product multiplies; all of it where it is no product."""
    factors, depth = [""], 0
    for letter in shape:
        depth += (letter == "(") - (letter == ")")
        if not depth and letter in "+-/%":
            return [shape]
        if not depth and letter == "*":
            factors.append("")
        else:
            factors[-1] += letter
    return factors if all(factor.strip() for factor in factors) else [shape]


def places(length: int) -> int:
    """Return how many places of a row hold the value that most of it are."""
    return (OF - 1) * length // OF


def tallied(
    data: Values,
    lengths: Sequence[int],
    rng: np.random.Generator,
    *,
    mostly: bool,
    most: int | None,
) -> Values:
    """Return whole numbers in rows whose counts are decided by little, of the values they have.

    Each row is one value in its first half and another in its second one, equally often: the larger
    first, and in the next row the smaller. `mostly`: every other row is one value but for an eighth
    of it, which is a few others. An array whose rows may be of several lengths has a part of each.
    `most`: no more places than so many hold the same value, since they may be indices.
    """
    pool = rng.permutation(np.unique(data[:MOST_LOOKED_AT]))
    if len(pool) < 2:
        return data
    out = data.copy()
    tried = lengths or [len(data)]
    for number, wanted in enumerate(tried):
        length = wanted if most is None else min(wanted, most * OF // (OF - 1))
        first = -(-(number * len(data) // len(tried)) // length) * length
        many = ((number + 1) * len(data) // len(tried) - first) // length
        if most is not None:
            many = min(many, max(1, most * max(1, len(pool) // VALUES) // length))
        if many < 1 or length < 2:
            continue
        rows = out[first : first + many * length].reshape(many, length)
        turns = np.arange(many)[:, None] * VALUES + np.arange(VALUES)
        values = pool[turns % len(pool)]
        values[:, :2].sort(axis=1)
        each = 2 if mostly else 1
        for at, order in ((each - 1, [1, 0, 2]), (2 * each - 1, [0, 1, 2])):
            rows[at :: 2 * each] = values[at :: 2 * each][:, order][:, _halves(length)]
        if mostly:
            rows[::2] = values[::2][:, _mostly(length, rng)]
    return out


def _halves(length: int) -> Values:
    """Return which value is where: in an odd row a third one is between the halves."""
    which = np.ones(length, np.int64)
    which[: length // 2] = 0
    which[length // 2 : (length + 1) // 2] = 2
    return which


def _mostly(length: int, rng: np.random.Generator) -> Values:
    """Return which value is where: the first nearly everywhere, half of the others the second."""
    which = np.zeros(length, np.int64)
    others = rng.permutation(length)[places(length) :]
    which[others] = np.resize([1, 1, 1, 2, 2, 3], len(others))
    return which


def pairs(low: int, high: int) -> list[tuple[int, int]]:
    """Return pairs within a range at which arithmetic on whole numbers has its worst cases.

    Neighbours of the Fibonacci sequence, of which Euclid's algorithm has the most steps (Knuth, The
    Art of Computer Programming, 4.5.3); a power of two and one less, where numbers get a bit
    longer; a square and one less, where rounded roots are one too large. None of a narrow range.
    """
    if high - low < LEAST_RANGE or high < 1:
        return []
    found = [*_fibonacci(high)][-FIBONACCIS:]
    last = high.bit_length() - 1
    found += [(1 << bit, (1 << bit) - 1) for bit in range(last, last - POWERS, -1)]
    found += [(root**2, root**2 - 1) for root in range(isqrt(high), isqrt(high) - SQUARES, -1)]
    return [pair for pair in found if low <= pair[1] and pair[0] <= high]


def _fibonacci(high: int) -> Iterator[tuple[int, int]]:
    less, more = 1, 2
    while more <= high:
        yield more, less
        less, more = more, less + more
