"""Contents that are those of a run but for some elements: what keeps results may take them for it.

A result that is kept is found again by an address, a size, a sum or a few elements. Contents that
differ everywhere find out the first two; these find out what looks at some elements only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from runners.cuda_types import Storage
from runners.inputs import Arrays, rotatable
from runners.spec import Argument, Work

# Share of the buffers that may differ which do.
TAKEN = 0.7


def lookalike(
    work: Work, arrays: Arrays, rng: np.random.Generator, *, any_order: bool = False
) -> Arrays:
    """Return contents in which a stretch of elements, or a random half, has others' values.

    Only of buffers whose elements are drawn one by one, where this is an input as valid as before;
    a permutation stays one, and in sorted ones a stretch becomes all equal. Stretches are of all
    lengths, from one element on: a key may be made of a few elements, of the first or the last, or
    of one in so many. With `any_order` whole numbers of other sources that ascend are taken for
    sorted ones, all but their ends.
    """
    out = dict(arrays)
    ways = [(a, _way(a, arrays[a.name], any_order=any_order)) for a in _inputs(work, arrays)]
    able = [(argument, way) for argument, way in ways if way is not None]
    if not able:
        return out
    chosen = [one for one in able if rng.random() < TAKEN] or [able[int(rng.integers(len(able)))]]
    for argument, way in chosen:
        rows = arrays[argument.name].reshape(-1, argument.type.size)
        out[argument.name] = way(rows, rng).reshape(-1)
    return out


Way = Callable[[Storage, np.random.Generator], Storage]


def _inputs(work: Work, arrays: Arrays) -> Iterator[Argument]:
    for argument in work.arguments:
        if argument.name in arrays and len(arrays[argument.name]) > 2 * argument.type.size:
            yield argument


def _way(argument: Argument, data: Storage, *, any_order: bool) -> Way | None:
    """Return what makes others of a buffer's elements; None where nothing does."""
    word = argument.init.partition(":")[0]
    if word == "permutation":
        return _exchanged
    if rotatable(argument):
        return _drawn
    if argument.role != "output" and word == "sorted":
        return _level
    only = argument.type.scalar
    if any_order and argument.role == "input" and only is not None and only.kind in "iu":
        numbers = data.view(only.dtype)
        if bool((numbers[:-1] <= numbers[1:]).all()):
            return _level
    return None


def _stretch(count: int, rng: np.random.Generator) -> tuple[int, int]:
    length = int(np.exp(rng.uniform(0.0, np.log(count))))
    begin = int(rng.integers(0, count - length + 1))
    return begin, begin + length


def _where(count: int, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    if rng.random() < 0.5:
        return np.flatnonzero(rng.random(count) < 0.5)
    return np.arange(*_stretch(count, rng))


def _drawn(rows: Storage, rng: np.random.Generator) -> Storage:
    """Give some elements values from somewhere else."""
    made, where = rows.copy(), _where(len(rows), rng)
    made[where] = rows[(where + int(rng.integers(1, len(rows)))) % len(rows)]
    return made


def _exchanged(rows: Storage, rng: np.random.Generator) -> Storage:
    """Turn some elements round."""
    made, where = rows.copy(), _where(len(rows), rng)
    made[where] = rows[where[::-1]]
    return made


def _level(rows: Storage, rng: np.random.Generator) -> Storage:
    """Give a stretch the value that it begins with."""
    made = rows.copy()
    begin, end = _stretch(len(rows) - 2, rng)
    made[begin + 1 : end + 1] = rows[begin + 1]
    return made
