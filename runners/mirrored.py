"""Rows that are the same from both ends but for one place near the middle.

What looks at a row's ends to tell that it is a mirror of itself, as the taps of a filter with
linear phase, and then reads half of it, is right for all rows that chance makes.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from runners.cuda_types import values
from runners.inputs import Arrays, interleave, rotatable, stream
from runners.spec import Argument, Work
from runners.whole_numbers import row_lengths

# Shorter rows have no middle that is far from their ends.
LEAST = 4
Values = npt.NDArray[np.generic]


def applied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays whose rows are mirrors of themselves, and of each row one element is not.

    The elements are declared ones, `family` is `MIRRORED`. Only arrays whose elements may be
    anywhere are changed.
    """
    out = dict(arrays)
    for argument in work.arguments:
        if argument.name in arrays and rotatable(argument):
            out[argument.name] = _array(
                argument, arrays[argument.name], case, stream(seed, family, argument.name)
            )
    return out


def _array(
    argument: Argument,
    data: npt.NDArray[np.uint8],
    case: Mapping[str, float],
    rng: np.random.Generator,
) -> npt.NDArray[np.uint8]:
    kind = argument.type
    count = len(data) // kind.size
    lengths = row_lengths(argument.shape or "1", case) or [count]
    parts = [
        _rows(values(data, kind, one).copy(), lengths[0] * one.lanes, rng) for one in kind.fields
    ]
    return interleave(parts, kind, count)


def _rows(data: Values, length: int, rng: np.random.Generator) -> Values:
    """Mirror whole rows in place; what is left behind them stays as it is."""
    if length < LEAST or len(data) < length:
        return data
    rows = data[: len(data) // length * length].reshape(-1, length)
    half = length // 2
    rows[:, length - half :] = rows[:, :half][:, ::-1]
    # Nearest to the middle: whoever looks at so many from both ends looks there last.
    at = half - 1
    order = rng.permutation(half)
    other = order[np.argmax(rows[:, order] != rows[:, at : at + 1], axis=1)]
    rows[:, at] = rows[np.arange(len(rows)), other]
    return data
