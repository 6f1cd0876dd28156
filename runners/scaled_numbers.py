"""Few small whole numbers times one large odd factor: what is equal of small ones, far from zero.

Whether 4d² is at most 25v is told exactly by whole numbers of 64 bits. In floats both sides are
rounded, and where they are equal they come out apart. Of numbers that are drawn from a wide range
no two sides are equal or nearly so; of small ones some are, but a float holds those exactly. What
is homogeneous keeps its ties when all numbers are multiplied by one factor, and then they have more
digits than a float has; a double, where sums of products have more than 53.

So each line has two to four small numbers, up to 3, 7 or 15, in places that chance chooses. How
many places are left for the next of them is drawn by equal factors, one or two as often as a
quarter to a half: what is far from the mean is seldom. They are multiplied by an odd factor that is
from half as large as the range allows to all of that: one for the first half of the lines, which
may be compared with each other, another one for each line of the others. Arrays that are declared
alike have the same factors. Where results are whole numbers, every other line is counted from the
upper end of its range downwards, by ones in the first half and by factors of all sizes behind it:
sums that are near each other, and large.

A line is what one variable spans of an array, whichever factor of its shape that is; where there
are few lines, they are cut. Who is asked, in which cases, is in `runners.float_decisions`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import whole_numbers
from runners.cuda_types import Field, values
from runners.expressions import ExpressionError, count
from runners.families import SCALED, ranges
from runners.inputs import Arrays, interleave, stream
from runners.piles import Range
from runners.spec import Argument, Work
from runners.whole_families import WIDEST, alike

# Numbers of a range at least: below, a product of two has no more digits than a half.
LEAST_RANGE = 1 << 8
# The largest of the small numbers of a line, and how many of them it has at most.
LARGEST, MOST_KINDS = (3, 7, 15), 4
# Fewer lines are cut into so many, of so many places at least.
FEW_LINES, LEAST_LINE = 64, 8

Case = Mapping[str, float]
Values = npt.NDArray[Any]
Places = npt.NDArray[np.int64]


def family(name: str) -> str:
    """Return the family of such numbers along a variable."""
    return f"{SCALED} {name}"


def wide(work: Work) -> list[Range]:
    """Return the arrays whose range is wide enough, with its first and last number."""
    every = [
        (argument, max(low, -WIDEST), min(high, WIDEST)) for argument, low, high in ranges(work)
    ]
    return [one for one in every if one[2] - one[1] >= LEAST_RANGE - 1]


def few(low: int, high: int, rng: np.random.Generator) -> Places:
    """Return two to five small numbers of a range times one large odd factor, zero often first.

    Where a range begins above zero they are counted from its first number.
    """
    low, high = max(low, -WIDEST), min(high, WIDEST)
    first = min(high, max(low, 0))
    largest = min(int(rng.choice(LARGEST)), max(1, high - first))
    most = max(1, (high - first) // largest)
    factor = max(1, int(rng.integers(-(-most // 2), most, endpoint=True)))
    small = rng.integers(0, largest, int(rng.integers(2, 5, endpoint=True)), endpoint=True)
    small[0] *= int(rng.integers(2))
    return np.asarray(np.minimum(high, first + small * (factor - 1 + factor % 2)), np.int64)


def axis(shape: str, name: str, case: Case) -> tuple[int, int]:
    """Return how far apart the places of a line are that a variable spans, and how many there are.

    Where it spans none, those of the last factor, which changes fastest.

    >>> axis("k*p", "k", {"k": 5.0, "p": 9.0}), axis("k*(p+1)", "p", {"k": 5.0, "p": 9.0})
    ((9, 5), (1, 10))
    """
    factors = whole_numbers.factors(shape)
    among = [n for n, one in enumerate(factors) if re.search(rf"\b{re.escape(name)}\b", one)]
    at = among[0] if among else len(factors) - 1
    try:
        lengths = [count(one, case) for one in factors[at:]]
    except ExpressionError:
        return 1, 1
    return max(1, prod(lengths[1:])), max(1, lengths[0])


def applied(family: str, work: Work, arrays: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays of few small numbers times a factor, as far as their elements may be alike."""
    name = family.partition(" ")[2]
    whole = not any(
        f.scalar.kind == "f" for a in work.arguments if a.written for f in a.type.fields
    )
    out = dict(arrays)
    for one in wide(work):
        argument = one[0]
        if argument.name not in arrays:
            continue
        line, place = _lines(argument, name, case, len(arrays[argument.name]))
        terms = _Terms(one, line, place, stream(seed, SCALED, argument.name), seed, whole)
        parts = [
            _made(terms, field, values(arrays[argument.name], argument.type, field))
            for field in argument.type.fields
        ]
        out[argument.name] = interleave(parts, argument.type, len(line))
    return out


@dataclass(frozen=True, slots=True)
class _Terms:
    """An array's range and lines, its own random numbers, and whether all results are whole."""

    bounds: Range
    line: Places
    place: Places
    rng: np.random.Generator
    seed: int
    whole: bool


def _lines(argument: Argument, name: str, case: Case, size: int) -> tuple[Places, Places]:
    """Return for each element in which line it is, and at which place of it."""
    elements = size // argument.type.size
    step, long = axis(argument.shape or "1", name, case)
    at = np.arange(elements, dtype=np.int64)
    line, place = at // (step * long) * step + at % step, at // step % long
    few = max(1, -(-elements // long))
    part = max(LEAST_LINE, long * few // FEW_LINES) if few < FEW_LINES else long
    return line * -(-long // part) + place // part, place % part


def _made(terms: _Terms, field: Field, data: Values) -> Values:
    """Return the numbers of one field; of what may be indices as many lines as may be alike."""
    _, low, high = terms.bounds
    if not len(data):
        return data
    line = np.repeat(terms.line, field.lanes)
    many = int(line.max()) + 1
    signed = low < 0 and -low >= high // 2
    first = max(low, 0) if not signed else 0
    room = min(high, -low) if signed else high - first
    rng = terms.rng
    largest = rng.choice(LARGEST, many)
    small = rng.integers(0, largest[:, None], (many, MOST_KINDS), endpoint=True)
    # None at all is what most places hold where there are events and nothing else.
    small[:, 0] *= rng.integers(0, 2, many)
    if signed:
        small *= rng.choice((-1, 1), (many, MOST_KINDS))
    own = small[line, _kinds(line, many, rng)]
    most = np.maximum(1, room // largest)
    factor, tiny = _factors(terms, many)
    by = most - (factor * (most // 2)).astype(np.int64)
    made = first + own * _odd(by)[line]
    if terms.whole:
        low_factors = np.minimum(most, (most**tiny).astype(np.int64))
        beside = high - np.abs(own) * _odd(low_factors)[line]
        made = np.where(line % 2 == 1, beside, made)
    # Whole lines: what is drawn in some places of one has no ties.
    those = line < many * alike(field, low, high, len(data)) // len(data)
    return np.asarray(np.where(those, made.astype(data.dtype), data))


def _odd(numbers: Places) -> Places:
    """Return the next lower odd numbers, one at least."""
    return np.asarray(np.maximum(1, numbers - 1 + numbers % 2))


def _factors(terms: _Terms, many: int) -> tuple[Values, Values]:
    """Return what factors of both sorts are made of: the same in arrays declared alike."""
    rng = stream(terms.seed, SCALED, *terms.bounds[1:], many)
    found = rng.random((2, many))
    found[0, : many // 2] = found[0, :1]
    found[1, : many // 2] = 0.0
    return found[0], found[1]


def _kinds(line: Places, many: int, rng: np.random.Generator) -> Places:
    """Return which of its numbers each place of a line has, few places as often as many."""
    order = np.lexsort((rng.random(len(line)), line))
    long = np.bincount(line, minlength=many)
    rank = np.empty(len(line), np.int64)
    rank[order] = np.arange(len(line)) - (np.cumsum(long) - long)[line[order]]
    kinds = rng.integers(2, MOST_KINDS, many, endpoint=True)
    left, found = long, np.zeros(len(line), np.int64)
    for kind in range(1, MOST_KINDS):
        drawn = np.exp(rng.random(many) * np.log(left + 1)).astype(np.int64)
        left = np.where(kind < kinds, np.minimum(left, drawn), 0)
        found += rank < left[line]
    return found
