"""What the reduction must compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def reference(arguments: dict[str, Any]) -> dict[str, npt.NDArray[Any]]:
    """Return the sum, accumulated in double precision."""
    return {"out": np.array([arguments["in"].sum(dtype=np.float64)])}
