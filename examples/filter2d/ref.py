"""What the filter must compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def reference(arguments: dict[str, Any]) -> dict[str, npt.NDArray[Any]]:
    """Return the filtered image, borders repeated, in double precision."""
    width, height, radius = (arguments[name] for name in ("width", "height", "radius"))
    size = 2 * radius + 1
    image = arguments["image"].reshape(height, width).astype(np.float64)
    weights = arguments["weights"].reshape(size, size).astype(np.float64)
    padded = np.pad(image, radius, mode="edge")
    result = np.zeros_like(image)
    for dy in range(size):
        for dx in range(size):
            result += weights[dy, dx] * padded[dy : dy + height, dx : dx + width]
    return {"result": result.ravel()}
