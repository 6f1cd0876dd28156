"""Whole numbers that a narrower float does not tell apart, and a single one far from all others.

A float of 32 bits holds every whole number up to 2²⁴ and none that is odd behind that, one of 64
bits up to 2⁵³, a half up to 2048. Of numbers that are drawn from a wide range no two are so near to
each other that it shows. So all of an array are one of few that follow on behind such a power of
two: the least two are one float, and so are the largest two, whichever way is rounded.

What is worked out of places passes such a power where places are far apart: a square of a distance
from 4,096 places on. Of contents that are drawn something is near everywhere. So one element alone
is at one end of its range, the first or the last, and all others are at the other end.

Both are asked where a candidate makes floats of whole numbers (`runners.made_floats`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from runners.cuda_types import values
from runners.families import ranges
from runners.inputs import Arrays, interleave, stream
from runners.spec import Argument, Work
from runners.whole_families import HOT, alike

# How families begin: close numbers behind which power of two, of which array where of one alone;
# and which one of an array is alone, at which end of its range.
CLOSE, LONE = "close", "lone"
LONES = tuple(f"{LONE} {place} {end}" for place in ("first", "last") for end in ("low", "high"))
# So many numbers follow on, and four more where so many of them would be equal. Of six, and of four
# more, the last is odd and rounded downwards to the one before it, to even or towards zero.
FEW, MORE = 6, 4

Values = npt.NDArray[Any]


def close(bits: int, name: str = "") -> str:
    """Return the family of whole numbers that a float of so many digits does not tell apart."""
    return f"{CLOSE} {bits} {name}".strip()


def reaching(work: Work, bits: int) -> list[tuple[Argument, int]]:
    """Return the arrays whose ranges go so far, each with the first of its close numbers."""
    found = []
    for argument, low, last in ranges(work):
        wide = all(8 * field.scalar.size > bits for field in argument.type.fields)
        # A range may begin behind the power of two.
        first = max(low, 1 << bits)
        first += first % 2
        if wide and first + FEW <= last:
            found.append((argument, first))
    return found


def applied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays of close numbers, or with one element that is alone."""
    del case
    kind, *words = family.split(" ")
    if kind == LONE:
        return _alone(work, arrays, *words)
    bits, only = int(words[0]), words[1:]
    out = dict(arrays)
    for argument, first in reaching(work, bits):
        if only in ([], [argument.name]):
            rng = stream(seed, CLOSE, argument.name)
            last = next(last for one, _, last in ranges(work) if one is argument)
            data = arrays[argument.name]
            parts = [
                _close(values(data, argument.type, field), first, last, rng)
                for field in argument.type.fields
            ]
            count = len(data) // argument.type.size
            out[argument.name] = interleave(parts, argument.type, count)
    return out


def _close(data: Values, first: int, last: int, rng: np.random.Generator) -> Values:
    """Return as many numbers that follow on; they may be keys, of which few are equal."""
    many = MORE * -(-len(data) // (MORE * HOT)) + FEW - MORE
    many = min(many, last - first + 1)
    return np.asarray((first + rng.integers(0, many, len(data))).astype(data.dtype))


def _alone(work: Work, arrays: Arrays, place: str, end: str) -> Arrays:
    """Return arrays with one element at an end of the range and all others at the other end.

    Of what may be indices no more than `HOT` are the same (`runners.whole_families`).
    """
    out = dict(arrays)
    for argument, low, last in ranges(work):
        own, others = (low, last) if end == "low" else (last, low)
        data, parts = arrays[argument.name], []
        for field in argument.type.fields:
            part = values(data, argument.type, field).copy()
            part[: alike(field, low, last, len(part))] = others
            if len(part):
                part[0 if place == "first" else -1] = own
            parts.append(part)
        out[argument.name] = interleave(parts, argument.type, len(data) // argument.type.size)
    return out
