"""Which arrays of floats are given a NaN or an infinity, and where their rows begin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import whole_numbers
from runners.inputs import Arrays
from runners.spec import Argument, Work
from runners.whole_families import LEAST_WIDE

# Elements of a table that whole numbers choose from.
LEAST_CHOSEN = 1024


def least(work: Work, arrays: Arrays) -> int:
    """Return how many elements an array of floats has that is given a NaN or an infinity.

    Short ones are coefficients: right code multiplies them by the zeros it pads a tile with, or
    leaves those products out, and a NaN would tell one from the other. What whole numbers choose
    from is no coefficient.
    """
    counts = [
        len(arrays[a.name]) // a.type.size
        for a in work.arguments
        if a.name in arrays and any(one.scalar.kind == "f" for one in a.type.fields)
    ]
    chosen = any(
        one.scalar.kind in "iu" and one.scalar.size >= LEAST_WIDE
        for a in work.arguments
        if a.name in arrays and a.role == "input"
        for one in a.type.fields
    )
    found = max(counts, default=0) // 8
    return min(found, LEAST_CHOSEN) if chosen else found


def rows(argument: Argument, data: npt.NDArray[Any], case: Mapping[str, float]) -> npt.NDArray[Any]:
    """Return an array's numbers as rows along its innermost size: one row where these do not fit.

    What is written to them is written to the array.
    """
    lengths = whole_numbers.row_lengths(argument.shape or "1", case)
    length = next((n for n in lengths if len(data) % n == 0), max(1, len(data)))
    return np.reshape(data, (-1, length))
