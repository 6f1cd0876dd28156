"""What the product must be."""

import numpy as np


def product(arguments):
    """Return c = a b^T of halves, summed in double precision."""
    m, n, k = arguments["m"], arguments["n"], arguments["k"]
    a, b = arguments["a"].reshape(m, k), arguments["b"].reshape(n, k)
    return {"c": (a.astype(np.float64) @ b.astype(np.float64).T).ravel()}
