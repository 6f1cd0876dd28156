"""What layer normalisation must compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def reference(arguments: dict[str, Any]) -> dict[str, npt.NDArray[Any]]:
    """Return the normalised rows, in double precision."""
    rows, hidden = arguments["rows"], arguments["hidden"]
    x = arguments["x"].reshape(rows, hidden).astype(np.float64)
    gamma = arguments["gamma"].astype(np.float64)
    beta = arguments["beta"].astype(np.float64)
    centred = x - x.mean(axis=1, keepdims=True)
    variance = (centred**2).mean(axis=1, keepdims=True)
    y = centred / np.sqrt(variance + arguments["eps"]) * gamma + beta
    return {"y": y.ravel()}
