"""What the activation must compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def reference(arguments: dict[str, Any]) -> dict[str, npt.NDArray[Any]]:
    """Return GELU(x + bias) by its tanh approximation, in double precision."""
    rows, cols = arguments["rows"], arguments["cols"]
    v = arguments["x"].reshape(rows, cols).astype(np.float64) + arguments["bias"]
    inner = np.sqrt(2.0 / np.pi) * (v + 0.044715 * v**3)
    return {"y": (0.5 * v * (1.0 + np.tanh(inner))).ravel()}
