"""What the matrix product must compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def reference(arguments: dict[str, Any]) -> dict[str, npt.NDArray[Any]]:
    """Return A * B, in double precision."""
    m, n, k = (arguments[name] for name in "mnk")
    a = arguments["A"].reshape(m, k).astype(np.float64)
    b = arguments["B"].reshape(k, n).astype(np.float64)
    return {"C": (a @ b).ravel()}
