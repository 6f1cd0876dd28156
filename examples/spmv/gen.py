"""Row pointers of a sparse matrix with uneven rows."""

from __future__ import annotations

import numpy as np


def row_ptr(rng: np.random.Generator, rows: int, per_row: int) -> np.ndarray:
    """Return rows + 1 increasing offsets from 0 to rows * per_row."""
    lengths = rng.multinomial(rows * per_row, np.full(rows, 1.0 / rows))
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
