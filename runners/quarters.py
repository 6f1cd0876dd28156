"""Whole numbers that go round: opposite each other, or a quarter of their range apart.

Directions, phases and hours have a circle for their range, and what is made of them cancels where
they are opposite: a root of nothing, a quotient by it, an angle that is none. Drawn by chance they
never are, all of a row. Here the numbers of an array are two, four or eight that are as far apart
as may be, each as often as the others, in turns, in stretches or in any order, and floats beside
them are all the same, so that what is left of a row is nothing, or rounding. It is run original and
candidate side by side (`runners.fuzzing`), and the original is asked what it means by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from runners.cuda_types import from_float, values
from runners.families import free, ranges
from runners.inputs import Arrays, interleave, stream
from runners.spec import Argument, Work
from runners.whole_numbers import row_lengths

WORD = "quarters"
# Parts of a circle, and the least range that has them; floats that are the same, and how often.
PARTS, LEAST_RANGE, ALIKE, STAYS = (2, 2, 4, 8), 8, (1.0, 1.0, 2.0, 3.0), 0.2

Case = Mapping[str, float]
Values = npt.NDArray[Any]


def usable(work: Work) -> bool:
    """Tell whether there are whole numbers that may be parts of a circle."""
    return any(high - low >= LEAST_RANGE - 1 for _, low, high in ranges(work))


def balanced(work: Work, case: Case) -> bool:
    """Tell whether the rows of all such numbers are of an even length: nothing is left of them."""
    shapes = [one.shape or "1" for one, low, high in ranges(work) if high - low >= LEAST_RANGE - 1]
    return all(length % 2 == 0 for shape in shapes for length in row_lengths(shape, case)[:1])


def applied(work: Work, arrays: Arrays, seed: int, turn: int, case: Case) -> Arrays:
    """Return arrays of whole numbers in parts of their ranges, and of floats that are all alike."""
    rng = stream(seed, WORD, turn)
    parts, way, stays = int(rng.choice(PARTS)), int(rng.integers(3)), rng.random() < STAYS
    phase = int(rng.integers(PARTS[-1])) if rng.random() < STAYS else 0
    alike = float(rng.choice(ALIKE))
    out = dict(arrays)
    for argument, low, high in ranges(work):
        if argument.name not in arrays or high - low < LEAST_RANGE - 1:
            continue
        span, count = high - low + 1, len(arrays[argument.name]) // argument.type.size
        row = next(iter(row_lengths(argument.shape or "1", case)), count)
        which = _which(count, max(1, row), parts, way, rng)
        # In eighths, from any of them on.
        eighths = (which * (PARTS[-1] // parts) + phase) % PARTS[-1]
        letters = [low + one * span // PARTS[-1] for one in range(PARTS[-1])]
        made = []
        for field in argument.type.fields:
            kind = values(arrays[argument.name], argument.type, field).dtype
            data = np.asarray(letters, object).astype(kind)[eighths]
            made.append(np.repeat(data, field.lanes))
        out[argument.name] = interleave(made, argument.type, count)
    for argument in work.arguments:
        if argument.name in arrays and not stays and free(argument):
            out[argument.name] = _same(argument, arrays[argument.name], alike)
    return out


def _same(argument: Argument, data: npt.NDArray[np.uint8], alike: float) -> npt.NDArray[np.uint8]:
    """Return floats that are all alike; of shares a half."""
    number = alike / PARTS[-1] if argument.init == "uniform" else alike
    count = len(data) // argument.type.size
    made = [
        from_float(np.full(count * field.lanes, number), field.scalar)
        for field in argument.type.fields
    ]
    return interleave(made, argument.type, count)


def _which(count: int, row: int, parts: int, way: int, rng: np.random.Generator) -> Values:
    """Return which part of a circle each element is: in turns, in stretches, or in any order."""
    at = np.arange(count) % row
    if way == 0:
        return at % parts
    if way == 1:
        return np.minimum(at * parts // row, parts - 1)
    rows = -(-count // row)
    some = rng.permuted(np.tile(np.arange(row) % parts, (min(rows, 64), 1)), axis=1)
    return np.resize(some.reshape(-1), count)
