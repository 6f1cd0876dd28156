"""Floats that are a power of two, and those beside it, as the largest of what is near them.

`ceilf(log2f(x))` is the exponent of x but for what is just above a power of two, where a logarithm
rounds to a whole number; so are tests of bits, tables and additions of large numbers but for what
they were not made for. What goes in there is seldom an input: the largest of a group is divided by
127 first. So numbers that a text names are among them: 127 times a power of two, and the floats
beside that, the next ones and some a few further.

All others are smaller, and those of a stretch are of one power, far from the next stretch's: the
quotient of two that are not lies halfway between two whole numbers now and then, and which of these
it becomes depends on how a division is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from runners.cuda_types import Scalar, from_float, to_float, values
from runners.inputs import Arrays, interleave, stream
from runners.spec import Work
from runners.whole_numbers import row_lengths

# Powers of two, and those of halves: of two stretches side by side one is as large, the other as
# small. None is less than half of that, since a logarithm near zero has all of its digits.
WIDEST, WIDEST_OF_HALVES = 20, 6
# How far beside it in steps of its type: mostly just above.
BESIDE = (-1, 0, 1, 1, 1, 2)
# Elements that are alike, where a shape has no rows of at least so many; one of so many is such.
STRETCH, LEAST_ROW, ONE_OF = 256, 32, 64
# All others are smaller than it by this.
OTHERS = 0.8

Values = npt.NDArray[Any]


def applied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays whose floats of any size are below one that is such, in each stretch.

    What was declared as a share or a scale (`uniform`) stays what it is.
    """
    out = dict(arrays)
    for argument in work.arguments:
        if argument.name not in arrays or argument.init != "normal":
            continue
        kind = argument.type
        if not any(one.scalar.kind == "f" for one in kind.fields):
            continue
        rng = stream(seed, family, argument.name)
        rows = [
            length
            for length in row_lengths(argument.shape or "1", case)
            if LEAST_ROW <= length < argument.elements(case)
        ]
        long = rows[0] if rows else STRETCH
        parts = []
        for one in kind.fields:
            data = values(arrays[argument.name], kind, one)
            if one.scalar.kind == "f":
                wide = to_float(data, one.scalar).astype(np.float64)
                factors = _factors(work.odd, -(-len(data) // (long * one.lanes)), seed)
                made = _made(wide, long * one.lanes, one.scalar, rng.permutation(factors), rng)
                data = from_float(made, one.scalar)
            parts.append(data)
        out[argument.name] = interleave(parts, kind, len(arrays[argument.name]) // kind.size)
    return out


def _factors(odd: tuple[int, ...], rows: int, seed: int) -> Values:
    """Return what is multiplied in each stretch, from one up to two: in every other one nothing.

    The numbers of the text have their turns from where those of the seed before end.
    """
    found = np.ones(rows)
    if odd:
        every = np.frexp(np.array(odd, np.float64))[0] * 2
        found[::2] = every[(np.arange(len(found[::2])) + seed * len(found[::2])) % len(every)]
    return found


def _made(
    data: Values, length: int, scalar: Scalar, factors: Values, rng: np.random.Generator
) -> Values:
    """Return numbers below the power of their stretch, and of each few one that is beside it."""
    count = len(data)
    if not count:
        return data
    widest = WIDEST_OF_HALVES if scalar.name == "half" else WIDEST
    powers = rng.integers(widest // 2, widest + 1, len(factors))
    powers[int(rng.integers(2)) :: 2] *= -1
    row = np.arange(count) // length
    most = float(np.abs(data).max()) or 1.0
    out = np.ldexp(data * (OTHERS / most), powers[row])
    at = np.arange(0, count, ONE_OF)
    at = np.minimum(at + rng.integers(0, ONE_OF, len(at)), count - 1)
    steps = rng.choice(BESIDE, len(at))
    one = factors[row[at]]
    # Below a power of two floats are twice as close.
    closer = np.where((one == 1) & (steps < 0), 0.5, 1.0)
    one = one + steps * closer * 2 * scalar.roundoff
    signs = rng.integers(0, 2, len(at)) * 2 - 1
    out[at] = signs * np.ldexp(one, powers[row[at]])
    return out
