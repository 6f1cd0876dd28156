"""What the product must be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def product(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return c = a b^T of halves, summed in double precision."""
    m, n, k = arguments["m"], arguments["n"], arguments["k"]
    a, b = arguments["a"].reshape(m, k), arguments["b"].reshape(n, k)
    return {"c": (a.astype(np.float64) @ b.astype(np.float64).T).ravel()}
