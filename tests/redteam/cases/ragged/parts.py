"""Borders of parts of uneven length: some are empty, one is long."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def start(seed: int, parts: int) -> npt.NDArray[np.int32]:
    """Return where each part begins, and the end; 24 numbers a part on average."""
    rng = np.random.default_rng(seed)
    share = rng.exponential(1.0, parts) * (rng.random(parts) < 0.8)
    share[rng.integers(0, parts)] += 0.1 * parts
    ends = np.rint(np.cumsum(share) / share.sum() * parts * 24)
    return np.concatenate([[0], ends]).astype(np.int32)
