"""What the softmax must compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def reference(arguments: dict[str, Any]) -> dict[str, npt.NDArray[Any]]:
    """Return the probabilities of each row, in double precision."""
    rows, cols = arguments["rows"], arguments["cols"]
    logits = arguments["logits"].reshape(rows, cols).astype(np.float64)
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return {"probs": (powers / powers.sum(axis=1, keepdims=True)).ravel()}
