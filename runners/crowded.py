"""Several infinities of one sign among the ordinary numbers of a row, each row another count.

A single infinity is the largest of its row, and who leaves the largest out has no more of it; rows
of nothing else show no number in its place. Of two or three, or of a quarter, half, or all but one
of a row, some are left where the outermost are cut off, beside ordinary numbers: who pads what he
sorts with the largest float has that float before them. The arrays are those whose elements an
original compares with each other (`runners.ranked`), all of one sign by turns of the seed.

As of other infinities, a number is wrong where the original has an infinity, and what it makes NaN
of anything: another order of sums may have none. So may a number of the original's be, since what
is cut off may have been added before. Whole numbers are not looked at, nor what the original makes
larger than any number that went in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from runners import sizes, spoilt
from runners.cuda_types import from_float, to_float, values
from runners.inputs import Arrays, interleave, stream
from runners.spec import Work

# Elements of all buffers; the shortest row that has several infinities and a number.
MOST_ELEMENTS, LEAST_ROW = 1 << 20, 3
# Both signs.
TURNS = 2


def asked(work: Work, middle: Mapping[str, float]) -> Iterator[Mapping[str, float]]:
    """Yield the case in which it is asked, if an original puts elements in order."""
    if work.ranked and 0 < sizes.elements(work, middle) <= MOST_ELEMENTS:
        yield middle


def counts(length: int) -> tuple[int, ...]:
    """Return how many infinities rows of a length have, by turns.

    >>> counts(16), counts(5)
    ((1, 2, 3, 4, 8, 15), (1, 2, 3, 4))
    """
    every = {1, 2, 3, length // 4, length // 2, length - 1}
    return tuple(sorted(one for one in every if 0 < one < length))


def applied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays with infinities in rows of those that are put in order."""
    out = dict(arrays)
    infinity = -np.inf if seed % TURNS else np.inf
    for argument in work.arguments:
        if argument.name not in work.ranked or argument.name not in arrays:
            continue
        kind, one = argument.type, argument.type.fields[0]
        wide = to_float(values(arrays[argument.name], kind, one), one.scalar).copy()
        rows = spoilt.rows(argument, wide, case)
        _crowd(rows, infinity, stream(seed, family, argument.name))
        made = from_float(wide, one.scalar)
        out[argument.name] = interleave([made], kind, len(wide) // one.lanes)
    return out


def _crowd(rows: npt.NDArray[np.float64], infinity: float, rng: np.random.Generator) -> None:
    length = rows.shape[1]
    many = counts(length) if length >= LEAST_ROW else ()
    for number, row in enumerate(rows) if many else ():
        row[rng.permutation(length)[: many[number % len(many)]]] = infinity
