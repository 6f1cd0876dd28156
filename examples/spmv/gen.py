"""A sparse matrix with uneven rows, some of them empty."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def row_ptr(seed: int, rows: int, per_row: int) -> npt.NDArray[np.int32]:
    """Return rows + 1 increasing offsets from 0 to rows * per_row."""
    rng = np.random.default_rng(seed)
    lengths = rng.multinomial(rows * per_row, np.full(rows, 1.0 / rows))
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def col_idx(seed: int, rows: int, per_row: int) -> npt.NDArray[np.int32]:
    """Return the column of every stored value; the matrix is square."""
    return np.random.default_rng(seed + 1).integers(0, rows, rows * per_row, dtype=np.int32)
