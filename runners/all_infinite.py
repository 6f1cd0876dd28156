"""Arrays of floats that are infinite throughout, where an original only compares, or only adds.

A largest that begins at minus infinity is minus infinity where nothing above it comes, and one that
begins at `-FLT_MAX` is a number there. That shows only where all that is compared is so: a limit
that stands for none beside a row of one element, or rows of nothing else. So one array at a time is
infinite, above zero and below, and then all of them; in a case as declared, and with each size at
one. All others are as declared. It is asked of originals that only compare and choose, and whose
text begins somewhere at an infinity, or names no large number at all, as of who begins at the first
element (`runners.extremes`): what others begin with is no answer. As of other
infinities, a number is wrong where the original has one, and what it makes NaN of anything. Places
among elements that are all alike are not looked at.

Of one element there may be nothing to add: no pair, no neighbour. The sum is zero then, whatever
the element is, and who takes it from itself has NaN where that is infinite. So where an original
makes nothing but sums and differences of arrays, all of them are infinite with each size at one.
Products are left out: right code multiplies by the zeros that it pads with. What is not finite in
the original may be anything there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import sizes
from runners.cuda_types import from_float
from runners.families import ABOVE_ALL, BELOW_ALL, LONE, THROUGHOUT_ARRAYS
from runners.inputs import Arrays, interleave
from runners.spec import BaselineFailure, Work

# Elements of a case, and sizes that are one by turns.
MOST_ELEMENTS, MOST_NAMES = 1 << 20, 3


def asked(work: Work, middle: Mapping[str, float]) -> Iterator[tuple[dict[str, float], str]]:
    """Yield cases, and which arrays are infinite in them."""
    if not work.throughout and not work.summed:
        return
    ones = [{**middle, name: 1.0} for name in sizes.sizing(work)[:MOST_NAMES]]
    count = len(work.throughout)
    alone = [f" {number}" for number in range(min(count, THROUGHOUT_ARRAYS)) if count > 1]
    for case in (dict(middle), *ones):
        if not 0 < sizes.elements(work, case) <= MOST_ELEMENTS:
            continue
        for which in (*alone, "") if count else ():
            yield from ((case, kind + which) for kind in (BELOW_ALL, ABOVE_ALL))
        if work.summed and case in ones:
            yield case, LONE


def applied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays of which one, by its number, or all that may be are infinite throughout."""
    del seed, case
    out = dict(arrays)
    kind, _, number = family.partition(" ")
    names = work.summed if kind == LONE else work.throughout
    names = names[int(number) :][:1] if number else names
    infinity = -np.inf if kind == BELOW_ALL else np.inf
    for argument in work.arguments:
        if argument.name not in names or argument.name not in arrays:
            continue
        count = len(arrays[argument.name]) // argument.type.size
        one = argument.type.fields[0]
        made = from_float(np.full(count * one.lanes, infinity), one.scalar)
        out[argument.name] = interleave([made], argument.type, count)
    return out


def defined(found: npt.NDArray[Any], given: npt.NDArray[Any], name: str) -> None:
    """Raise where an original gives another number than one that goes in, or zero.

    That may be what it begins with, or what comes of a search that has no end.
    """
    other = np.isfinite(found) & (found != 0) & ~np.isin(found, given)
    if other.any():
        raise BaselineFailure(f"{name} is {found[other][0]:.3g} of infinities, which is not chosen")
