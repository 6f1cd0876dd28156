"""The sorted row numbers of a sparse matrix's entries; some rows have none."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def sorted_ids(seed: int, n: int, rows: int) -> npt.NDArray[np.int32]:
    """Return `n` sorted numbers below `rows`; rows and their neighbours are empty now and then."""
    rng = np.random.default_rng(seed)
    weight = rng.random(rows) * (rng.random(rows) > 0.1)
    weight[-1] = weight[0] = 0.5
    drawn = rng.random(n) * weight.sum()
    found: npt.NDArray[np.int32] = np.searchsorted(np.cumsum(weight), np.sort(drawn)).astype(
        np.int32
    )
    return np.minimum(found, rows - 1)
