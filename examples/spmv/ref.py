"""What the sparse product must compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def reference(arguments: dict[str, Any]) -> dict[str, npt.NDArray[Any]]:
    """Return A * x, in double precision."""
    rows = arguments["num_rows"]
    row_of = np.repeat(np.arange(rows), np.diff(arguments["row_ptr"]))
    products = arguments["values"].astype(np.float64) * arguments["x"][arguments["col_idx"]]
    return {"y": np.bincount(row_of, weights=products, minlength=rows)}
