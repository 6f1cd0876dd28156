"""Which points are chosen, of clouds of n points each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def chosen(seed: int, b: int, c: int, n: int, m: int) -> npt.NDArray[np.int32]:
    """Return m numbers of points for each of b clouds."""
    del c
    return np.random.default_rng(seed).integers(0, n, b * m, dtype=np.int32)
