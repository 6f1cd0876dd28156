"""What the sparse product must compute."""

from __future__ import annotations

from typing import Any

import numpy as np


def reference(arguments: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return A * x, in double precision."""
    offsets = arguments["row_ptr"].astype(np.int64)
    products = arguments["values"].astype(np.float64) * arguments["x"][arguments["col_idx"]]
    before = np.concatenate([[0.0], np.cumsum(products)])
    return {"y": before[offsets[1:]] - before[offsets[:-1]]}
