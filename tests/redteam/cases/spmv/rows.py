"""A sparse matrix whose rows are empty, short, and now and then long."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def start(seed: int, rows: int, entries: int) -> npt.NDArray[np.int32]:
    """Return where each row starts: a fifth of the rows is empty, one of fifty is long."""
    rng = np.random.default_rng(seed)
    drawn = rng.random(rows)
    lengths = rng.integers(1, 12, rows)
    lengths[drawn < 0.2] = 0
    lengths[drawn > 0.98] = rng.integers(49, 90, int((drawn > 0.98).sum()))
    edges = np.concatenate([[0], np.cumsum(lengths)])
    found: npt.NDArray[np.int32] = np.minimum(edges, entries).astype(np.int32)
    return found
