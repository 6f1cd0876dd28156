"""Contents that are those of a run but for some elements: what keeps results may take them for it.

A result that is kept is found again by an address, a size, a sum or a few elements. Contents that
differ everywhere find out the first two; these find out what looks at some elements only.
"""

from __future__ import annotations

import numpy as np

from runners.cuda_types import Storage
from runners.inputs import Arrays, rotatable
from runners.spec import Work

# Share of the buffers that may differ which do.
TAKEN = 0.7


def lookalike(work: Work, arrays: Arrays, rng: np.random.Generator) -> Arrays:
    """Return contents in which a stretch of elements, or a random half, has others' values.

    Only of buffers whose elements are drawn one by one, where this is an input as valid as before;
    a permutation stays one. Stretches are of all lengths, from one element on: a key may be made of
    a few elements, of the first or the last, or of one in so many.
    """
    able = [a for a in work.arguments if a.name in arrays and rotatable(a)]
    able = [a for a in able if len(arrays[a.name]) > a.type.size]
    out = dict(arrays)
    if not able:
        return out
    chosen = [a for a in able if rng.random() < TAKEN] or [able[int(rng.integers(len(able)))]]
    for argument in chosen:
        rows = arrays[argument.name].reshape(-1, argument.type.size)
        permuted = argument.init.partition(":")[0] == "permutation"
        out[argument.name] = _moved(rows, rng, permuted=permuted)
    return out


def _moved(rows: Storage, rng: np.random.Generator, *, permuted: bool) -> Storage:
    count = len(rows)
    made = rows.copy()
    if rng.random() < 0.5:
        where = np.flatnonzero(rng.random(count) < 0.5)
    else:
        length = int(np.exp(rng.uniform(0.0, np.log(count))))
        begin = int(rng.integers(0, count - length + 1))
        where = np.arange(begin, begin + length)
    # A permutation's own elements change places; others get values from somewhere else.
    others = where[::-1] if permuted else (where + int(rng.integers(1, count))) % count
    made[where] = rows[others]
    return made.reshape(-1)
