"""Outputs that were chosen from the inputs, or are as exact as if they had been.

Near the end of a type's range, code as good as the original may overflow where that does not: a
product of roots and a root of a product. Of a value that is only chosen nothing overflows, and
there a largest that begins at minus a milliard is as wrong as one that begins at zero.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def computed(found: Floats, given: Floats) -> npt.NDArray[np.bool_]:
    """Mark the numbers that are not among those given: another order of products may overflow."""
    return np.asarray(np.isfinite(found) & ~np.isin(found, given))


def picked(found: Floats, given: Floats, exact: Floats | None) -> bool:
    """Tell whether all values are among those given, or weights as double precision has them.

    `exact` is rounded as `found` is. Weights are one at most; nothing at all may be infinite.
    Another vast number is none of those: it is what the original itself begins at.
    """
    chosen = np.isin(found, given)
    if exact is not None:
        chosen |= (found == exact) & ((np.abs(found) <= 1) | np.isinf(found))
    return bool(len(found)) and bool(chosen.all())
