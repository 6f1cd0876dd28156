"""What the histogram must compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def reference(arguments: dict[str, Any]) -> dict[str, npt.NDArray[Any]]:
    """Return how often each of the 256 values occurs."""
    return {"counts": np.bincount(arguments["samples"], minlength=256)}
