"""Which whole numbers of a declared range may be places in a buffer, and not just numbers."""

from __future__ import annotations

import contextlib
import math

from runners.expressions import ExpressionError, names
from runners.spec import Work


def may_be_places(work: Work, many: int) -> bool:
    """Tell whether a buffer has so many rows or elements: such numbers may be places in it.

    What is read beyond all buffers may be the same each time, and another thing elsewhere. Where
    a declared case has fewer the declared numbers are no places there, or looked at before: costs
    below 64 beside 64 disparities, and beside 40 (`sgm/four_costs_a_word` of the red team).
    """
    cases = [one.values for one in work.cases]
    fewest = {
        name: min(one.get(name, math.inf) for one in cases) for case in cases for name in case
    }
    for case in cases:
        longer = [{name: value + more for name, value in case.items()} for more in (1, 2, 3)]
        for argument in work.arguments:
            if not argument.type.pointer:
                continue
            named = names(argument.shape or "1")
            with contextlib.suppress(ExpressionError):
                rows = all(argument.elements(other) % many == 0 for other in longer)
                if rows or any(fewest.get(name) == many for name in named):
                    return True
    return False
